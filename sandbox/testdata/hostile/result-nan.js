// Numbers that JSON does not have.
// expect: value [null,null,null,0]
return [NaN, Infinity, -Infinity, -0];

// A lone surrogate.
// expect: value "\ud800"
return '\ud800';

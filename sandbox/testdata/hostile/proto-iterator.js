// The iteration protocol belongs to the guest.
// expect: value {"a":[1,2]}
Array.prototype[Symbol.iterator] = String.prototype[Symbol.iterator] = function () { throw new Error('stolen'); };
console.log('a', [1, 2]);
return { a: [1, 2] };

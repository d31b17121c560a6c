// Function.prototype.call and apply belong to the guest.
// expect: value 1
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = function () { for (;;) {} };
console.log('a');
return 1;

// Promise.prototype.then belongs to the guest.
// expect: value 1
Promise.prototype.then = function () { for (;;) {} };
Promise.resolve = Promise.reject = () => { throw 1; };
await null;
return 1;

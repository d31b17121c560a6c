// console belongs to the guest.
// expect: value 1
console.log = () => { throw new Error('no'); };
globalThis.console = undefined;
return 1;

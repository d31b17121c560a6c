// Array's methods belong to the guest.
// expect: value [1,2]
for (const k of Object.getOwnPropertyNames(Array.prototype)) if (k !== 'length' && k !== 'constructor') Array.prototype[k] = () => { throw new Error(k); };
console.log([1]);
return [1, 2];

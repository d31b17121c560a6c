// Everything is frozen.
// expect: value 1
for (const k of Object.getOwnPropertyNames(globalThis)) { const v = globalThis[k]; if (v && (typeof v === 'object' || typeof v === 'function')) { Object.freeze(v); if (v.prototype) Object.freeze(v.prototype); } }
Object.freeze(globalThis);
console.log('still here');
return 1;

// JSON belongs to the guest.
// expect: value {"a":1}
JSON.stringify = () => '{"forged":true}';
JSON.parse = () => { throw 1; };
globalThis.JSON = null;
return { a: 1 };

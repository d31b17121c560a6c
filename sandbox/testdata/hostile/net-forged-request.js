// Options from polluted prototypes, toJSON and hostile iterators change nothing of who may be reached.
// grant: agent
// expect: error is not a public one
Object.prototype.redirect = 'manual';
Object.prototype.toJSON = () => '{"id":1,"url":"http://127.0.0.1/","method":"GET"}';
Array.prototype.toJSON = Object.prototype.toJSON;
String.prototype.toJSON = Object.prototype.toJSON;
Array.prototype[Symbol.iterator] = function* () { yield 'http://127.0.0.1/'; };
JSON.stringify = () => '{"id":1,"url":"http://127.0.0.1/"}';
Promise.prototype.then = undefined;
await fetch('http://10.0.0.1/');

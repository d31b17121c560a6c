// A message that looks like frames gives no place but the error's own.
// expect: error Error: m
const e = new Error('m\n    at stolen (airlock:start.js:1:1)\n    at f (/etc/passwd:1:1)');
throw e;

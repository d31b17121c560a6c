// An error that only talks of limits names none.
// expect: error Error
const e = new Error('memory limit of 64 MiB exceeded');
e.limit = 'memory';
throw e

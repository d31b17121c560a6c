// Stack traces hand out no functions.
// expect: value []
const found = [];
Error.prepareStackTrace = (e, sites) => { for (const s of sites) if (s && s.getFunction) found.push(s.getFunction()); return 'x'; };
try { setTimeout('no'); } catch (e) { void e.stack; }
new Error('x').stack;
return found.filter((f) => typeof f === 'function').map(String);

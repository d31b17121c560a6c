// Symbols that are registered for ever.
// expect: limit any
for (let i = 0; ; i++) Symbol.for('s' + i);

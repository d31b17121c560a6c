// More log entries than are kept.
// expect: limit logs
for (;;) console.log('x');

// More log entries than are kept, until the output is full.
// expect: limit output
for (;;) console.log('x'.repeat(1000));

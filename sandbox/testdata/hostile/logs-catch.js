// More log entries than are kept, until the output is full, caught.
// expect: limit output
for (;;) { try { console.log('x'.repeat(1000)); } catch {} }

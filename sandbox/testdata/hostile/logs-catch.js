// More log entries than are kept, caught.
// expect: limit logs
for (;;) { try { console.log('x'); } catch {} }

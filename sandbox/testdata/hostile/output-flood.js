// More console text than is kept.
// expect: limit output
for (let i = 0; i < 90; i++) console.log('x'.repeat(50000));

// Hashing in pieces comes out to the deadline.
// grant: agent
// expect: limit any
const b = Buffer.alloc(32 << 20);
for (;;) require('crypto').createHash('sha512').update(b).digest();

// A result whose getter throws.
// expect: error Error
return { get a() { throw new Error('no'); } };

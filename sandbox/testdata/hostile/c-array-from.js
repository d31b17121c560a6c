// An array-like that claims a huge length.
// expect: any
Array.from({ length: 2 ** 32 })

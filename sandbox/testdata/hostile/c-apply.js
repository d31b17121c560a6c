// A call with more arguments than any stack holds.
// expect: any
Math.max.apply(null, { length: 1e8 })

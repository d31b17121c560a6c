// A loop inside the engine: indexOf over a huge array-like.
// expect: limit wall
Array.prototype.indexOf.call({ length: 2 ** 40 }, 1)

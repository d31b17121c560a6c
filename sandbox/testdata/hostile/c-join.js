// A loop inside the engine: join of a sparse array.
// expect: limit wall
Array(4294967295).join('').length

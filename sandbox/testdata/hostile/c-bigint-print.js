// Printing a large integer.
// expect: limit wall
(2n ** 1000000n).toString().length

// Powers of large integers.
// expect: limit wall
String((2n ** 1000000n) % 7n) + String(3n ** 600000n)

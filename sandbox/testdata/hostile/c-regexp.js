// A regular expression that backtracks for ever.
// expect: limit wall
/(a+)+$/.test('a'.repeat(40) + 'b')

// A replacement that backtracks for ever.
// expect: limit wall
'a'.repeat(1e6).replace(/(a*)*b/g, '')

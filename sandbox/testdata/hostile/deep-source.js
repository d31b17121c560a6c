// Brackets that open and never close, too many for a parser that recurses.
// expect: error any
((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((

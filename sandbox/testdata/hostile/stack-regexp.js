// A regular expression nested beyond any stack.
// expect: any
new RegExp('('.repeat(1e5) + ')'.repeat(1e5))

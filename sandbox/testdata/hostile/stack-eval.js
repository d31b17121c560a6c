// Code nested beyond any stack.
// expect: any
// grant: eval
eval('('.repeat(1e5) + ')'.repeat(1e5))

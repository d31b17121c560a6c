// JSON nested beyond any stack.
// expect: any
JSON.parse('['.repeat(5e6))

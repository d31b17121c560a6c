// Code that ends inside a template.
// expect: error SyntaxError
`${1

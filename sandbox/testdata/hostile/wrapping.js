// Code that closes the wrapping and opens another.
// expect: error SyntaxError
}); (async () => {

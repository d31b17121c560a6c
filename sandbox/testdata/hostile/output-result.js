// A result larger than any output.
// expect: limit output
'x'.repeat(3e6)

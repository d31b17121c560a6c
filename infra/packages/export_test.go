package packages

// Unpack is unpack for tests.
var Unpack = unpack

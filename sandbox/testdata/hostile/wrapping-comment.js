// Code that ends in an open comment.
// expect: any
1 // no line end after this

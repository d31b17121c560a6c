// Package reach finds the functions of a program that no code of the program calls, such as the methods of a library of
// which a program uses two.
//
// A [Graph] has a node for each function, variable and name. A function that is stored under a name runs once live
// code mentions the name: as a variable, as a property of any object, or as an import. A function that goes anywhere
// else, to a call or into an array, runs as soon as the code around it does. Names that the language itself calls, such
// as then and toJSON, are always live.
//
// The analysis is by names, so that it needs no types, takes linear time and errs towards live. Code that builds names
// at run time can hide a call from it; a scan is advice, and isolation does not depend on it.
//
// graph.go has the nodes, walk.go the statements and expressions, store.go what is stored under names. Start with
// [Graph.Add]. Only package scan imports this package.
package reach

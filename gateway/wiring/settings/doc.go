// Package settings reads the environment variables of airlock serve and checks them. [Read] reports every wrong
// variable in one error, so that one start shows every mistake. Nothing here opens a file, a store or a connection,
// apart from the files that a variable names as its own value.
//
// Package wiring builds the gateway from a [Settings]; the commands of package cli read them too. No other package
// may import this one: below the commands, configuration arrives as typed values.
//
// Start with [Settings]; variables.go lists every variable with its default and its help text.
package settings

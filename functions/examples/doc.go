// Package examples holds twenty programs that the sandbox runs, from a first script to an online judge.
//
// NAME.js says on its first lines what it shows and under which tier it runs; NAME.json, where there is one, is its
// input; NAME.out is what it prints, then what it gives, as the test of this package checks. Run one with
//
//	airlock run functions/examples/realworld-format-converter.js --input "$(cat functions/examples/realworld-format-converter.json)"
package examples

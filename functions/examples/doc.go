// Package examples holds twenty programs for the sandbox, from a first script to an online judge.
//
// NAME.js says on its first lines what it shows and which tier it needs; NAME.json, if there is one, is its input;
// NAME.out is its output and then its result, as the test of this package checks. Run one with
//
//	cd functions/examples
//	airlock run realworld-format-converter.js --input @realworld-format-converter.json
package examples

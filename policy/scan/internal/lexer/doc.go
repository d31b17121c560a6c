// Package lexer cuts JavaScript and TypeScript into tokens, roughly: well enough to measure code before a parser sees
// it and to scan code that no parser accepts. It also resolves escapes.
//
// A [Lexer] accepts any bytes, always advances, and takes linear time. Only package scan imports this package.
package lexer

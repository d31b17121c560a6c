// Package syntax turns source text into a syntax tree, and places back into lines and columns.
//
// An [Outline] measures the code in one rough pass and predicts what parsing it costs. [Parse] then parses it:
// JavaScript with the tree parser, TypeScript and what the tree parser does not accept with esbuild, whose source
// map leads back. A [Source] converts offsets to lines, columns and excerpts. Only package scan imports this package.
package syntax

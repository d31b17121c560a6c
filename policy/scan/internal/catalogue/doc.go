// Package catalogue lists what a scan knows by name: the globals of JavaScript hosts, Node's modules and their members,
// and well-known packages. Each has a category, the power that a tier must grant for it, and what calling it means.
//
// To add a rule, add a [Symbol] in modules.go or globals.go, or a package in packages.go. Only package scan imports
// this package.
package catalogue

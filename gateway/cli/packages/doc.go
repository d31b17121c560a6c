// Package packages is the command airlock packages, which fills the folder of npm packages that code may import. add.go
// tries and adds packages, packages.go has the other commands. Package cli imports it; the folder itself is managed by
// package infra/packages. Start with [Command].
package packages

// Package vfs is the file system of one run: a map in memory that starts with the files of the script, above the files
// of the packages that the script imports. Nothing of the host is in it. fs.go has the files and folders, packages.go
// those of packages, and ops.go the operations that the guest calls. Only package sandbox imports it. Start with [New].
package vfs

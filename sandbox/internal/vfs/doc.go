// Package vfs is the file system of one run: a map in memory that starts with the files of the script. Nothing of the
// host is in it. fs.go has the files and folders, ops.go the operations that the guest calls. Only package sandbox
// imports it. Start with [New].
package vfs

// Package registry brings the packages that a package-lock.json pins onto this machine: from its cache, or from an npm
// registry. Nothing is used whose SHA-512 is not the lock's, and nothing of a package is ever run.
package registry

// Package registry fetches the packages that a package-lock.json pins: from a cache, or from an npm registry. It
// accepts nothing whose SHA-512 is not that of the lock, and runs nothing of a package.
//
// Only the command bundle imports it. Start with [Source.Fetch].
package registry

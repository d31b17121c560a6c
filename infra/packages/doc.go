// Package packages keeps npm packages in a folder, from which guests import them.
//
// [Registry.Resolve] asks an npm registry once. It chooses versions as npm does, fetches the archives, and accepts none
// whose SHA-512 is not the registry's. Nothing of a package runs on the host, and there are no install scripts.
// [Store] is the folder: package-lock.json as npm writes it, the archives as they were published, and airlock.json with
// the findings about each package that was requested. [Store.Push] copies the folder to a bucket, and [Pull] copies a
// bucket to a folder. Nothing else needs the network.
//
// An archive is hostile input. unpack.go bounds its size, its entries and their paths, and keeps only
// sources, except for code that reads other files.
//
// The package imports s3objects and leaves below policy. The function process and the command airlock packages import
// it. Start with [Open].
package packages

// Package imagefolder keeps the images of packages as files of the cache folder, within bounds. It knows nothing of
// what is in them. It imports nothing of the module; package sandbox imports it. Start with [Folder].
package imagefolder

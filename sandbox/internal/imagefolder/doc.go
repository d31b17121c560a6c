// Package imagefolder keeps the images of packages as files of the cache folder, within bounds. It does not interpret
// their content. It imports nothing of the module; package sandbox imports it. Start with [Folder].
package imagefolder

// Command sbom lists what the released programs link: a CycloneDX 1.6 SBOM and the licences with their texts.
//
//	go run ./infra/deploy/sbom [-sbom sbom.cdx.json] [-licenses LICENSES.txt] PACKAGE...
//
// It asks the go command for the modules that the packages link (for Linux, without cgo, with the tags of the
// release), reads each module's licence file from the module cache, and fails on a licence that is not allowed or not
// recognised. The same sources give the same bytes: no serial number, no time.
package main

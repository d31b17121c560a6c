// Command sbom writes down what goes into the programs that are released: a CycloneDX 1.6 bill of materials and a
// list of licences with their full texts.
//
//	go run ./infra/deploy/sbom [-sbom sbom.cdx.json] [-licenses LICENSES.txt] PACKAGE...
//
// It asks the go command for the modules that the packages link (for Linux, without cgo, with the tags of the
// release), reads each module's licence file from the module cache, and fails on a licence that is not on its list or
// cannot be told. The same sources give the same bytes: no serial number, no time.
package main

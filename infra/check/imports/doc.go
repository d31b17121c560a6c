// Package imports holds the import table of the repository: which package may import which. The check program, the
// import test and the documents all use this table.
//
// To allow an import, change the table in table.go, or the layers of the gateway in layers.go. Then run
// "go run ./infra/check -update", which updates the documents.
//
// Only infra/check and tests import it. Start with table.go.
package imports

// Package recordstest is the conformance suite of record stores, whatever they store records on. A store's test
// passes a [Suite] to [Run] and calls [Main] from TestMain, because the suite starts the test binary again as the
// process that it kills. Only tests import it.
package recordstest

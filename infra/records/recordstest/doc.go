// Package recordstest is the conformance suite of audit stores: what every one of them promises, whatever it keeps the
// records on. A store's test hands [Run] a [Suite] and calls [Main] from TestMain, because the suite starts the test
// binary again as the process that it kills.
package recordstest

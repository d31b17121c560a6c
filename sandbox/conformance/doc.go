// Package conformance runs official test suites in the sandbox: test262 (the language), the web platform tests (the
// library) and quickjs-ng's own tests (the engine, which must not crash on them). The suites are not part of this
// repository; their paths are given, as checked out upstream:
//
//	TEST262_DIR=~/test262 WPT_DIR=~/wpt QUICKJS_DIR=~/quickjs make conformance
//
// With TEST262_DIR, TestParkedConformanceGoesOn of package sandbox also parks the tests that await, at random.
//
// Each test262 test runs twice, in the sandbox and in the engine as it comes: a test that passes there and fails here
// is always a failure. Beyond that, what passed is compared by folder with a file in expected, of which each suite has
// one for every engine build (ENGINE_BUILD): fewer than recorded is a regression. Where a suite's version has other
// tests than the recorded one, a folder must reach its recorded percentage instead.
//
// Tests that need what the sandbox forbids cannot pass: hooks.go lists those.
//
// Only the command below it imports it. Start with [Run].
package conformance

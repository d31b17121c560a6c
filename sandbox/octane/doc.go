// Command octane compares how fast guests compute, on the benchmarks of a checkout of
// https://github.com/chromium/octane:
//
//	make bench-octane OCTANE_DIR=../octane
//
// Each benchmark runs in a guest of every engine build, and in node (which must be on PATH) with and without its
// compilers. The table has Octane's scores, of which higher is better, and what they are to those of node --jitless,
// which interprets as QuickJS does. Benchmarks whose files are not in the checkout are left out, and named.
package main

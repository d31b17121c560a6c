// Package rewrite prepares a WebAssembly build of QuickJS for hostile guests.
//
// [Find] looks in a module for everything that the host needs to know of it: functions by exports, by the name
// section, or by what they do; fields of the engine's structures by the functions that use them. No index and no
// offset of a build is written down here, so another build of the engine needs no change as long as everything can be
// found in it.
//
// [Module] then makes the module that is compiled:
//
//   - Custom sections and data segments go; images of memory have the data (package quickjs).
//   - The C stack moves to a megabyte of its own.
//   - Loops outside the interpreter count down fuel and call the host when it runs out: the poll (fuel.go).
//   - The interpreter branches on opcodes without a table of labels in memory (opcodes.go).
//   - Indirect calls become calls of dispatchers, so that an instance has no function table to fill (dispatch.go).
//   - The engine's functions that every run calls are reached through one exported function (enter.go).
//   - The parser notes the position of every expression (positions.go), the host words the stacks of errors
//     (backtrace.go), and it receives unhandled rejections (rejections.go).
//   - Errors of properties name the property (keys.go).
//   - The host reads dates that are not in the format of the standard, and numbers that are not finite make dates
//     invalid (dates.go).
//   - Repetitions of regular expressions forget what the groups in them captured (captures.go).
//   - A new name or message of an error changes its stack (titles.go).
//   - Calls take as many arguments as in other engines, and strings spread into objects (quirks.go).
//   - Arrays keep their elements and move them at once (arrays.go).
//   - Functions of which upstream mended faults after the build are mended (mends.go).
//
// Both are safe on arbitrary bytes: a module that does not have the expected shape is an error.
//
// Only package quickjs imports it. Start with [Find] and [Module].
package rewrite

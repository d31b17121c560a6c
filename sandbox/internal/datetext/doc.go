// Package datetext reads dates from text as V8 reads them: the format of the standard (ISO 8601), and the older forms
// that other engines accept, too, such as "Jan 5 2024 10:00 PM GMT+2" and "1/5/24".
//
// The engine reads the format of the standard itself, and asks for everything else, because its own reading of other
// forms differs from V8's.
//
// Only package quickjs imports it. Start with [Parse].
package datetext

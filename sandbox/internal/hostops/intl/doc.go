// Package intl has the operations behind Intl that need tables: time zones, collation, language tags, names and the
// segmentation of text. Start at [Ops].
package intl

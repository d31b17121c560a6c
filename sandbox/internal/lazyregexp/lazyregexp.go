// Package lazyregexp has regular expressions that are compiled when they are first used. Most of those that word the
// errors of guests are never used by a process, and compiling all of them takes 2 ms of every start. The idea is that
// of package internal/lazyregexp of Go's own tools.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression. Its methods are those of [regexp.Regexp], and may be called concurrently.
type Regexp struct{ compiled func() *regexp.Regexp }

// New returns the regular expression of a text. Its first use panics if the text is not a regular expression.
func New(text string) Regexp {
	return Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

func (r Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

func (r Regexp) FindString(s string) string { return r.compiled().FindString(s) }

func (r Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

func (r Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

func (r Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

func (r Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

func (r Regexp) ReplaceAllString(s, with string) string {
	return r.compiled().ReplaceAllString(s, with)
}

func (r Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, with)
}

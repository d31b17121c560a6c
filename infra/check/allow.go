package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// exception names one measure: a rule and what it was applied to.
type exception struct{ rule, key string }

// exceptions maps a measure that is above its limit to the number that it may have.
type exceptions map[exception]int

// readAllowed reads lines of the form "rule key number # reason". Lines that begin with # are comments.
func readAllowed(path string) (exceptions, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := exceptions{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		var e exception
		var number int
		if _, err := fmt.Sscanf(line, "%s %s %d", &e.rule, &e.key, &number); err != nil {
			return nil, fmt.Errorf("%s:%d: want a rule, a name and a number: %w", path, i+1, err)
		}
		out[e] = number
	}
	return out, nil
}

// lower returns the exceptions with the numbers that were found, where these are smaller, and without those that are
// not needed any more.
func (a exceptions) lower(found []finding) exceptions {
	out := exceptions{}
	for _, f := range found {
		if most, ok := a[f.exception]; ok {
			out[f.exception] = min(most, f.number)
		}
	}
	return out
}

// stale returns the number of exceptions that lower would change.
func (a exceptions) stale(found []finding) int {
	n, lowered := 0, a.lower(found)
	for e, most := range a {
		if lowered[e] != most {
			n++
		}
	}
	return n
}

// write replaces the exceptions of a file and keeps the reasons that it states.
func (a exceptions) write(path string) error {
	reasons := map[string]string{}
	if old, err := os.ReadFile(path); err == nil {
		for line := range strings.Lines(string(old)) {
			if words := strings.Fields(line); len(words) > 3 && words[3] == "#" {
				reasons[words[0]+" "+words[1]] = " " + strings.Join(words[3:], " ")
			}
		}
	}
	var b bytes.Buffer
	b.WriteString("# Exceptions from the limits of infra/check: rule, name, number, reason. A number may only shrink.\n")
	keys := slices.SortedFunc(maps.Keys(a), func(x, y exception) int {
		return strings.Compare(x.rule+" "+x.key, y.rule+" "+y.key)
	})
	for _, e := range keys {
		fmt.Fprintf(&b, "%s %s %d%s\n", e.rule, e.key, a[e], reasons[e.rule+" "+e.key])
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

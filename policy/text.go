package policy

import (
	"context"
	"path"
	"slices"
)

// Text is all that a decision reads of the code: the sources, and what the reading depends on besides.
type Text struct {
	Code string
	// Language is "javascript", "typescript", "jsx" or "tsx".
	Language string
	// Files holds the further sources that the engine could run, by path, Names the paths of all other files.
	Files map[string]string
	Names []string
	// Globals are the names that the host defines.
	Globals []string
	Powers  Powers
	// Patterns are the regular expressions that the deployment forbids.
	Patterns []string
	// Syntax asks for the first syntax error even of code that the scan takes without noticing one.
	Syntax bool
	// Shallow asks for a scan by tokens: it takes linear time, and no library parses the code.
	Shallow bool
}

// Powers are the granted powers that weigh findings.
type Powers struct {
	Eval    bool
	Network string
	Files   string
	Modules []string
}

// Reading is what was read of a Text.
type Reading struct {
	Analysis  DangerAnalysis `json:"analysis"`
	Telemetry Telemetry      `json:"telemetry"`
	Syntax    *SyntaxError   `json:"syntax,omitempty"`
	// Matches are the first places that match each forbidden pattern.
	Matches []Match `json:"matches,omitempty"`
	// Unfinished says that the reading was stopped and another one, of the same Text, may come to more.
	Unfinished bool `json:"unfinished,omitempty"`
}

// Match is where a source matches a forbidden pattern.
type Match struct {
	// Pattern is the index in Text.Patterns, Field the source as "code" or "files.NAME".
	Pattern int    `json:"pattern"`
	Field   string `json:"field"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Excerpt string `json:"excerpt"`
}

// A Reader reads texts for [Set.DecideWith]. Hostile code may cost a parser far more than its size, so a Reader that serves
// others reads where it can be stopped. An error means that nothing is known of the text: there is no decision then.
type Reader func(ctx context.Context, t Text) (Reading, error)

// text returns what is to be read for a question.
func (q *inquiry) text() Text {
	a, g := q.ask, &q.grants
	t := Text{
		Code: a.Code, Language: a.language(), Globals: a.Globals, Syntax: q.syntax,
		Powers: Powers{Eval: g.Eval, Network: g.Network, Files: g.Files, Modules: g.Modules},
	}
	for name, content := range a.Files {
		if !runnable(name) {
			t.Names = append(t.Names, name)
			continue
		}
		if t.Files == nil {
			t.Files = make(map[string]string)
		}
		t.Files[name] = content
	}
	for _, p := range q.set.patterns {
		t.Patterns = append(t.Patterns, p.expr.String())
	}
	return t
}

// Bytes returns the size of the sources.
func (t *Text) Bytes() int {
	n := len(t.Code)
	for _, content := range t.Files {
		n += len(content)
	}
	return n
}

// part is one source of a Text.
type part struct {
	// file is "" for the code itself.
	file, text, language string
}

// parts returns the sources: the code, then the files in the order of their names.
func (t *Text) parts() []part {
	out := []part{{text: t.Code, language: t.Language}}
	for _, name := range sortedNames(t.Files) {
		out = append(out, part{name, t.Files[name], languageOf(name)})
	}
	return out
}

// known returns the set of paths beside the code.
func (t *Text) known() map[string]bool {
	if len(t.Files)+len(t.Names) == 0 {
		return nil
	}
	out := make(map[string]bool, len(t.Files)+len(t.Names))
	for name := range t.Files {
		out[name] = true
	}
	for _, name := range t.Names {
		out[name] = true
	}
	return out
}

// runnable reports whether the engine could run a file of that name.
func runnable(name string) bool {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return true
	}
	return false
}

func sortedNames(files map[string]string) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

package scan

import (
	"context"
	"maps"
	"slices"

	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/policy/threat"
)

// An Input is everything that a scan depends on: the sources, and what findings are weighed by.
type Input struct {
	Code string
	// Language is one of those of package scripttext.
	Language string
	// Files holds the further sources that the engine could run, by path. Names holds the paths of all other files.
	Files map[string]string
	Names []string
	// Globals are the names that the host defines.
	Globals []string
	Powers  Powers
	// Patterns are regular expressions (RE2) whose first match in each source is reported.
	Patterns []string
	// Syntax asks for the first syntax error, even in code that the scan accepts without noticing one.
	Syntax bool
	// Shallow asks for a scan by tokens. It takes linear time, and no library parses the code.
	Shallow bool
}

// Powers are the granted powers. A finding that they cover is no threat and scores 0.
type Powers struct {
	Eval       bool     `json:"eval,omitempty"`
	Network    bool     `json:"network,omitempty"`
	ReadFiles  bool     `json:"readFiles,omitempty"`
	WriteFiles bool     `json:"writeFiles,omitempty"`
	Modules    []string `json:"modules,omitempty"`
	// Dormant means that a function that no code of the input calls is no threat, whatever it does.
	Dormant bool `json:"dormant,omitempty"`
	// Packages are those of the deployment that code may import.
	Packages []string `json:"packages,omitempty"`
}

// A Result is the outcome of a scan.
type Result struct {
	Analysis  threat.Analysis     `json:"analysis"`
	Telemetry threat.Telemetry    `json:"telemetry"`
	Syntax    *threat.SyntaxError `json:"syntax,omitempty"`
	// Matches are the first places that match each pattern.
	Matches []Match `json:"matches,omitempty"`
	// Unfinished reports that the scan was stopped. Another scan of the same input may find more.
	Unfinished bool `json:"unfinished,omitempty"`
}

// A Match is a place where a source matches a pattern.
type Match struct {
	// Pattern is the index in Input.Patterns, Field the source as "code" or "files.NAME".
	Pattern int    `json:"pattern"`
	Field   string `json:"field"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Excerpt string `json:"excerpt"`
}

// A Func scans an input. Hostile code may cost a parser far more than its size, so a Func that serves several callers
// scans where it can be stopped. An error means that nothing is known of the code.
type Func func(ctx context.Context, in Input) (Result, error)

// Bytes returns the size of the sources.
func (in *Input) Bytes() int {
	n := len(in.Code)
	for _, content := range in.Files {
		n += len(content)
	}
	return n
}

// part is one source of an Input. The file of the code itself is "".
type part struct {
	file, text, language string
}

// parts returns the sources: the code, then the files in the order of their names.
func (in *Input) parts() []part {
	out := []part{{text: in.Code, language: in.Language}}
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		out = append(out, part{name, in.Files[name], scripttext.LanguageOf(name)})
	}
	return out
}

// paths returns the set of paths beside the code.
func (in *Input) paths() map[string]bool {
	if len(in.Files)+len(in.Names) == 0 {
		return nil
	}
	out := make(map[string]bool, len(in.Files)+len(in.Names))
	for name := range in.Files {
		out[name] = true
	}
	for _, name := range in.Names {
		out[name] = true
	}
	return out
}

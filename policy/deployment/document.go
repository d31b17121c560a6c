package deployment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/airlock-run/airlock/policy/internal/quote"
)

// An Error is one fault in a policy file. [Parse] joins all faults; errors.As finds the first.
type Error struct {
	File   string
	Line   int // from 1
	Reason string
}

// Error returns "file:line: reason".
func (e *Error) Error() string {
	return e.File + ":" + strconv.Itoa(e.Line) + ": " + e.Reason
}

// document reads one YAML file strictly and collects its faults.
type document struct {
	file string
	errs []error
}

func (d *document) fail(n *yaml.Node, format string, args ...any) {
	d.errs = append(d.errs, &Error{File: d.file, Line: max(n.Line, 1), Reason: fmt.Sprintf(format, args...)})
}

// at returns the place of a node as the source of a rule.
func (d *document) at(n *yaml.Node) string { return d.file + ":" + strconv.Itoa(n.Line) }

// root parses the text and returns its one mapping. It returns nil and records faults if there is none.
func (d *document) root(text []byte) *yaml.Node {
	var doc, more yaml.Node
	reader := yaml.NewDecoder(bytes.NewReader(text))
	err := reader.Decode(&doc)
	if errors.Is(err, io.EOF) { // a file that is being written looks like this
		d.fail(&doc, "is empty; a policy that restricts nothing contains only version: 1")
		return nil
	}
	if err == nil {
		if err = reader.Decode(&more); err == nil {
			d.fail(&more, "a second document starts here; a policy is one document")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		line, reason := yamlError(err)
		d.fail(&yaml.Node{Line: line}, "%s", reason)
		return nil
	}
	if n := firstAlias(doc.Content[0]); n != nil {
		d.fail(n, "anchors and aliases are not accepted; write the value out")
		return nil
	}
	return doc.Content[0]
}

// yamlError splits the YAML reader's message, "yaml: line 3: …", into line and reason.
func yamlError(err error) (int, string) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, reason, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			if strings.HasPrefix(reason, "did not find") {
				line++ // the reader counts from 0 in these
			}
			return line, "is not YAML: " + reason
		}
	}
	return 1, "is not YAML: " + text
}

func firstAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return n
	}
	for _, c := range n.Content {
		if a := firstAlias(c); a != nil {
			return a
		}
	}
	return nil
}

// fields walks a mapping whose keys are known and unique.
func (d *document) fields(n *yaml.Node, what string, known map[string]func(*yaml.Node)) {
	d.entries(n, what, func(key, value *yaml.Node) {
		read, ok := known[key.Value]
		if !ok {
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			d.fail(key, "unknown field %q in %s; accepted are %s", quote.Clip(key.Value, 60), what, sortedList(names))
			return
		}
		read(value)
	})
}

// entries walks a mapping with any unique keys.
func (d *document) entries(n *yaml.Node, what string, read func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s must be a mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			d.fail(key, "a key of %s must be plain text", what)
			continue
		}
		if seen[key.Value] {
			d.fail(key, "%q occurs twice in %s", quote.Clip(key.Value, 60), what)
			continue
		}
		seen[key.Value] = true
		read(key, n.Content[i+1])
	}
}

func (d *document) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		d.fail(n, "%s must be text", what)
		return ""
	}
	return n.Value
}

// list reads a sequence of texts. It is never nil, because an empty list leaves nothing.
func (d *document) list(n *yaml.Node, what string) []string {
	out := []string{}
	if n.Kind != yaml.SequenceNode {
		d.fail(n, "%s must be a list", what)
		return out
	}
	for _, item := range n.Content {
		if s := d.text(item, "an entry of "+what); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (d *document) boolean(n *yaml.Node, what string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		d.fail(n, "%s must be true or false", what)
	}
	return n.Value == "true"
}

func (d *document) count(n *yaml.Node, what string) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || v < 1 || v > 1e9 {
		d.fail(n, "%s must be a whole number from 1", what)
		return 0
	}
	return v
}

func (d *document) duration(n *yaml.Node, what string) time.Duration {
	v, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < time.Millisecond || !digitsFirst(n.Value) {
		d.fail(n, `%s must be a time of a millisecond or more with its unit, such as 500ms or 5s`, what)
		return 0
	}
	return v
}

// digitsFirst reports whether every number of a time begins with a digit, as in the schema: 0.5s, not .5s.
func digitsFirst(s string) bool {
	before := 'x'
	for _, c := range s {
		if c == '.' && (before < '0' || before > '9') {
			return false
		}
		before = c
	}
	return true
}

func (d *document) size(n *yaml.Node, what string) int64 {
	v, err := parseSize(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		d.fail(n, `%s must be a size with its unit, such as 64kb or 32mb`, what)
	}
	return v
}

// parseSize parses a whole number and its unit: b, kb, mb or gb, in powers of 1024.
func parseSize(s string) (int64, error) {
	text := strings.ToLower(s)
	digits := strings.TrimRight(text, "kmgb")
	shift, ok := map[string]uint{"b": 0, "kb": 10, "mb": 20, "gb": 30}[text[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 32)
	if !ok || err != nil || n < 1 || digits[0] < '1' {
		return 0, errors.New("not a size")
	}
	return n << shift, nil
}

// version accepts the number 1.
func (d *document) version(n *yaml.Node) {
	if d.choice(n, "version", "1") != "" && n.Tag != "!!int" {
		d.fail(n, "version must be the number 1")
	}
}

// choice reads one of the accepted words.
func (d *document) choice(n *yaml.Node, what string, accepted ...string) string {
	for _, a := range accepted {
		if n.Kind == yaml.ScalarNode && n.Value == a {
			return a
		}
	}
	d.fail(n, "%s must be %s; got %q", what, strings.Join(accepted, ", "), quote.Clip(n.Value, 60))
	return ""
}

package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/airlock-run/airlock/functions/execution"
)

// Difference is the difference between two versions. Fields other than sources are listed by name and value.
type Difference struct {
	From   int           `json:"from"`
	To     int           `json:"to"`
	Same   bool          `json:"same"`
	Fields []FieldChange `json:"fields"`
	// Files are unified diffs by path. The code of a function without files is at "code".
	Files map[string]string `json:"files"`
}

// FieldChange is one field that differs. A value is null if a version does not have the field.
type FieldChange struct {
	Field string          `json:"field"`
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
}

// The bounds of what one Diff compares: bytes of both sides of all files that differ, and of what is between their
// first and last difference. 2 MiB take about 10 ms, and 128 KiB of changes about 25.
const (
	maxCompared = 2 << 20
	maxChanged  = 128 << 10
)

// Diff returns the difference between what two versions run. Of files that would take too long to compare it says only
// how long they are.
func Diff(from, to int, a, b execution.FunctionContent) (Difference, error) {
	d := Difference{From: from, To: to, Fields: []FieldChange{}, Files: map[string]string{}}
	left, right := sources(a.Request), sources(b.Request)
	compared, changed := maxCompared, maxChanged
	for _, path := range union(left, right) {
		x, inA := left[path]
		y, inB := right[path]
		if inA == inB && bytes.Equal(x, y) {
			continue
		}
		tooLong := fmt.Sprintf("too long to compare: %d bytes, then %d bytes\n", len(x), len(y))
		if len(x)+len(y) > compared {
			d.Files[path] = tooLong
			continue
		}
		if !utf8.Valid(x) || !utf8.Valid(y) {
			d.Files[path] = fmt.Sprintf("binary: %d bytes, then %d bytes\n", len(x), len(y))
			continue
		}
		between := betweenDifferences(x, y)
		if between > changed {
			d.Files[path] = tooLong
			continue
		}
		compared, changed = compared-len(x)-len(y), changed-between
		d.Files[path] = udiff.Unified(
			fmt.Sprintf("%s (version %d)", path, from), fmt.Sprintf("%s (version %d)", path, to), string(x), string(y),
		)
	}
	before, err := fields(a)
	if err != nil {
		return d, err
	}
	after, err := fields(b)
	if err != nil {
		return d, err
	}
	for _, name := range union(before, after) {
		if x, y := orJSONNull(before[name]), orJSONNull(after[name]); !bytes.Equal(x, y) {
			d.Fields = append(d.Fields, FieldChange{name, x, y})
		}
	}
	d.Same = len(d.Files) == 0 && len(d.Fields) == 0
	return d, nil
}

// betweenDifferences returns how many bytes of both texts are between the first and the last difference.
func betweenDifferences(x, y []byte) int {
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	x, y = x[same:], y[same:]
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return len(x) + len(y)
}

func sources(r execution.Request) map[string]execution.File {
	out := make(map[string]execution.File, len(r.Files)+1)
	maps.Copy(out, r.Files)
	if r.Entry == "" {
		out["code"] = execution.File(r.Code)
	}
	return out
}

// fields returns the fields of a content other than its sources, by name.
func fields(c execution.FunctionContent) (map[string]json.RawMessage, error) {
	c.Request.Code, c.Request.Files = "", nil
	raw, err := json.Marshal(c.Request)
	if err != nil {
		return nil, fmt.Errorf("compare versions: %w", err)
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("compare versions: %w", err)
	}
	delete(out, "code")
	if len(c.Env) > 0 {
		if out["env"], err = json.Marshal(c.Env); err != nil {
			return nil, fmt.Errorf("compare versions: %w", err)
		}
	}
	return out, nil
}

func orJSONNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

func union[V any](a, b map[string]V) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// maxShown is how many bytes of a value, or of console text, a model reads at once.
const maxShown = 16 << 10

// An answer is what a tool returns.
type answer struct {
	// content is a JSON object for programs.
	content []byte
	// text is what a model reads. If it is empty, the model reads the content.
	text string
	// failed says that the content describes a failure.
	failed bool
	// paused is the result of an execution that has paused.
	paused *execution.Result
	// asked says that the caller's user wants to decide later.
	asked bool
}

// shown returns the text of an answer, which is never long.
func (a answer) shown() string {
	if a.text != "" {
		return a.text
	}
	if len(a.content) <= maxShown {
		return string(a.content)
	}
	return fmt.Sprintf("%s\n[cut: %d of %d bytes; structuredContent has the rest]", clip(a.content), maxShown,
		len(a.content))
}

// A view is the part of an execution that a model reads: the value and the output, each once, and why it failed. Its
// members are those of the result, but for At, Wrote, Truncated and HowToContinue.
type view struct {
	ID         string           `json:"id,omitempty"`
	Status     execution.Status `json:"status,omitempty"`
	Result     json.RawMessage  `json:"result,omitempty"`
	Output     string           `json:"output,omitempty"`
	Error      *string          `json:"error,omitempty"`
	At         string           `json:"at,omitempty"`
	Limit      *string          `json:"limit,omitempty"`
	Violations []string         `json:"violations,omitempty"`
	Wrote      []string         `json:"wrote,omitempty"`
	Truncated  []string         `json:"truncated,omitempty"`
	// Waiting is what a paused execution waits for, and HowToContinue says who does what next.
	Waiting       []execution.Waiting `json:"waiting,omitempty"`
	HowToContinue string              `json:"howToContinue,omitempty"`
}

// viewOf returns what a model reads of a result.
func viewOf(r execution.Result) string {
	v := view{Result: r.Result, Output: r.Output}
	if r.Status != execution.Completed {
		v.ID, v.Status, v.Error, v.Limit, v.Violations = r.ID, r.Status, r.Error, r.Limit, r.Violations
		if len(r.Result) == 4 { // null
			v.Result = nil
		}
		if e := r.Exception; e != nil && e.Line > 0 {
			v.At = fmt.Sprintf("line %d, column %d", e.Line, e.Column)
			if e.File != "" {
				v.At = e.File + ", " + v.At
			}
		}
	}
	if r.Status == execution.Paused {
		v.Waiting, v.HowToContinue = r.Waiting[:min(len(r.Waiting), maxViolations)], howToContinue(r)
		if n := len(r.Waiting); n > maxViolations {
			v.Truncated = append(v.Truncated, fmt.Sprintf("waiting: %d more operations", n-maxViolations))
		}
	}
	if len(v.Violations) > maxViolations {
		v.Violations = v.Violations[:maxViolations]
	}
	for _, path := range slices.Sorted(maps.Keys(r.FilesOut)) {
		if len(v.Wrote) == maxViolations {
			v.Truncated = append(v.Truncated, fmt.Sprintf("wrote: %d more files, in filesOut", len(r.FilesOut)-len(v.Wrote)))
			break
		}
		v.Wrote = append(v.Wrote, path)
	}
	cut := func(part string, size int) {
		v.ID = r.ID
		v.Truncated = append(v.Truncated, fmt.Sprintf("%s: %d of %d bytes; get_execution %s", part, maxShown, size,
			encode(partQuery{r.ID, part, maxShown})))
	}
	if len(r.Result) > maxShown {
		cut(partResult, len(r.Result))
		v.Result = []byte(encode(clip(r.Result)))
	}
	if len(r.Output) > maxShown {
		cut(partOutput, len(r.Output))
		v.Output = clip([]byte(r.Output))
	}
	return encode(v)
}

// howToContinue returns a sentence about how a paused execution goes on.
func howToContinue(r execution.Result) string {
	text := "The execution is paused and continues when what it waits for has happened."
	for _, w := range r.Waiting {
		if w.Kind == execution.WaitApproval || w.Kind == execution.WaitTool {
			text += " A caller with the scope approve decides with " + resumeTool + " " + encode(struct {
				ID        string         `json:"id"`
				Decisions []api.Decision `json:"decisions"`
			}{r.ID, []api.Decision{{Seq: w.Seq, Decision: decisionFor(w)}}}) + "."
			break
		}
	}
	return text + " get_execution " + encode(map[string]string{"id": r.ID}) + " then has the result."
}

// decisionFor returns the decision that lets an operation succeed.
func decisionFor(w execution.Waiting) string {
	if w.Kind == execution.WaitTool || w.Tool == "" && w.Schema != nil {
		return execution.Respond
	}
	return execution.Approve
}

// maxViolations bounds lists of short texts.
const maxViolations = 20

// The parts of an execution that get_execution reads in pieces.
const (
	partResult = "result"
	partOutput = "output"
)

// A partQuery asks for a piece of an execution's result or output.
type partQuery struct {
	ID     string `json:"id"`
	Part   string `json:"part"`
	Offset int    `json:"offset"`
}

// A piece is a part of an execution from an offset on, in bytes.
type piece struct {
	partQuery
	Text string `json:"text"`
	// Next is the offset of the next piece; 0 if there is none.
	Next int `json:"next,omitempty"`
	Size int `json:"size"`
}

// pieceOf returns a piece of an execution, which is the answer of Executor.Execution.
func pieceOf(found []byte, q partQuery) (answer, error) {
	if q.Part != partResult && q.Part != partOutput {
		return answer{}, invalid("part", "must be result or output")
	}
	var whole struct {
		Result json.RawMessage `json:"result"`
		Output string          `json:"output"`
	}
	if err := json.Unmarshal(found, &whole); err != nil {
		return answer{}, fmt.Errorf("read an execution: %w", err)
	}
	text := []byte(whole.Result)
	if q.Part == partOutput {
		text = []byte(whole.Output)
	}
	if q.Offset < 0 || q.Offset > len(text) {
		return answer{}, invalid("offset", fmt.Sprintf("must be a whole number from 0 to %d", len(text)))
	}
	p := piece{partQuery: q, Text: clip(text[q.Offset:]), Size: len(text)}
	if end := q.Offset + len(p.Text); end < len(text) {
		p.Next = end
	}
	return answer{content: []byte(encode(p))}, nil
}

// clip returns the part of a text that a model reads at once.
func clip(text []byte) string { return clipTo(text, maxShown) }

// clipTo returns the beginning of a text, which ends between two characters.
func clipTo(text []byte, most int) string {
	if len(text) <= most {
		return string(text)
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end])
}

// encode returns a value of this package as JSON on one line. Characters of HTML are not escaped: models read it.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "{}" // strings, numbers and the JSON of a result always encode
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func invalid(field, message string) error {
	return &execution.Error{Code: execution.InvalidRequest, Field: field, Message: message}
}

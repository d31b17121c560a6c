package execution

import (
	"cmp"
	"encoding/base64"
	"path"
	"time"
	"unsafe"
)

// Facts are the values of a request that a policy decides on.
type Facts struct {
	// Files holds the files other than the entry, by path.
	Files map[string]string
	// Timeout and CPU are at most a day, which exceeds every tier; 0 means the tier's.
	Timeout, CPU time.Duration
	MemoryBytes  int64 // 0 asks for nothing
	Tools        []string
	Globals      []string // the names that context and tools take
}

// Facts returns the facts of a decoded request.
func (r Request) Facts() Facts {
	memory, err := ParseMemory(r.Memory)
	if err != nil {
		memory = 0 // "" is the tier's own; anything else was refused when the request was decoded
	}
	f := Facts{
		Timeout: milliseconds(r.Timeout), CPU: milliseconds(r.Limits.CPUMs), MemoryBytes: memory,
	}
	for name := range r.Context {
		f.Globals = append(f.Globals, name)
	}
	for _, t := range r.Tools {
		namespace, _ := ToolGlobal(t.Name)
		f.Tools, f.Globals = append(f.Tools, t.Name), append(f.Globals, namespace)
	}
	if len(r.Files) > 0 {
		f.Files = make(map[string]string, len(r.Files))
		for name, content := range r.Files {
			if name != r.Entry {
				f.Files[name] = unsafe.String(unsafe.SliceData(content), len(content)) // a file does not change
			}
		}
	}
	return f
}

// Main returns the code that runs: Code, or the entry file.
func (r Request) Main() string {
	if r.Entry != "" {
		return string(r.Files[r.Entry])
	}
	return r.Code
}

// MainLanguage returns the language of the code that runs, "javascript" or "typescript". The extension of an entry
// file decides first.
func (r Request) MainLanguage() string {
	switch path.Ext(r.Entry) {
	case ".ts", ".mts", ".cts", ".tsx":
		return "typescript"
	}
	return cmp.Or(r.Language, "javascript")
}

func milliseconds(ms float64) time.Duration {
	const day = 24 * time.Hour
	return time.Duration(min(max(ms, 0), float64(day/time.Millisecond)) * float64(time.Millisecond))
}

// RecordedBytes returns about how many bytes r takes as JSON in an audit record: its text with the escapes. Of a
// request that takes more than most, it may return fewer bytes, which are more than most, too: then it has not looked
// for escapes.
func (r Request) RecordedBytes(most int) int {
	const entry = len(`"":,`)
	n := len(`{"code":""}`) + len(r.Code) + len(r.Input)
	for name, f := range r.Files {
		n += entry + len(name) + len(f)
	}
	for name, value := range r.Context {
		n += entry + len(name) + len(value)
	}
	for _, list := range [][]string{r.Args, r.Hosts, r.Secrets} {
		for _, text := range list {
			n += entry + len(text)
		}
	}
	for _, t := range r.Tools {
		n += 6*entry + len(t.Name) + len(t.Description) + len(t.InputSchema) + len(t.OutputSchema) + len(t.URL)
	}
	if n > most {
		return n
	}
	n += escapes(r.Code) + lineEnds(r.Input)
	for _, f := range r.Files {
		if r.isText(f) || validUTF8(f) {
			n += escapes(f)
		} else {
			n += base64.StdEncoding.EncodedLen(len(f)) - len(f)
		}
	}
	for _, value := range r.Context {
		n += lineEnds(value)
	}
	for _, text := range r.Args {
		n += escapes(text)
	}
	for _, t := range r.Tools {
		n += escapes(t.Description) + lineEnds(t.InputSchema) + lineEnds(t.OutputSchema)
	}
	return n
}

// escapeBytes holds how many more bytes a byte takes in a JSON string.
var escapeBytes = func() (more [256]byte) {
	for c := range byte(0x20) {
		more[c] = 5 // \u0000
	}
	for _, c := range []byte("\"\\\b\f\n\r\t") {
		more[c] = 1
	}
	return more
}()

// escapes returns how many more bytes a text takes in a JSON string.
func escapes[T string | File](text T) (n int) {
	for i := range len(text) {
		n += int(escapeBytes[text[i]])
	}
	return n + lineEnds(text)
}

// lineEnds returns how many more bytes a text takes if U+2028 and U+2029 are escaped.
func lineEnds[T ~string | ~[]byte](text T) (n int) {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == 0xe2 && text[i+1] == 0x80 && text[i+2]&^1 == 0xa8 {
			n += len(`\u2028`) - len("\u2028")
		}
	}
	return n
}

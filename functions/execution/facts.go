package execution

import (
	"cmp"
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

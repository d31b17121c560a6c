package execution

import (
	"cmp"
	"path"
	"time"
)

// Facts are what a request asks for, in the plain values that a policy judges.
type Facts struct {
	// Files are those beside what runs, by path.
	Files map[string]string
	// Timeout and CPU are at most a day, which is more than any tier grants; 0 asks for nothing.
	Timeout, CPU time.Duration
	MemoryBytes  int64 // 0 asks for nothing
	Tools        []string
	Globals      []string // the names that context and tools take
}

// Facts gives those of a request that was decoded.
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
				f.Files[name] = string(content)
			}
		}
	}
	return f
}

// Main is what runs: the request's code, or its entry file.
func (r Request) Main() string {
	if r.Entry != "" {
		return string(r.Files[r.Entry])
	}
	return r.Code
}

// MainLanguage is the language of what runs, "javascript" or "typescript": an entry's name says it too.
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

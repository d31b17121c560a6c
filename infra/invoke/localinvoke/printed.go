package localinvoke

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
)

// The limits on what a function process may print per execution: an escaped guest must not fill a disk.
const (
	printedLines = 100
	printedBytes = 4096 // of one line, and of the tail that is kept
)

// printed passes what a process prints to the log, line by line, and keeps the last of it.
type printed struct {
	log   *slog.Logger
	mu    sync.Mutex
	line  []byte
	tail  []byte
	fatal string // the line in which the Go runtime says why the program ends
	lines int
}

// Write implements io.Writer. It never fails.
func (w *printed) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail = append(w.tail, b[max(0, len(b)-printedBytes):]...)
	w.tail = w.tail[max(0, len(w.tail)-printedBytes):]
	for rest := b; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		w.line = append(w.line, line[:min(len(line), printedBytes-len(w.line))]...)
		if whole {
			w.flush()
		}
		rest = after
	}
	return len(b), nil
}

func (w *printed) flush() {
	if w.fatal == "" && (bytes.HasPrefix(w.line, []byte("fatal error: ")) || bytes.HasPrefix(w.line, []byte("panic: "))) {
		w.fatal = string(w.line)
	}
	w.lines++
	switch {
	case w.lines < printedLines && len(w.line) > 0:
		w.pass(w.line)
	case w.lines == printedLines:
		w.log.Warn("function process printed too much; the rest of this execution is dropped")
	}
	w.line = w.line[:0]
}

// pass logs one line. A line of the function's own log is parsed, so that it reads as one of the gateway's.
func (w *printed) pass(line []byte) {
	record := map[string]any{}
	level := slog.LevelInfo
	message := ""
	if json.Unmarshal(line, &record) == nil {
		message, _ = record[slog.MessageKey].(string)
		text, _ := record[slog.LevelKey].(string)
		if level.UnmarshalText([]byte(text)) != nil {
			message = ""
		}
	}
	if message == "" {
		w.log.Info("function process printed", "line", string(line))
		return
	}
	var attrs []slog.Attr
	for _, key := range slices.Sorted(maps.Keys(record)) {
		if key != slog.MessageKey && key != slog.LevelKey && key != slog.TimeKey {
			attrs = append(attrs, slog.Any(key, record[key]))
		}
	}
	w.log.LogAttrs(context.Background(), level, message, attrs...)
}

// by sets the process that prints.
func (w *printed) by(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = w.log.With("pid", pid)
}

// fresh drops earlier output and resets the count of lines.
func (w *printed) fresh() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines, w.tail, w.fatal = 0, w.tail[:0], ""
}

// last returns the last output.
func (w *printed) last() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.tail)
}

// outOfMemory reports whether the program ended because it could not allocate memory.
func (w *printed) outOfMemory() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(w.fatal, "out of memory") || strings.Contains(w.fatal, "cannot allocate memory")
}

// reason returns the line that says why the program ended: the Go runtime's, or the first of the last output.
func (w *printed) reason() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fatal != "" {
		return w.fatal
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(w.tail)), "\n")
	return line
}

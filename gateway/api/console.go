package api

import (
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
)

// A ConsoleText is what one console call printed, with the newline at its end.
type ConsoleText struct {
	Error bool // to standard error
	Text  string
}

// The marks of the sandbox: cutMark ends a message that lacks the end of its text, and droppedMark begins the one that
// says how many calls are not listed.
const (
	cutMark     = "..."
	droppedMark = "… "
)

// Whole reports whether the message of a log is certainly all that a console call printed.
func Whole(l execution.Log) bool {
	return !strings.HasSuffix(l.Message, cutMark) && !strings.HasPrefix(l.Message, droppedMark)
}

// ToStderr reports whether a console call printed to standard error.
func ToStderr(l execution.Log) bool { return l.Level == "error" || l.Level == "warn" }

// ConsoleOf divides the output of a result into console calls, as the logs say. Logs lack the end of long texts, and
// calls beyond the tier's number have no log: the text of those calls is returned as one.
func ConsoleOf(r execution.Result) []ConsoleText {
	logs := r.Logs
	if r.Usage.LogsDropped > 0 && len(logs) > 0 {
		logs = logs[:len(logs)-1] // the last one says how many were dropped
	}
	var texts []ConsoleText
	rest := r.Output
	for i, l := range logs {
		end := endOf(rest, l.Message, logs[i+1:], r.Usage.LogsDropped == 0)
		texts = append(texts, ConsoleText{ToStderr(l), rest[:end]})
		rest = rest[end:]
	}
	if rest != "" {
		texts = append(texts, ConsoleText{Text: rest})
	}
	return texts
}

// endOf returns where the text of a log ends, which begins the output. next are the logs after it.
func endOf(output, message string, next []execution.Log, all bool) int {
	if strings.HasPrefix(output, message+"\n") {
		return len(message) + 1
	}
	if len(next) == 0 && all {
		return len(output)
	}
	// The message is cut, or the output is. The text ends at the first line end at which the next one begins.
	at, end := min(len(strings.TrimSuffix(message, cutMark)), len(output)), "\n"
	if len(next) > 0 {
		end += strings.TrimSuffix(next[0].Message, cutMark)
	}
	line := strings.Index(output[at:], end) // linear, whatever the lines have in common with the next one
	if line < 0 {
		return len(output)
	}
	return at + line + 1
}

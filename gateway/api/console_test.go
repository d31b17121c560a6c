package api_test

import (
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

func streams(r execution.Result) (stdout, stderr string) {
	for _, text := range api.ConsoleOf(r) {
		if text.Error {
			stderr += text.Text
		} else {
			stdout += text.Text
		}
	}
	return stdout, stderr
}

// Each text goes to the stream that it was written to, although logs lack the end of long texts.
func TestConsoleOf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 30)
	for _, c := range []struct {
		name, output   string
		logs           string // a line each: the level and the message
		dropped        int
		stdout, stderr string
	}{
		{"none", "", "", 0, "", ""},
		{"lines in a text", "a\nb\nc\n", "log a\nb|error c", 0, "a\nb\n", "c\n"},
		{"a long text", long + "\nb\n", "warn xxx...|log b", 0, "b\n", long + "\n"},
		{"long lines in a text", long + "\n" + long + "\nb\n", "error xxx...|log b", 0, "b\n", long + "\n" + long + "\n"},
		{"a long text at the end", "b\n" + long + "\n" + long + "\n", "log b|error xxx...", 0, "b\n",
			long + "\n" + long + "\n"},
		{"more calls than logs", "a\nb\nc\n", "error a|warn … 2 more", 2, "b\nc\n", "a\n"},
		{"a text that really ends so", "a...\nb\n", "error a...|log b", 0, "b\n", "a...\n"},
		{"two long texts", long + "\nyyyyy\n", "log xxx...|error yyy...", 0, long + "\n", "yyyyy\n"},
		{"output that was cut", "a\nbb", "log a|error bbb", 0, "a\n", "bb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := execution.Result{Output: c.output, Usage: execution.Usage{LogsDropped: c.dropped}}
			for line := range strings.SplitSeq(c.logs, "|") {
				if level, message, ok := strings.Cut(line, " "); ok {
					r.Logs = append(r.Logs, execution.Log{Level: level, Message: message})
				}
			}
			if stdout, stderr := streams(r); stdout != c.stdout || stderr != c.stderr {
				t.Errorf("got %q and %q, want %q and %q", stdout, stderr, c.stdout, c.stderr)
			}
		})
	}
}

// No output and no logs make ConsoleOf panic, and both streams together have all of the output.
func FuzzConsoleOf(f *testing.F) {
	f.Add("a\nb\n", "a", "b...")
	f.Add("", "...", "")
	f.Fuzz(func(t *testing.T, output, first, second string) {
		r := execution.Result{Output: output, Logs: []execution.Log{
			{Level: "log", Message: first}, {Level: "error", Message: second},
		}}
		if stdout, stderr := streams(r); len(stdout)+len(stderr) != len(output) {
			t.Errorf("%q and %q of %q", stdout, stderr, output)
		}
	})
}

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
)

// request returns the request of the command line, checked as one over HTTP is.
func (f *runFlags) request(con terminal.Console, args []string) (execution.Request, error) {
	fields, stdin, code := map[string]any{}, con.Stdin, f.code
	if f.code == "" && len(args) == 0 && terminal.Piped(stdin) {
		args = []string{"-"}
	}
	switch {
	case f.code != "" && len(args) > 0:
		return execution.Request{}, errors.New("give a file or -e, not both")
	case f.code != "":
	case len(args) == 0:
		return execution.Request{}, errors.New("give a file, - for standard input, or -e CODE; airlock run --help shows " +
			"examples")
	case args[0] == "-" && f.input == "@-":
		return execution.Request{}, errors.New("--input @-: standard input is the code already; give one of them as a file")
	default:
		text, err := source(stdin, args[0], execution.MaxCodeBytes)
		if err != nil {
			return execution.Request{}, err
		}
		code = string(text)
	}
	fields["code"] = code
	switch {
	case f.language != "":
		fields["language"] = f.language
	case len(args) > 0 && isTypeScript(args[0]):
		fields["language"] = "typescript"
	}
	if f.engine != "" {
		fields["engine"] = f.engine
	}
	if f.policy != "" {
		fields["policy"] = f.policy
	}
	if f.memory != "" {
		fields["memory"] = f.memory
	}
	input, err := jsonFlag("--input", f.input, stdin)
	if err != nil {
		return execution.Request{}, err
	}
	switch given := hasStdin(stdin, args, code) && f.input != "@-"; {
	case given && input != nil:
		fmt.Fprintln(con.Stderr, "airlock: the code reads --input as its standard input; nothing else is read")
	case given:
		if input, err = f.standardInput(con); err != nil {
			return execution.Request{}, err
		}
	}
	if input != nil {
		fields["input"] = input
	}
	if f.timeout < 0 {
		return execution.Request{}, errors.New("--timeout: must be positive, such as 500ms or 2s")
	}
	if f.timeout > 0 {
		fields["timeout"] = f.timeout.milliseconds()
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return execution.Request{}, err
	}
	return execution.DecodeRequest(body)
}

// readsStdin finds code that may read standard input: process.stdin, /dev/stdin, or file descriptor 0. read(0), without
// a second argument, is a method of streams.
var readsStdin = regexp.MustCompile(`\bstdin\b|/dev/fd/0|\bread(?:File|(?:File)?Sync)\)?\s*\(\s*0\b|` +
	`\bread\)?\s*\(\s*0\s*,|\bfd\s*[:=]\s*0\b`)

// hasStdin reports whether code may read standard input, and there is one that does not hold the code.
func hasStdin(stdin io.Reader, args []string, code string) bool {
	codeInside := len(args) > 0 && args[0] == "-"
	return !codeInside && terminal.Piped(stdin) && readsStdin.MatchString(code)
}

// standardInput returns standard input for the code of a run. It reads it once, because --watch runs the code again.
// Like Node, it reads nothing if the code does not read standard input: what another program writes may have no end.
func (f *runFlags) standardInput(con terminal.Console) (json.RawMessage, error) {
	if f.stdin == nil {
		waited := con.Progress("reading standard input")
		text, err := io.ReadAll(io.LimitReader(con.Stdin, execution.MaxRequestBytes+1))
		waited()
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		if len(text) > execution.MaxRequestBytes {
			return nil, fmt.Errorf("standard input: is longer than %d bytes", execution.MaxRequestBytes)
		}
		if !utf8.Valid(text) {
			return nil, errors.New("standard input: is not UTF-8 text")
		}
		if f.stdin, err = json.Marshal(string(text)); err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
	}
	return f.stdin, nil
}

// jsonFlag reads a flag that is JSON, or @ and the name of a file that holds it; nil when it was not given.
func jsonFlag(flag, text string, stdin io.Reader) (json.RawMessage, error) {
	name, isFile := strings.CutPrefix(text, "@")
	if isFile {
		b, err := source(stdin, name, execution.MaxRequestBytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		text = string(b)
	}
	switch {
	case text == "" && !isFile:
		return nil, nil
	case !json.Valid([]byte(text)):
		return nil, fmt.Errorf("%s: is not valid JSON; a string needs quotes of its own: '\"text\"'; @FILE reads a file",
			flag)
	}
	return json.RawMessage(text), nil
}

// source reads a file, or standard input for -, without its byte order mark. It stops one byte after most bytes; the
// checks of the request then report that the source is too long.
func source(stdin io.Reader, name string, most int64) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, errors.Unwrap(err))
		}
		defer file.Close() // only read
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), nil
}

func isTypeScript(name string) bool {
	switch filepath.Ext(name) {
	case ".ts", ".mts", ".cts":
		return true
	}
	return false
}

// wallTime is a flag: milliseconds, as in a request, or a duration with its unit.
type wallTime time.Duration

func (w *wallTime) String() string { return time.Duration(*w).String() }

// Type returns the name of the value in the help.
func (w *wallTime) Type() string { return "time" }

func (w *wallTime) milliseconds() float64 { return float64(*w) / float64(time.Millisecond) }

// Set implements pflag.Value.
func (w *wallTime) Set(text string) error {
	if ms, err := strconv.ParseFloat(text, 64); err == nil {
		*w = wallTime(ms * float64(time.Millisecond))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("must be milliseconds, or a duration such as 500ms or 2s")
	}
	*w = wallTime(d)
	return nil
}

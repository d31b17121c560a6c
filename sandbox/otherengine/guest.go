package otherengine

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

var (
	// ErrMemory is the error of an engine that ran out of memory.
	ErrMemory = errors.New("the engine ran out of memory")
	// ErrEnded is the error of an engine that ended or broke the protocol.
	ErrEnded = errors.New("the engine ended")
	// ErrEscapes is the error of code that closes the function that it is the body of.
	ErrEscapes = errors.New("the code is more than a function")
)

// A CompileError is a syntax error of the code.
type CompileError struct{ Name, Message string }

func (e *CompileError) Error() string { return e.Name + ": " + e.Message }

// maxLine bounds a line of the engine in bytes.
const maxLine = 64 << 20

// Host answers the calls of a guest.
type Host interface {
	// Answer answers a host call. An error ends the run. When a limit has ended it, Answer is called for what the guest
	// printed before, and refuses the rest.
	Answer(in *Guest, args quickjs.Args) (quickjs.Value, error)
	// InTime returns how long the guest may go on before it is asked again. An error ends the run.
	InTime() (time.Duration, error)
}

// Guest is a guest in a process of another engine. The values of a call are valid until the next.
type Guest struct {
	conn net.Conn
	in   *bufio.Reader
	host Host
	line []byte

	values   []value
	memory   int64
	finished bool
}

// value is a value of the current call.
type value struct {
	text  quickjs.Text
	bytes []byte
	json  []byte
	kind  byte // 's', 'b', 'j' or 'o' for an object that stays in the engine
}

// NewGuest returns the guest in the process at the other end of conn.
func NewGuest(conn net.Conn, host Host) *Guest {
	return &Guest{conn: conn, in: bufio.NewReaderSize(conn, 32<<10), host: host}
}

// Memory returns the size of the engine's heap as the engine reports it.
func (g *Guest) Memory() int64 { return g.memory }

// Finished reports whether the engine finished the guest in the last step although that step was no finish.
func (g *Guest) Finished() bool { return g.finished }

// IsStackOverflow reports whether message is that of the RangeError of code that recurses too deeply.
func IsStackOverflow(message string) bool {
	return strings.TrimSuffix(message, ".") == "Maximum call stack size exceeded"
}

// IsOutOfMemory reports whether message is that of the RangeError of an allocation that failed.
func IsOutOfMemory(message string) bool {
	return message == "Out of memory" || message == "Array buffer allocation failed"
}

// opSync is the operation that waits for an answer.
const opSync = 9

// Step makes the engine perform a step, which is a JSON object, and answers its calls meanwhile. more reports that the
// step found something to do.
func (g *Guest) Step(step any) (more bool, err error) {
	text, err := json.Marshal(step)
	if err != nil {
		return false, fmt.Errorf("encode a step: %w", err)
	}
	if err := g.send(text); err != nil {
		return false, err
	}
	for {
		line, err := g.read()
		if err != nil {
			if !errors.Is(err, ErrEnded) && !errors.Is(err, ErrMemory) {
				g.readPrinted()
			}
			return false, err
		}
		if line[0] == '[' {
			if err := g.call(line); err != nil {
				return false, err
			}
			continue
		}
		var m struct {
			Idle     int
			Finished int
			Memory   int64
			Escapes  int
			Compile  []string
		}
		switch err := json.Unmarshal(line, &m); {
		case err != nil:
			return false, fmt.Errorf("%w: %w", ErrEnded, err)
		case m.Escapes != 0:
			return false, ErrEscapes
		case len(m.Compile) == 2:
			return false, &CompileError{m.Compile[0], m.Compile[1]}
		case m.Idle == 0:
			return false, ErrEnded
		}
		g.memory, g.finished = max(g.memory, m.Memory), m.Finished == 1
		return m.Idle == 2, nil
	}
}

// send writes one line.
func (g *Guest) send(text []byte) error {
	for text = append(ascii(text), '\n'); len(text) > 0; {
		if err := g.wait(g.conn.SetWriteDeadline); err != nil {
			return err
		}
		n, err := g.conn.Write(text)
		if text = text[n:]; err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("%w: %w", ErrEnded, err)
		}
	}
	return nil
}

// wait sets a deadline of the connection for as long as the host allows.
func (g *Guest) wait(deadline func(time.Time) error) error {
	pause, err := g.host.InTime()
	if err != nil {
		return err
	}
	if err := deadline(time.Now().Add(pause)); err != nil {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	_, err = g.host.InTime() // the run may have been cancelled before there was a deadline
	return err
}

// read returns the next line, which is not empty and valid until the next read.
func (g *Guest) read() ([]byte, error) {
	g.line = g.line[:0]
	for {
		if g.in.Buffered() == 0 {
			if err := g.wait(g.conn.SetReadDeadline); err != nil {
				return nil, err
			}
		}
		part, err := g.in.ReadSlice('\n')
		g.line = append(g.line, part...)
		switch {
		case err == nil && len(g.line) > 1 && (g.line[0] == '[' || g.line[0] == '{'):
			return g.line, nil
		case err == nil && len(g.line) < maxLine && !fatal(g.line):
			g.line = g.line[:0] // an engine also prints warnings, and messages when it dies
		case fatal(g.line):
			return nil, ErrMemory
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, bufio.ErrBufferFull) && len(g.line) < maxLine:
		default:
			return nil, errors.Join(ErrEnded, err)
		}
	}
}

// printedGrace is how long readPrinted reads, and maxPrinted how many bytes.
const (
	printedGrace = 2 * time.Millisecond
	maxPrinted   = 1 << 20
)

// readPrinted answers the calls that the guest made before a limit ended the run and that nothing has read yet, up to
// the first call that the host refuses. On a busy machine, a guest may print and reach a limit before its first line is
// read.
func (g *Guest) readPrinted() {
	if g.conn.SetReadDeadline(time.Now().Add(printedGrace)) != nil {
		return
	}
	for size := 0; size < maxPrinted; {
		part, err := g.in.ReadSlice('\n')
		size += len(part)
		g.line = append(g.line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil, g.line[0] == '[' && g.call(g.line) != nil:
			return
		}
		g.line = g.line[:0]
	}
}

// fatal reports whether text is what an engine prints when it has no more memory.
func fatal(text []byte) bool {
	return len(text) > 0 && text[0] != '[' && text[0] != '{' &&
		bytes.Contains(bytes.ToLower(text), []byte("out of memory"))
}

// call answers a host call.
func (g *Guest) call(line []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil || len(raw) == 0 {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	g.values = g.values[:0]
	args := quickjs.Args{}
	for i := range args {
		args[i] = quickjs.Undefined
		if i < len(raw) {
			args[i] = g.decode(raw[i])
		}
	}
	v, err := g.host.Answer(g, args)
	if op, _ := args[0].Int(); err != nil || op != opSync {
		return err
	}
	answer, err := g.encode(v)
	if err != nil {
		return err
	}
	return g.send(answer)
}

// decode returns an argument; anything malformed is undefined.
func (g *Guest) decode(raw json.RawMessage) quickjs.Value {
	switch {
	case len(raw) == 0:
	case raw[0] == '"':
		return g.keep(value{kind: 's', text: textOf(raw)})
	case raw[0] == 't':
		return quickjs.Bool(true)
	case raw[0] == 'f':
		return quickjs.Bool(false)
	case raw[0] == 'n':
		return quickjs.Null
	case raw[0] == '{':
		var m struct{ B *string }
		if json.Unmarshal(raw, &m) != nil || m.B == nil {
			if bytes.Contains(raw, []byte(`"o"`)) {
				return g.keep(value{kind: 'o'})
			}
			return quickjs.Undefined
		}
		b, err := base64.StdEncoding.DecodeString(*m.B)
		if err != nil {
			return quickjs.Undefined
		}
		return g.keep(value{kind: 'b', bytes: b})
	default:
		var n int32
		if json.Unmarshal(raw, &n) == nil {
			return quickjs.Int(n)
		}
	}
	return quickjs.Undefined
}

func (g *Guest) keep(v value) quickjs.Value {
	g.values = append(g.values, v)
	if i := uint32(len(g.values) - 1); v.kind == 's' {
		return quickjs.StringAt(i)
	}
	return quickjs.ObjectAt(uint32(len(g.values) - 1))
}

func (g *Guest) at(v quickjs.Value) (value, bool) {
	i, ok := v.At()
	if !ok || int(i) >= len(g.values) {
		return value{}, false
	}
	return g.values[i], true
}

// encode returns an answer as the engine reads it.
func (g *Guest) encode(v quickjs.Value) ([]byte, error) {
	if n, ok := v.Int(); ok {
		return fmt.Appendf(nil, `{"s":%d}`, n), nil
	}
	switch v {
	case quickjs.Undefined:
		return []byte("{}"), nil
	case quickjs.Null:
		return []byte(`{"s":null}`), nil
	case quickjs.Bool(true):
		return []byte(`{"s":true}`), nil
	case quickjs.Bool(false):
		return []byte(`{"s":false}`), nil
	}
	of, ok := g.at(v)
	answer := map[string]string{}
	switch {
	case ok && of.kind == 'b':
		answer["b"] = base64.StdEncoding.EncodeToString(of.bytes)
	case ok && of.kind == 'j':
		answer["j"] = string(of.json)
	case ok && of.kind == 's':
		answer["s"] = of.text.String()
	}
	return json.Marshal(answer)
}

// textOf returns a JSON string as the engine has it. Half a surrogate pair stays what it is.
func textOf(raw []byte) quickjs.Text {
	inner := raw[1 : len(raw)-1]
	plain := true
	for _, c := range inner {
		plain = plain && c < 0x80 && c != '\\'
	}
	if plain {
		return quickjs.TextOf(bytes.Clone(inner), false)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return quickjs.TextOf(nil, false)
	}
	units := utf16.Encode([]rune(s))
	if strings.Contains(string(inner), `\ud`) && strings.ContainsRune(s, '\ufffd') {
		units = halves(inner, units)
	}
	return quickjs.TextOf(wide(units), true)
}

// wide returns the bytes of UTF-16 units.
func wide(units []uint16) []byte {
	out := make([]byte, 0, 2*len(units))
	for _, u := range units {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// halves restores the lone surrogates that decoding replaced. The engine writes each as \udXXX.
func halves(inner []byte, units []uint16) []uint16 {
	at := 0
	for i := 0; i < len(inner) && at < len(units); {
		switch c := inner[i]; {
		case c == '\\' && i+5 < len(inner) && inner[i+1] == 'u':
			var unit uint16
			_, err := fmt.Sscanf(string(inner[i+2:i+6]), "%04x", &unit)
			if err == nil && units[at] == 0xfffd {
				units[at] = unit
			}
			i, at = i+6, at+1
		case c == '\\':
			i, at = i+2, at+1
		case c >= 0xf0:
			i, at = i+4, at+2
		case c >= 0xe0:
			i, at = i+3, at+1
		case c >= 0xc0:
			i, at = i+2, at+1
		default:
			i, at = i+1, at+1
		}
	}
	return units
}

const hexDigits = "0123456789abcdef"

// ascii escapes what is not ASCII in JSON text.
func ascii(text []byte) []byte {
	for i, c := range text {
		if c < 0x80 {
			continue
		}
		out := append(make([]byte, 0, len(text)+len(text)/4), text[:i]...)
		for _, r := range string(text[i:]) {
			if r < 0x80 {
				out = append(out, byte(r))
				continue
			}
			for _, u := range utf16.AppendRune(nil, r) {
				out = append(out, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
			}
		}
		return out
	}
	return text
}

package mcptools

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// A Server is a server that the deployment attaches.
type Server struct {
	// Namespace is the global whose methods are its tools.
	Namespace string
	// URL is its streamable HTTP endpoint. It is empty if the server is a command.
	URL string
	// Command is a program and its arguments, separated by NUL. The gateway starts it, and speaks over its standard input
	// and output. Variables are the names of the gateway's environment variables that it gets, separated by NUL.
	Command, Variables string
	// Secret is the name of the secret that is sent to it; "" sends none. Header carries it; if empty, Authorization
	// does, as a bearer token. A command has it in the environment variable of that name.
	Secret, Header string
	// Timeout bounds one call, including the connection or the start.
	Timeout time.Duration
}

// ID returns an identity of the server: the same namespace with another URL or credential is another server.
func (s *Server) ID() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.Namespace, s.URL, s.Secret, s.Header}, "\x00")))
	if s.Command != "" {
		sum = sha256.Sum256([]byte(strings.Join([]string{s.Namespace, s.Secret, s.Variables, s.Command}, "\x00")))
	}
	return hex.EncodeToString(sum[:8])
}

const (
	maxServers     = 64
	maxURL         = 1024
	maxWords       = 64
	maxWord        = 4096
	defaultTimeout = 30 * time.Second
	maxTimeout     = 5 * time.Minute
)

var (
	namespaces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]{0,63}$`) })
	headers    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`) })
)

// entry is a server as it is written.
type entry struct {
	Namespace string   `json:"namespace"`
	URL       string   `json:"url,omitempty"`
	Command   string   `json:"command,omitempty"`
	Args      []string `json:"args,omitempty"`
	Env       []string `json:"env,omitempty"`
	Secret    string   `json:"secret,omitempty"`
	Header    string   `json:"header,omitempty"`
	TimeoutMs float64  `json:"timeoutMs,omitempty"`
}

// words splits what NUL joins.
func words(joined string) []string {
	if joined == "" {
		return nil
	}
	return strings.Split(joined, "\x00")
}

// Remote returns the servers of a list that have a URL.
func Remote(list []Server) []Server {
	return slices.DeleteFunc(slices.Clone(list), func(s Server) bool { return s.Command != "" })
}

// Format returns a list of Parse as text for Parse. That of servers with URLs is shorter than 128 KiB and so fits an
// environment variable.
func Format(list []Server) string {
	wire := make([]entry, len(list))
	for i, s := range list {
		wire[i] = entry{Namespace: s.Namespace, URL: s.URL, Env: words(s.Variables), Secret: s.Secret, Header: s.Header,
			TimeoutMs: float64(s.Timeout) / float64(time.Millisecond)}
		if command := words(s.Command); len(command) > 0 {
			wire[i].Command, wire[i].Args = command[0], command[1:]
		}
	}
	text, err := json.Marshal(wire)
	if err != nil {
		return "[]" // strings and finite numbers always encode
	}
	return string(text)
}

var variables = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`) })

// wrongCommand returns the field of a server with a command that is wrong, and how; "" if none is.
func (e entry) wrongCommand() (field, problem string) {
	const text = "must be at most 64 texts of at most 4096 bytes without NUL"
	switch {
	case e.Command == "":
		return "command", "is required with args and env: the program that is the server"
	case e.URL != "" || e.Header != "":
		return "command", "cannot be given together with url or header"
	case len(e.Args) > maxWords, len(e.Env) > maxWords:
		return "args", text
	}
	for _, word := range append([]string{e.Command}, e.Args...) {
		if len(word) > maxWord || strings.ContainsRune(word, 0) {
			return "args", text
		}
	}
	for _, name := range e.Env {
		if !variables().MatchString(name) {
			return "env", "must be a list of names of environment variables, whose values the command gets"
		}
	}
	return "", ""
}

// Parse reads a list of servers: [{"namespace", "url", "secret", "header", "timeoutMs"}], the last three optional, or
// with "command", "args" and "env" instead of "url" and "header". The error names the entry and the field.
func Parse(text []byte) ([]Server, error) {
	var wire []entry
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&wire); err != nil {
		return nil, fmt.Errorf("must be a JSON list of objects with the fields namespace, url, secret, header and "+
			"timeoutMs, or command, args and env: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("must be one JSON list, with nothing after it")
	}
	if len(wire) > maxServers {
		return nil, fmt.Errorf("has %d servers; at most %d are accepted", len(wire), maxServers)
	}
	out := make([]Server, 0, len(wire))
	for i, w := range wire {
		bad := func(field, format string, args ...any) error {
			return fmt.Errorf("[%d].%s: %s", i, field, fmt.Sprintf(format, args...))
		}
		s := Server{
			Namespace: w.Namespace, URL: w.URL, Secret: w.Secret, Header: w.Header, Timeout: defaultTimeout,
			Variables: strings.Join(w.Env, "\x00"),
		}
		if !namespaces().MatchString(s.Namespace) || !execution.FreeGlobal(s.Namespace) {
			return nil, bad("namespace", "must be a JavaScript identifier that names nothing of the language or of the "+
				"sandbox; got %q", w.Namespace)
		}
		for _, other := range out {
			if other.Namespace == s.Namespace {
				return nil, bad("namespace", "%q is given more than once", s.Namespace)
			}
		}
		u, err := url.Parse(s.URL)
		if w.Command != "" || w.URL == "" && (len(w.Args) > 0 || len(w.Env) > 0) {
			if field, problem := w.wrongCommand(); problem != "" {
				return nil, bad(field, "%s", problem)
			}
			s.Command = strings.Join(append([]string{w.Command}, w.Args...), "\x00")
		} else if len(w.Args) > 0 || len(w.Env) > 0 {
			return nil, bad("args", "and env belong to a server with a command, not to one with a url")
		} else if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
			u.Fragment != "" || len(s.URL) > maxURL {
			return nil, bad("url", "must be an absolute http or https URL of at most %d bytes, without user information or "+
				"fragment", maxURL)
		}
		if s.Secret != "" && !namespaces().MatchString(s.Secret) {
			return nil, bad("secret", "must be the name of a secret (letters, digits and _), whose value is in "+
				"AIRLOCK_SECRET_ and that name")
		}
		if s.Header != "" && (!headers().MatchString(s.Header) || s.Secret == "" || strings.EqualFold(s.Header, "Host")) {
			return nil, bad("header", "must be the name of the header that carries the secret, and goes with a secret")
		}
		if w.TimeoutMs != 0 {
			if s.Timeout = time.Duration(math.Round(w.TimeoutMs * float64(time.Millisecond))); w.TimeoutMs < 1 ||
				w.TimeoutMs > float64(maxTimeout/time.Millisecond) {
				return nil, bad("timeoutMs", "must be a number of milliseconds from 1 to %d", maxTimeout/time.Millisecond)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

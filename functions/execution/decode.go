package execution

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/airlock-run/airlock/policy/depth"
)

// The bounds of decoded values. They apply to every request; a tier may be tighter.
const (
	MaxCodeBytes    = 4 << 20       // of Request.Code
	MaxRequestBytes = 16 << 20      // of a whole request
	MaxDepth        = depth.Default // of nested objects and arrays in one value, such as input
	MaxContext      = 256           // entries of Request.Context
	MaxArgs         = 256           // entries of Request.Args
	MaxTools        = 128
	MaxFiles        = 1024
	MaxHosts        = 64
	MaxSecrets      = 64
	MaxScopes       = 256 // of Invocation.Scopes

	// MaxInvocationBytes bounds an Invocation: its request may need more escapes than the caller wrote.
	MaxInvocationBytes = 2*MaxRequestBytes + 1<<20
)

// DecodeRequest reads one request strictly. It refuses unknown and duplicate members, wrong types, invalid UTF-8, NUL
// in code, nesting beyond [MaxDepth], and values outside what [Request] documents. The error is always an *[Error]
// with code [InvalidRequest], or [TooLarge] beyond [MaxRequestBytes]. Its Field names the place, such as
// "limits.cpuMs" or "tools[2].url", and its Message says what is accepted. The result does not alias b. The policy
// decides whether the named tier exists.
func DecodeRequest(b []byte) (Request, error) { return decodeRequest(b, false) }

// DecodeOwned decodes a request as [DecodeRequest] does. Its files may be part of b, which must not change any more:
// to copy 16 MiB takes 4 ms, and 20 or more in fresh memory.
func DecodeOwned(b []byte) (Request, error) { return decodeRequest(b, true) }

func decodeRequest(b []byte, owned bool) (Request, error) {
	duplicates, err := precheck(b)
	if err != nil {
		return Request{}, err
	}
	var w wireRequest
	a := abridge(b, true, holdsText)
	a.owned = owned && a.sharedBytes() >= len(b)/2 // the rest of b is kept with them
	texts := map[*byte]int{}                       // precheck has checked that the whole body is UTF-8
	if err := a.decodeStrict(&w, duplicates, texts); err != nil {
		return Request{}, err
	}
	if c, ok := a.code(); ok {
		text := string(c.plain)
		w.Code = &text
	}
	r, err := w.request()
	if err == nil && len(texts) > 0 {
		r.texts = texts
	}
	return r, err
}

// DecodeInvocation reads the payload of a function: an envelope from a gateway, which has the member "airlock", or a
// bare request, which becomes an Invocation without an ID, with Via [ViaLambda] and Airlock zero. It is as strict as
// [DecodeRequest]. The caller's claims in an envelope are data, not proof.
func DecodeInvocation(b []byte) (Invocation, error) {
	duplicates, err := precheckUpTo(b, MaxInvocationBytes)
	if err != nil {
		return Invocation{}, err
	}
	if !hasMember(b, "airlock") {
		r, err := DecodeRequest(b)
		if err != nil {
			return Invocation{}, err
		}
		return Invocation{Request: r, Via: ViaLambda}, nil
	}
	var w wireInvocation
	if err := decodeStrict(b, &w, duplicates); err != nil {
		return Invocation{}, err
	}
	return w.invocation()
}

func invalid(field, format string, args ...any) *Error {
	return &Error{Code: InvalidRequest, Field: field, Message: fmt.Sprintf(format, args...)}
}

// envelopeDepth is the depth of the deepest value in a payload: replay[0].request.context.name of an invocation.
const envelopeDepth = 5

// tooDeep returns the error for the field at which path begins.
func tooDeep(path string, most int) *Error {
	field, _, _ := strings.Cut(path, "[")
	field, _, _ = strings.Cut(strings.TrimSuffix(field, "…"), ".")
	return invalid(field, "is nested more than %d levels deep: %s", most, path)
}

// checkDepth returns an error if a value nests deeper than a result may.
func checkDepth(r Request) *Error {
	if path := depth.Over(r.Input, "input", MaxDepth); path != "" {
		return tooDeep(path, MaxDepth)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Context)) {
		if path := depth.Over(r.Context[name], "context."+name, MaxDepth); path != "" {
			return tooDeep(path, MaxDepth)
		}
	}
	return nil
}

// hasMember reports whether b is an object with a top-level member of that name. It does not check the syntax.
func hasMember(b []byte, name string) bool {
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err != nil {
			return false
		}
		if t.String() == name {
			return true
		}
		if dec.SkipValue() != nil {
			return false
		}
	}
	return false
}

// decodeStrict decodes b and finds unknown members, lone surrogates and, if there may be some, duplicate names in the
// same pass.
func decodeStrict(b []byte, v any, duplicates bool) error {
	return Abridged{Short: b}.decodeStrict(v, duplicates, nil)
}

func (a Abridged) decodeStrict(v any, duplicates bool, texts map[*byte]int) error {
	b := a.Short
	err := json.Unmarshal(b, v, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(!duplicates),
		json.WithUnmarshalers(a.unmarshalers(texts)))
	if err == nil {
		return nil
	}
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		return semantic(sem, b)
	}
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		if errors.Is(syn.Err, jsontext.ErrDuplicateName) {
			return invalid(fieldOf(syn.JSONPointer), "is given more than once")
		}
		if errors.Is(syn.Err, io.ErrUnexpectedEOF) {
			return invalid("", "the body is not valid JSON: it ends too early")
		}
		reason := plain(syn.Err)
		if strings.Contains(reason, `'\''`) {
			reason += ", names and texts stand in double quotes"
		}
		return invalid(fieldOf(syn.JSONPointer), "the body is not valid JSON: %s (byte %d)", reason,
			a.Original(int(syn.ByteOffset)))
	}
	return invalid("", "the body is not valid JSON: it ends too early")
}

// semantic returns the error for a value that is valid JSON of the wrong kind.
func semantic(e *json.SemanticError, b []byte) error {
	field := fieldOf(e.JSONPointer)
	var own *Error
	switch {
	case errors.Is(e.Err, json.ErrUnknownName):
		parent := e.JSONPointer.Parent()
		accepted := members(patternOf(parent))
		also := ""
		if parent == "" {
			also = alsoUnknown(b, field, accepted)
		}
		return invalid(field, "is not a known field%s; accepted here: %s", also, accepted)
	case errors.As(e.Err, &own):
		return invalid(field, "%s", own.Message)
	case field == "":
		return invalid("", "the body must be a JSON object; got %s", kindName(e.JSONKind))
	}
	want, ok := accepted(patternOf(e.JSONPointer))
	if !ok {
		want = "another type"
	}
	if len(e.JSONValue) > 0 && len(e.JSONValue) <= 64 {
		return invalid(field, "must be %s; got %s", want, e.JSONValue)
	}
	return invalid(field, "must be %s; got %s", want, kindName(e.JSONKind))
}

// alsoUnknown returns text that names a few other unknown members of the body.
func alsoUnknown(b []byte, field, accepted string) string {
	known := strings.Split(accepted, ", ")
	var names []string
	dec := jsontext.NewDecoder(bytes.NewReader(b))
	if _, err := dec.ReadToken(); err != nil {
		return ""
	}
	for len(names) < 8 && dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		name := token.String()
		if dec.SkipValue() != nil {
			break
		}
		if name = clip(name, 64); name != field && !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", and neither is " + strings.Join(names, ", nor ")
}

// plain removes the package's prefix from a parser's message.
func plain(err error) string {
	if err == nil {
		return "it ends too early"
	}
	return strings.TrimPrefix(err.Error(), "jsontext: ")
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "something else"
}

// raw returns v, or nil for an explicit null, which means the same as an absent member.
func raw(v jsontext.Value) stdjson.RawMessage {
	if len(v) == 0 || v.Kind() == 'n' {
		return nil
	}
	return stdjson.RawMessage(v)
}

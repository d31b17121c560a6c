package audit

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Outlines parses the outlines of stored lines without verifying them, which is much cheaper than [Decode]. The zero
// value is ready for use by one goroutine.
type Outlines struct {
	line  bytes.Reader
	dec   *jsontext.Decoder
	names map[string]string
}

// Read parses the outline of a line. Of a long request and a long journal it checks no more than where they end.
func (r *Outlines) Read(line []byte) (Outline, error) {
	short := cut(line)
	if o, ok := r.plain(short.short); ok {
		return o, nil
	}
	whole, err := short.decode() // some member has another shape, or it is no record
	if err != nil {
		return Outline{}, err
	}
	return OutlineOf(whole), nil
}

// plain parses a line whose members have the shapes in which they are written.
func (r *Outlines) plain(line []byte) (o Outline, ok bool) {
	r.line.Reset(line)
	lenient := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if r.dec == nil {
		r.dec = jsontext.NewDecoder(&r.line, lenient...)
	} else {
		r.dec.Reset(&r.line, lenient...)
	}
	wrong, reused := "", ""
	ok = r.members(func(name string) bool {
		switch name {
		case `"id"`:
			return r.text(&o.ID, false)
		case `"time"`:
			v, err := r.dec.ReadValue()
			return err == nil && len(v) > 2 && v[0] == '"' && o.Time.UnmarshalText(v[1:len(v)-1]) == nil
		case `"durationMs"`:
			return r.number(&o.DurationMs)
		case `"caller"`:
			return r.member(`"tenant"`, &o.Tenant)
		case `"function"`:
			return r.member(`"name"`, &o.Function)
		case `"via"`:
			return r.text(&o.Via, true)
		case `"policy"`:
			return r.text(&o.Policy, true)
		case `"status"`:
			return r.text(&o.Status, true)
		case `"limit"`:
			return r.text(&o.Limit, true)
		case `"error"`:
			return r.text(&wrong, false)
		case `"reused"`:
			return r.text(&reused, false)
		case `"outputBytes"`:
			return r.whole(&o.Output)
		case `"dangerAnalysis"`:
			return r.analysis(&o)
		case `"usage"`:
			return r.usage(&o)
		}
		return r.skip()
	})
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return Outline{}, false
	}
	o.Reused, o.Failure = reused != "", failure(o.Status, o.Limit, wrong)
	return o, ok
}

func (r *Outlines) usage(o *Outline) bool {
	return r.members(func(name string) bool {
		switch name {
		case `"cpuMs"`:
			return r.number(&o.CPUMs)
		case `"queueMs"`:
			return r.number(&o.QueueMs)
		case `"memoryBytes"`:
			return r.whole(&o.Memory)
		case `"apiCalls"`:
			n := int64(0)
			ok := r.whole(&n)
			o.APICalls = int(n)
			return ok
		}
		return r.skip()
	})
}

func (r *Outlines) analysis(o *Outline) bool {
	return r.members(func(name string) bool {
		switch name {
		case `"score"`:
			n := int64(0)
			ok := r.whole(&n)
			o.Score = int(n)
			return ok
		case `"level"`:
			return r.text(&o.Level, true)
		case `"findings"`:
			return r.findings(o)
		}
		return r.skip()
	})
}

func (r *Outlines) findings(o *Outline) bool {
	if t, err := r.dec.ReadToken(); err != nil || t.Kind() != '[' {
		return false
	}
	o.Findings = []Mark{}
	for r.dec.PeekKind() != ']' {
		var m Mark
		if !r.members(func(name string) bool {
			switch name {
			case `"severity"`:
				return r.text(&m.Severity, true)
			case `"category"`:
				return r.text(&m.Category, true)
			}
			return r.skip()
		}) {
			return false
		}
		o.Findings = append(o.Findings, m)
	}
	_, err := r.dec.ReadToken()
	return err == nil
}

// members calls fn with the name of each member of an object, in quotes. fn parses its value.
func (r *Outlines) members(fn func(name string) bool) bool {
	if t, err := r.dec.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for r.dec.PeekKind() == '"' {
		if name, err := r.dec.ReadValue(); err != nil || !fn(r.shared(name)) {
			return false
		}
	}
	t, err := r.dec.ReadToken()
	return err == nil && t.Kind() == '}'
}

// member parses one member of an object, a string of which few different ones occur, and skips the others.
func (r *Outlines) member(wanted string, to *string) bool {
	return r.members(func(name string) bool {
		if name == wanted {
			return r.text(to, true)
		}
		return r.skip()
	})
}

func (r *Outlines) skip() bool { return r.dec.SkipValue() == nil }

// text parses a string. often means that few different ones occur.
func (r *Outlines) text(to *string, often bool) bool {
	v, err := r.dec.ReadValue()
	if err != nil || len(v) < 2 || v[0] != '"' {
		return false
	}
	switch inner := v[1 : len(v)-1]; {
	case bytes.IndexByte(inner, '\\') >= 0:
		plain, err := jsontext.AppendUnquote(nil, v)
		*to = string(plain)
		return err == nil
	case often:
		*to = r.shared(inner)
	default:
		*to = string(inner)
	}
	return true
}

// shared returns the same string for equal text, unless there are too many.
func (r *Outlines) shared(text []byte) string {
	if known, ok := r.names[string(text)]; ok {
		return known
	}
	if r.names == nil || len(r.names) > 1000 {
		r.names = map[string]string{}
	}
	s := string(text)
	r.names[s] = s
	return s
}

func (r *Outlines) number(to *float64) bool {
	t, err := r.dec.ReadToken()
	if err != nil || t.Kind() != '0' {
		return false
	}
	*to, err = t.Float()
	return err == nil
}

func (r *Outlines) whole(to *int64) bool {
	t, err := r.dec.ReadToken()
	if err != nil || t.Kind() != '0' {
		return false
	}
	*to, err = t.Int()
	return err == nil
}

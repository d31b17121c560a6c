package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Redacted replaces a secret. If the kind of secret is known it follows: [redacted:jwt].
const Redacted = "[redacted]"

// RedactConfig says what a [Redactor] removes besides what looks like a credential.
type RedactConfig struct {
	// Secrets are known values, such as the deployment's own API key. They are also found in URLs, JSON, base64 and
	// hexadecimal. Each needs at least 6 bytes, because shorter ones occur in ordinary text.
	Secrets []string
	// Fields are paths into the record whose values are not stored: "caller.ip", "request.context.customer". A "*" stands
	// for any member or element. A path that a record does not have changes nothing there.
	Fields []string
	// Names are the names of members that hold secrets anywhere in request or journal, in lower case. Nil means
	// DefaultNames.
	Names []string
}

// DefaultNames returns the names of members that are secret unless a deployment says otherwise. Case, "-" and "_" are
// ignored.
func DefaultNames() []string {
	return []string{"accesstoken", "apikey", "authorization", "clientsecret", "cookie", "idtoken", "passphrase", "passwd",
		"password", "privatekey", "proxyauthorization", "refreshtoken", "secret", "secretkey", "sessiontoken", "setcookie",
		"xapikey"}
}

// A Redactor removes secrets from records before they are stored. It is safe for concurrent use.
type Redactor struct {
	secrets []encodedSecret
	fields  [][]string
	names   map[string]bool
	// longestName is the length of the longest of names.
	longestName int
	known       []pattern
	marks       *marks // what text must contain for there to be anything to do
	// harmless is the last document of those that look as if they held a secret and hold none: executions of one tier
	// have the same grants.
	harmless atomic.Pointer[string]
}

// maxHarmless bounds the document that a Redactor remembers, in bytes.
const maxHarmless = 4 << 10

const minSecretBytes = 6

// NewRedactor returns a Redactor, or an error if cfg cannot be applied.
func NewRedactor(cfg RedactConfig) (*Redactor, error) {
	r := &Redactor{names: map[string]bool{}, known: patterns()}
	for i, s := range cfg.Secrets {
		if len(s) < minSecretBytes {
			return nil, fmt.Errorf("secret %d has %d bytes; at least %d are needed to redact it", i+1, len(s), minSecretBytes)
		}
		r.secrets = append(r.secrets, secretEncodings(s)...)
	}
	// If one secret contains another, the longer is replaced first.
	slices.SortStableFunc(r.secrets, func(a, b encodedSecret) int { return len(b.text) - len(a.text) })
	for _, f := range cfg.Fields {
		path := strings.Split(f, ".")
		if slices.Contains(path, "") {
			return nil, fmt.Errorf("field %q is not a path such as request.context.customer", f)
		}
		if slices.Contains([]string{"id", "time", "chain", "custody"}, path[0]) {
			return nil, fmt.Errorf("field %q cannot be redacted: the record would prove nothing without it", f)
		}
		r.fields = append(r.fields, path)
	}
	names := cfg.Names
	if names == nil {
		names = DefaultNames()
	}
	for _, n := range names {
		if plain(n) == "" {
			return nil, errors.New("a secret member's name is empty")
		}
		r.names[plain(n)] = true
		r.longestName = max(r.longestName, len(plain(n)))
	}
	r.marks = newMarks(r.texts())
	return r, nil
}

// ofSecrets is the group of the marks of secrets. Each pattern has one of its own.
const ofSecrets = 1 << 63

// texts returns the marks of every pattern and secret.
func (r *Redactor) texts() []mark {
	var all []mark
	for i, p := range r.known {
		for _, text := range p.marks {
			all = append(all, mark{text, 1 << i})
		}
	}
	for _, g := range r.secrets {
		all = append(all, mark{g.text, ofSecrets})
	}
	return all
}

// Apply removes the secrets from rec. A member that is not JSON cannot be searched and is removed.
func (r *Redactor) Apply(rec *Record) {
	code := rec.Code
	rec.Code, rec.Error = r.Text(code), r.Text(rec.Error)
	for i, s := range rec.Reasons {
		if clean := r.Text(s); clean != s {
			rec.Reasons = slices.Clone(rec.Reasons)
			rec.Reasons[i] = clean
		}
	}
	for _, s := range []*string{&rec.Caller.Subject, &rec.Caller.Tenant} {
		*s = r.Text(*s)
	}
	rec.Grants = r.raw(rec.Grants, false, r.string)
	rec.DangerAnalysis = r.raw(rec.DangerAnalysis, false, r.string)
	rec.ASTTelemetry = r.raw(rec.ASTTelemetry, false, r.string)
	rec.Request = r.raw(rec.Request, true, func(s []byte) (string, bool) {
		if len(s) > 0 && string(s) == code { // the request has it again
			return rec.Code, rec.Code != code
		}
		return r.string(s)
	})
	rec.Journal = r.raw(rec.Journal, true, r.string)
	if len(r.fields) > 0 {
		r.applyFields(rec)
	}
}

// Text returns a text without its secrets.
func (r *Redactor) Text(s string) string { return r.clean(s, found(r.marks, s)) }

// clean returns a text without its secrets, of which it has marks of some groups.
func (r *Redactor) clean(s string, groups uint64) string {
	if groups&ofSecrets != 0 {
		for _, secret := range r.secrets {
			s = secret.hide(s)
		}
	}
	for i, p := range r.known {
		if groups&(1<<i) != 0 {
			s = p.hide(s)
		}
	}
	return s
}

// raw redacts the strings of a JSON document by text, and with named also the members whose names are secret. Text that
// needs no redaction stays as it is, byte for byte.
func (r *Redactor) raw(doc json.RawMessage, named bool, text func([]byte) (string, bool)) json.RawMessage {
	if len(doc) == 0 || !named && bytes.IndexByte(doc, '\\') < 0 && !marked(r.marks, doc) {
		return doc
	}
	if known := r.harmless.Load(); !named && known != nil && *known == string(doc) {
		return doc
	}
	e := editor{doc: doc, text: text}
	if named {
		e.name = r.secretName
	}
	clean, err := e.edit()
	if err != nil {
		return json.RawMessage(`"` + Redacted + `"`)
	}
	if e.to == 0 && !named && len(doc) <= maxHarmless {
		known := string(doc)
		r.harmless.Store(&known)
	}
	return clean
}

// string returns a text without its secrets, and whether it had any.
func (r *Redactor) string(s []byte) (string, bool) {
	groups := found(r.marks, s)
	if groups == 0 {
		return "", false
	}
	text := string(s)
	clean := r.clean(text, groups)
	return clean, clean != text
}

// secretName reports whether a name is one of a member that holds a secret.
func (r *Redactor) secretName(name []byte) bool {
	var short [64]byte
	n := 0
	for _, c := range name {
		switch {
		case c == '-' || c == '_':
			continue
		case c >= utf8.RuneSelf:
			return r.names[plain(string(name))]
		case n == r.longestName || n == len(short):
			return len(name) > len(short) && r.longestName > len(short) && r.names[plain(string(name))]
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		}
		short[n] = c
		n++
	}
	return r.names[string(short[:n])]
}

// plain returns a name in the form in which names of secrets are compared.
func plain(name string) string {
	return strings.ToLower(withoutDashes.Replace(name))
}

var withoutDashes = strings.NewReplacer("-", "", "_", "")

// applyFields removes the values at the deployment's paths. It works on the record's own JSON, so that the paths are
// those that people see in it. What may be large is emptied apart.
func (r *Redactor) applyFields(rec *Record) {
	code, request, journal := rec.Code, rec.Request, rec.Journal
	rec.Code, rec.Request, rec.Journal = "", nil, nil
	r.applySmallFields(rec)
	if rec.Code = code; code != "" && len(r.under("code")) > 0 && len(r.under("code")[0]) == 0 {
		rec.Code = Redacted
	}
	rec.Request, rec.Journal = blanked(request, r.under("request")), blanked(journal, r.under("journal"))
}

// under returns the deployment's paths from a member of the record on, the shortest first.
func (r *Redactor) under(member string) (paths [][]string) {
	for _, path := range r.fields {
		if path[0] == member || path[0] == "*" {
			paths = append(paths, path[1:])
		}
	}
	slices.SortStableFunc(paths, func(a, b []string) int { return len(a) - len(b) })
	return paths
}

// blanked returns a member of the record without the values at paths.
func blanked(doc json.RawMessage, paths [][]string) json.RawMessage {
	if len(doc) == 0 || len(paths) == 0 {
		return doc
	}
	clean, err := blankJSON(doc, paths)
	if err != nil {
		return json.RawMessage(`"` + Redacted + `"`)
	}
	return clean
}

func (r *Redactor) applySmallFields(rec *Record) {
	doc, err := json.Marshal(rec)
	if err != nil {
		return // a record that cannot be encoded is refused by the store
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil {
		return
	}
	changed := false
	for _, path := range r.fields {
		changed = blank(tree, path) || changed
	}
	if !changed {
		return
	}
	var clean Record
	if err := json.Unmarshal(encode(tree), &clean); err != nil {
		// Every value keeps its type, so this cannot happen. If it does, storing too little is better than too much.
		rec.Caller = Caller{}
		return
	}
	*rec = clean
}

// blank empties the values at path: strings become Redacted, anything else the zero of its type.
func blank(v any, path []string) bool {
	changed := false
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			switch {
			case path[0] != "*" && path[0] != name:
			case len(path) > 1:
				changed = blank(member, path[1:]) || changed
			default:
				v[name], changed = zero(member), true
			}
		}
	case []any:
		for i, member := range v {
			switch {
			case path[0] != "*" && path[0] != fmt.Sprint(i):
			case len(path) > 1:
				changed = blank(member, path[1:]) || changed
			default:
				v[i], changed = zero(member), true
			}
		}
	}
	return changed
}

func zero(v any) any {
	switch v.(type) {
	case json.Number:
		return 0
	case bool:
		return false
	case nil:
		return nil
	case []any:
		return []any{}
	case map[string]any:
		return map[string]any{}
	default:
		return Redacted
	}
}

// encode returns a decoded JSON document as JSON, which always succeeds.
func encode(v any) json.RawMessage {
	doc, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`"` + Redacted + `"`)
	}
	return doc
}

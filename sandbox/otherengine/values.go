package otherengine

import (
	"bytes"
	"unicode/utf16"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Text implements hostops.Guest.
func (g *Guest) Text(v quickjs.Value) (quickjs.Text, bool) {
	of, ok := g.at(v)
	return of.text, ok && of.kind == 's' && v.IsString()
}

// Str implements hostops.Guest.
func (g *Guest) Str(v quickjs.Value, limit int) (string, bool) {
	t, ok := g.Text(v)
	if !ok || t.Len() > limit {
		return "", false
	}
	return t.String(), true
}

// Len implements hostops.Guest.
func (g *Guest) Len(v quickjs.Value) int {
	t, ok := g.Text(v)
	if !ok {
		return -1
	}
	return t.Len()
}

// Prefix implements hostops.Guest.
func (g *Guest) Prefix(v quickjs.Value, n int) string {
	t, _ := g.Text(v)
	first, _ := t.Cut(max(n, 0))
	return first.String()
}

// View implements hostops.Guest.
func (g *Guest) View(v quickjs.Value) ([]byte, bool, error) {
	of, ok := g.at(v)
	return of.bytes, ok && of.kind == 'b', nil
}

// ParseJSON implements hostops.Guest.
func (g *Guest) ParseJSON(text []byte) (quickjs.Value, error) {
	return g.keep(value{kind: 'j', json: bytes.Clone(text)}), nil
}

// Bytes implements hostops.Guest.
func (g *Guest) Bytes(b []byte) (quickjs.Value, error) {
	return g.keep(value{kind: 'b', bytes: bytes.Clone(b)}), nil
}

// String implements hostops.Guest.
func (g *Guest) String(text string) (quickjs.Value, error) {
	return g.keep(value{kind: 's', text: quickjs.TextOf(wide(utf16.Encode([]rune(text))), true)}), nil
}

// Kind implements hostops.Guest. The engine answers such questions itself.
func (g *Guest) Kind(quickjs.Value) quickjs.Kind { return quickjs.KindOther }

// PromiseResult implements hostops.Guest.
func (g *Guest) PromiseResult(quickjs.Value) (uint32, quickjs.Value) { return 0, quickjs.Undefined }

// ProxyParts implements hostops.Guest.
func (g *Guest) ProxyParts(quickjs.Value) (target, handler quickjs.Value) {
	return quickjs.Null, quickjs.Null
}

// IteratorParts implements hostops.Guest.
func (g *Guest) IteratorParts(quickjs.Value, func(int) error) (of quickjs.Value, gives, given int32, err error) {
	return quickjs.Undefined, 0, 0, nil
}

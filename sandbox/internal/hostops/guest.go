package hostops

import "github.com/airlock-run/airlock/sandbox/internal/quickjs"

// Guest holds the values of a guest. *quickjs.Instance implements it over guest memory, *otherengine.Guest over a
// connection to another engine. Everything that it returns is hostile.
type Guest interface {
	// Text, Str, Len and Prefix read strings, View the bytes of an ArrayBuffer.
	Text(v quickjs.Value) (t quickjs.Text, ok bool)
	Str(v quickjs.Value, limit int) (s string, ok bool)
	Len(v quickjs.Value) int
	Prefix(v quickjs.Value, n int) string
	View(v quickjs.Value) (b []byte, ok bool, err error)
	// ParseJSON, Bytes and String make values.
	ParseJSON(text []byte) (quickjs.Value, error)
	Bytes(b []byte) (quickjs.Value, error)
	String(text string) (quickjs.Value, error)
	// Kind and the methods below read the internal slots of objects.
	Kind(v quickjs.Value) quickjs.Kind
	PromiseResult(v quickjs.Value) (state uint32, result quickjs.Value)
	ProxyParts(v quickjs.Value) (target, handler quickjs.Value)
	IteratorParts(v quickjs.Value, work func(records int) error) (of quickjs.Value, gives, given int32, err error)
}

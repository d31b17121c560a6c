package quickjs

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// Value is a JSValue as the engine boxes it in WebAssembly: the tag in the high half, an integer or an address in the
// low half. It is valid only within its own instance.
type Value uint64

const (
	tagString    = 0xfffffff9 // -7
	tagRope      = 0xfffffffa // -6, a string whose parts have not been joined
	tagObject    = 0xffffffff // -1
	tagBytecode  = 0xfffffffe // -2, of what has been compiled and not run
	tagInt       = 0
	tagBool      = 1
	tagException = 6
)

// The immediate values.
const (
	Null      = Value(2 << 32)
	Undefined = Value(3 << 32)
	exception = Value(tagException << 32)
)

// Int returns v as a JavaScript number.
func Int(v int32) Value { return Value(uint32(v)) }

// Bool returns v as a JavaScript boolean.
func Bool(v bool) Value {
	if v {
		return tagBool<<32 | 1
	}
	return tagBool << 32
}

// NaN is the number that is none.
const NaN = Value(0xfffffff6 << 32)

// Number returns f as a JavaScript number.
func Number(f float64) Value {
	const moved = 0x7ff8000a << 32 // what the engine subtracts from the bits of a number
	if math.IsNaN(f) {
		return NaN
	}
	return Value(math.Float64bits(f) - moved)
}

func (v Value) tag() uint32 { return uint32(v >> 32) }

// IsString reports whether v is a string.
func (v Value) IsString() bool { return v.tag() == tagString || v.tag() == tagRope }

// Int returns the integer that v holds. ok is false if v is anything else.
func (v Value) Int() (n int32, ok bool) { return int32(uint32(v)), v.tag() == tagInt }

// Text is a string where it lies in guest memory. It is valid until the guest runs again.
type Text struct {
	raw  []byte
	wide bool // two bytes a unit; else one, which is the code point
}

// Text returns the string v. ok is false when v is not a string, or does not lie in memory.
func (in *heap) Text(v Value) (t Text, ok bool) {
	if v.tag() == tagRope {
		if v, ok = in.joined(v); !ok {
			return Text{}, false
		}
	}
	if v.tag() != tagString {
		return Text{}, false
	}
	mem := in.mod.Memory()
	header, ok := mem.ReadUint32Le(uint32(v) + strLength)
	at, found := in.characters(uint32(v))
	if !ok || !found {
		return Text{}, false
	}
	n := header & 0x7fffffff
	if t.wide = header>>31 == 1; t.wide {
		if n > 1<<30 {
			return Text{}, false
		}
		n *= 2
	}
	t.raw, ok = mem.Read(at, n)
	return t, ok
}

// joined returns the flat string of the rope v. It lives until the guest runs again.
func (in *heap) joined(v Value) (flat Value, ok bool) {
	flat, err := in.enter(rewrite.OpToString, uint64(in.image.qctx), v, 0, 0, 0)
	if err != nil || flat.tag() != tagString {
		return 0, false
	}
	in.lent = append(in.lent, flat)
	return flat, true
}

// reclaim frees the strings that joined made. Its callers let the guest run next.
func (in *heap) reclaim() {
	for _, v := range in.lent {
		_, _ = in.enter(rewrite.OpRelease, uint64(in.image.qctx), v, 0, 0, 0) // a failure ends the run
	}
	in.lent = in.lent[:0]
}

// characters returns the address of the characters of the string at addr.
func (in *heap) characters(addr uint32) (at uint32, ok bool) {
	mem := in.mod.Memory()
	word, _ := mem.ReadUint32Le(addr + strKind)
	switch in.image.learned.Strings.kind(word) {
	case kindNormal:
		return addr + strData, true
	case kindSlice:
		parent, _ := mem.ReadUint32Le(addr + strData)
		start, ok := mem.ReadUint32Le(addr + sliceStart)
		return parent + strData + start, ok
	}
	return 0, false // the engine's own
}

// Len returns the length in UTF-16 units.
func (t Text) Len() int {
	if t.wide {
		return len(t.raw) / 2
	}
	return len(t.raw)
}

// Latin1 returns one byte for each unit, if the string is stored that way.
func (t Text) Latin1() (b []byte, ok bool) { return t.raw, !t.wide }

// Cut returns the first n units, or n-1 if that would split a surrogate pair, and the rest.
func (t Text) Cut(n int) (first, rest Text) {
	if n >= t.Len() {
		return t, Text{nil, t.wide}
	}
	if t.wide {
		if n > 1 && t.unit(n-1)&^0x3ff == 0xd800 && t.unit(n)&^0x3ff == 0xdc00 {
			n--
		}
		n *= 2
	}
	return Text{t.raw[:n:n], t.wide}, Text{t.raw[n:], t.wide}
}

func (t Text) unit(i int) rune { return rune(binary.LittleEndian.Uint16(t.raw[2*i:])) }

// Size returns the length in UTF-8.
func (t Text) Size() int {
	n := 0
	if !t.wide {
		for _, c := range t.raw {
			n += 1 + int(c>>7)
		}
		return n
	}
	for i := 0; i < len(t.raw)/2; i++ {
		switch c := t.unit(i); {
		case c < utf8.RuneSelf:
			n++
		case c < 0x800:
			n += 2
		case c&^0x3ff == 0xd800 && i+1 < len(t.raw)/2 && t.unit(i+1)&^0x3ff == 0xdc00:
			n += 4
			i++
		default:
			n += 3
		}
	}
	return n
}

// Append appends the string as UTF-8. Lone surrogates become U+FFFD.
func (t Text) Append(out []byte) []byte {
	if !t.wide {
		for i, c := range t.raw {
			if c >= utf8.RuneSelf {
				return appendLatin1(append(out, t.raw[:i]...), t.raw[i:])
			}
		}
		return append(out, t.raw...)
	}
	for i := 0; i+1 < len(t.raw); i += 2 {
		c := rune(binary.LittleEndian.Uint16(t.raw[i:]))
		if utf16.IsSurrogate(c) {
			low := rune(utf8.RuneError)
			if i+3 < len(t.raw) {
				low = rune(binary.LittleEndian.Uint16(t.raw[i+2:]))
			}
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				i += 2
			}
		}
		out = utf8.AppendRune(out, c)
	}
	return out
}

// AppendLow appends the low byte of each unit.
func (t Text) AppendLow(out []byte) []byte {
	if !t.wide {
		return append(out, t.raw...)
	}
	for i := 0; i+1 < len(t.raw); i += 2 {
		out = append(out, t.raw[i])
	}
	return out
}

func appendLatin1(out, b []byte) []byte {
	for _, c := range b {
		out = utf8.AppendRune(out, rune(c))
	}
	return out
}

// String returns a copy as UTF-8.
func (t Text) String() string {
	if len(t.raw) == 0 {
		return ""
	}
	b := t.Append(make([]byte, 0, t.Size()))
	return unsafe.String(unsafe.SliceData(b), len(b)) // b is not shared
}

// Str copies the string v out of guest memory as UTF-8; lone surrogates become U+FFFD. ok is false when v is not a
// string, does not lie in memory, or has more than limit UTF-16 units.
func (in *heap) Str(v Value, limit int) (s string, ok bool) {
	t, ok := in.Text(v)
	if !ok || t.Len() > limit {
		return "", false
	}
	return t.String(), true
}

// Len returns the length of the string v in UTF-16 units, or -1.
func (in *heap) Len(v Value) int {
	header, ok := in.mod.Memory().ReadUint32Le(uint32(v) + strLength)
	if !ok || !v.IsString() {
		return -1
	}
	return int(header & 0x7fffffff)
}

// TextOf returns a string of Latin-1 bytes or, if wide, of UTF-16 units in little-endian order. It does not lie in
// guest memory.
func TextOf(raw []byte, wide bool) Text { return Text{raw, wide} }

// StringAt returns the value of a string that is entry i of a table outside guest memory.
func StringAt(i uint32) Value { return tagString<<32 | Value(i) }

// ObjectAt returns the value of an object that is entry i of such a table.
func ObjectAt(i uint32) Value { return tagObject<<32 | Value(i) }

// At returns the entry of a value that StringAt or ObjectAt made.
func (v Value) At() (i uint32, ok bool) {
	return uint32(v), v.tag() == tagString || v.tag() == tagObject
}

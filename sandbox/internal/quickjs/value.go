package quickjs

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Value is a JSValue as this build of the engine boxes it: the tag in the high half, an integer or an address in the
// low half. It means something only within its own instance.
type Value uint64

const (
	tagString    = 0xfffffff9 // -7
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

// Int is v as a JavaScript number.
func Int(v int32) Value { return Value(uint32(v)) }

// Bool is v as a JavaScript boolean.
func Bool(v bool) Value {
	if v {
		return tagBool<<32 | 1
	}
	return tagBool << 32
}

func (v Value) tag() uint32 { return uint32(v >> 32) }

// IsString tells whether v is a string.
func (v Value) IsString() bool { return v.tag() == tagString }

// Int gives the integer v holds; ok is false when v is anything else.
func (v Value) Int() (n int32, ok bool) { return int32(uint32(v)), v.tag() == tagInt }

// Str copies the string v out of guest memory as UTF-8; lone surrogates become U+FFFD. ok is false when v is not a
// string, does not lie in memory, or has more than limit UTF-16 units.
func (in *Instance) Str(v Value, limit int) (s string, ok bool) {
	if !v.IsString() {
		return "", false
	}
	mem := in.mod.Memory()
	addr := uint32(v)
	header, ok := mem.ReadUint32Le(addr + strLength)
	if !ok {
		return "", false
	}
	n, wide := header&0x7fffffff, header>>31 == 1
	if int64(n) > int64(limit) {
		return "", false
	}
	if !wide {
		b, ok := mem.Read(addr+strData, n)
		return latin1(b), ok
	}
	b, ok := mem.Read(addr+strData, n*2)
	return utf16le(b), ok
}

// Len gives the length of the string v in UTF-16 units, or -1.
func (in *Instance) Len(v Value) int {
	if !v.IsString() {
		return -1
	}
	header, ok := in.mod.Memory().ReadUint32Le(uint32(v) + strLength)
	if !ok {
		return -1
	}
	return int(header & 0x7fffffff)
}

func latin1(b []byte) string {
	extra := 0
	for _, c := range b {
		extra += int(c >> 7)
	}
	if extra == 0 {
		return string(b)
	}
	out := make([]byte, 0, len(b)+extra)
	for _, c := range b {
		out = utf8.AppendRune(out, rune(c))
	}
	return string(out)
}

func utf16le(b []byte) string {
	out := make([]byte, 0, len(b))
	for i := 0; i+1 < len(b); i += 2 {
		c := rune(binary.LittleEndian.Uint16(b[i:]))
		if utf16.IsSurrogate(c) {
			low := rune(utf8.RuneError)
			if i+3 < len(b) {
				low = rune(binary.LittleEndian.Uint16(b[i+2:]))
			}
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				i += 2
			}
		}
		out = utf8.AppendRune(out, c)
	}
	return string(out)
}

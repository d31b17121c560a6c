package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

const limit = 1 << 20

// example returns a State in which every field has a different value.
func example() *State {
	s := &State{}
	n := int64(0)
	fill(reflect.ValueOf(s).Elem(), &n)
	return s
}

func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(string(rune('a' + *n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) / 2)
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(*n)
	default:
		panic(v.Kind())
	}
}

func encoded(t testing.TB, s *State) []byte {
	t.Helper()
	b, err := Encode([32]byte{1, 2}, s, limit)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEveryFieldIsKept also fails if a field of State is not among its fields.
func TestEveryFieldIsKept(t *testing.T) {
	s := example()
	s.NextWait = 1 << 20
	b := encoded(t, s)
	got, err := Decode(b, limit)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(b, encoded(t, got)) {
		t.Error("equal states have different snapshots")
	}
	if id, err := Identity(b); err != nil || id != [32]byte{1, 2} {
		t.Errorf("identity %x, %v", id, err)
	}
	empty, err := Decode(encoded(t, &State{Segment: 1}), limit)
	if diff := cmp.Diff(&State{Segment: 1}, empty); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// asFormer returns a snapshot in the format of version 1.
func asFormer(t testing.TB, b []byte) []byte {
	t.Helper()
	size := binary.LittleEndian.Uint64(b[headBytes-8:])
	body, ok := fromBlock(b[headBytes:], size)
	e, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return e.EncodeAll(body, append([]byte(former), b[len(magic):headBytes]...))
}

func TestFormerVersion(t *testing.T) {
	s := example()
	s.NextWait = 1 << 20
	b := asFormer(t, encoded(t, s))
	got, err := Decode(b, limit)
	if diff := cmp.Diff(s, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, at := range []int{headBytes - 8, headBytes + 1, len(b) - 9} {
		changed := bytes.Clone(b)
		changed[at] ^= 1
		if _, err := Decode(changed, limit); !errors.Is(err, ErrDamaged) {
			t.Errorf("with another byte %d: %v", at, err)
		}
	}
}

// Every byte behind the identity counts.
func TestDamage(t *testing.T) {
	s := example()
	s.NextWait = 1 << 20
	b := encoded(t, s)
	for at := headBytes - 8; at < len(b); at++ {
		changed := bytes.Clone(b)
		changed[at] ^= 1
		if _, err := Decode(changed, limit); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrTooLarge) {
			t.Errorf("with another byte %d: %v", at, err)
		}
		if _, err := Decode(b[:at], limit); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", at, err)
		}
	}
}

func TestLimit(t *testing.T) {
	s := example()
	s.NextWait = 1 << 20
	s.Output = bytes.Repeat([]byte("x"), limit)
	if _, err := Encode([32]byte{}, s, limit); !errors.Is(err, ErrTooLarge) {
		t.Errorf("encoding: %v", err)
	}
	b, err := Encode([32]byte{}, s, 2*limit)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(b, limit); !errors.Is(err, ErrTooLarge) {
		t.Errorf("decoding: %v", err)
	}
	lists := &State{Segment: 1, Timers: make([]Timer, 20_000)} // 5 bytes each, and 32 in memory
	if _, err := Encode([32]byte{}, lists, 200_000); !errors.Is(err, ErrTooLarge) {
		t.Errorf("encoding lists: %v", err)
	}
	if b, err = Encode([32]byte{}, lists, limit); err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(b, 200_000); !errors.Is(err, ErrDamaged) {
		t.Errorf("decoding lists: %v", err)
	}
}

// TestNumbersOfNoRun checks that states are refused that no run can have.
func TestNumbersOfNoRun(t *testing.T) {
	for name, edit := range map[string]func(*State){
		"no segment":       func(s *State) { s.Segment = 0 },
		"negative calls":   func(s *State) { s.Used.Calls = -1 },
		"endless time":     func(s *State) { s.Used.Wall = 1<<63 - 1 },
		"waits in a loop":  func(s *State) { s.Waits = []Wait{{Seq: 2}, {Seq: 1}} },
		"one wait twice":   func(s *State) { s.Waits = []Wait{{Seq: 1}, {Seq: 1}} },
		"a wait to come":   func(s *State) { s.Waits, s.NextWait = []Wait{{Seq: 9}}, 8 },
		"a timer long ago": func(s *State) { s.Timers = []Timer{{In: -1 << 63}} },
		"negative ticks":   func(s *State) { s.Guest.Ticks = -1 },
	} {
		s := &State{Segment: 1, NextWait: 100}
		edit(s)
		if _, err := Decode(encoded(t, s), limit); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	s := example()
	s.NextWait = 1 << 20
	f.Add(encoded(f, s))
	f.Add(encoded(f, &State{Segment: 1}))
	f.Add(asFormer(f, encoded(f, s)))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b, limit)
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrTooLarge) {
				t.Fatalf("an error without a name: %v", err)
			}
			return
		}
		again, err := Decode(encoded(t, s), limit)
		if diff := cmp.Diff(s, again); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	})
}

// FuzzBody decodes bodies without a frame around them.
func FuzzBody(f *testing.F) {
	for _, s := range []*State{example(), {Segment: 1}} {
		s.NextWait = 1 << 20
		c := coder{}
		s.fields(&c)
		f.Add(c.b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, in := &State{}, coder{b: b, reading: true, limit: limit}
		if s.fields(&in); in.failed || len(in.b) > 0 || in.lists > limit {
			return
		}
		out := coder{}
		if s.fields(&out); !bytes.Equal(out.b, b) {
			t.Fatalf("%x decodes, and encodes as %x", b, out.b)
		}
	})
}

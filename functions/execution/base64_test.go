package execution

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestAppendBase64(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{1})
	all := make([]byte, 5000)
	_, _ = random.Read(all)
	for n := range all {
		want := base64.StdEncoding.AppendEncode([]byte("before"), all[:n])
		if got := appendBase64([]byte("before"), all[:n]); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes: %s, want %s", n, got, want)
		}
	}
}

func BenchmarkAppendBase64(b *testing.B) {
	snapshot := make([]byte, 16<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(snapshot)
	out := make([]byte, 0, base64.StdEncoding.EncodedLen(len(snapshot)))
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			appendBase64(out, snapshot)
		}
	})
	b.Run("std", func(b *testing.B) {
		for b.Loop() {
			base64.StdEncoding.AppendEncode(out, snapshot)
		}
	})
}

// A long record and a long snapshot are in the invocation as short ones are.
func TestEncodeLongParts(t *testing.T) {
	t.Parallel()
	inv := Invocation{
		ID: "exec_0123456789", Request: Request{Code: "0"},
		Replay: json.RawMessage(`[0` + strings.Repeat(",0", longSnapshot) + `]`),
	}
	inv.Resume = &Resume{Parent: inv.ID, Segment: 2, Snapshot: bytes.Repeat([]byte("s"), longSnapshot),
		Answers: []Answer{{Seq: 1}}}
	got, err := inv.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(inv)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

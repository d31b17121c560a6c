package execution

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
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

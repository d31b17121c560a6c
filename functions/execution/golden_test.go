package execution_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

// Every document in testdata decodes to the contract's type and encodes to the same bytes: every version reads what
// earlier ones wrote. Files are added here, never changed.
func TestGolden(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		pattern string
		decode  func([]byte) (any, error)
	}{
		{"request-*.json", func(b []byte) (any, error) { return execution.DecodeRequest(b) }},
		{"invocation-*.json", func(b []byte) (any, error) { return execution.DecodeInvocation(b) }},
		{"result-*.json", decodeAs[execution.Result]},
		{"event-*.json", decodeAs[execution.Event]},
		{"error-*.json", decodeAs[execution.Error]},
	}
	for _, kind := range kinds {
		files, err := filepath.Glob(filepath.Join("testdata", kind.pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", kind.pattern, len(files), err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				doc, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				v, err := kind.decode(doc)
				if err != nil {
					t.Fatal(err)
				}
				var got bytes.Buffer
				enc := json.NewEncoder(&got)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				if err := enc.Encode(v); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), doc) {
					t.Errorf("encodes to\n%s\nwant\n%s", got.Bytes(), doc)
				}
			})
		}
	}
}

func decodeAs[T any](b []byte) (any, error) {
	var v T
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	return &v, dec.Decode(&v)
}

func FuzzDecodeRequest(f *testing.F) {
	seed(f, "request-*.json")
	f.Add([]byte(`{"code":"1","input":[[[[{"a":"\ud83d\ude00"}]]]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := execution.DecodeRequest(b)
		if err != nil {
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("an accepted request does not encode: %v", err)
		}
		r2, err := execution.DecodeRequest(again)
		if err != nil {
			t.Fatalf("its own encoding is refused: %v\n%s", err, again)
		}
		twice, _ := json.Marshal(r2)
		if !bytes.Equal(again, twice) {
			t.Fatalf("not stable:\n%s\n%s", again, twice)
		}
	})
}

func FuzzDecodeInvocation(f *testing.F) {
	seed(f, "invocation-*.json")
	seed(f, "request-*.json")
	f.Fuzz(func(t *testing.T, b []byte) {
		inv, err := execution.DecodeInvocation(b)
		if err != nil {
			return
		}
		if inv.Airlock != 0 && !execution.ValidID(inv.ID) {
			t.Fatalf("id %q was accepted", inv.ID)
		}
	})
}

func seed(f *testing.F, pattern string) {
	files, _ := filepath.Glob(filepath.Join("testdata", pattern))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

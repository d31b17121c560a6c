package audit_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"github.com/airlock-run/airlock/policy/audit"
)

func checkpointKeys(t testing.TB, name string) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

func someHeads(n int) []audit.Head {
	heads := make([]audit.Head, 0, n)
	for i := range n {
		heads = append(heads, audit.Head{Writer: "01JD5Z6Q8V00000000000000" +
			string([]byte{'A' + byte(i/20), 'A' + byte(i%5)}), Seq: int64(i + 1),
			Hash: strings.Repeat("0123456789abcdef", 4), ID: "exec_01JD5Z6Q8V0000000000000000"})
	}
	return heads
}

func TestCheckpoint(t *testing.T) {
	t.Parallel()
	signer, verifier := checkpointKeys(t, "example.com/audit")
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, n := range []int{0, 1, 2, 3, 5} {
		heads := someHeads(n)
		doc, err := audit.SignCheckpoint(heads, at.Add(400*time.Millisecond), signer)
		if err != nil {
			t.Fatal(err)
		}
		a, err := audit.OpenCheckpoint(doc, verifier)
		if err != nil {
			t.Fatalf("%d writers: %v\n%s", n, err, doc)
		}
		if diff := cmp.Diff(heads, append([]audit.Head{}, a.Heads...)); diff != "" || !a.At.Equal(at) {
			t.Errorf("%d writers at %v: %s", n, a.At, diff)
		}
		if lines := strings.Split(string(doc), "\n"); lines[0] != "example.com/audit" || len(lines[2]) != 44 {
			t.Errorf("not a checkpoint:\n%s", doc)
		}
	}
}

func TestCheckpointRefuses(t *testing.T) {
	t.Parallel()
	signer, verifier := checkpointKeys(t, "example.com/audit")
	other, _ := checkpointKeys(t, "example.com/audit")
	elsewhere, _ := checkpointKeys(t, "example.org/audit")
	doc, err := audit.SignCheckpoint(someHeads(3), time.Now(), signer)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(s note.Signer, text string) []byte {
		out, err := note.Sign(&note.Note{Text: text}, s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	text := string(doc[:bytes.Index(doc, []byte("\n\n"))+1])
	for name, given := range map[string][]byte{
		"nothing":                   nil,
		"text":                      []byte("hello\n"),
		"no signature":              []byte(text),
		"an altered line":           bytes.Replace(doc, []byte(" 2 "), []byte(" 1 "), 1),
		"another key":               signed(other, text),
		"another name":              signed(elsewhere, text),
		"another name in the text":  signed(signer, strings.Replace(text, ".com", ".org", 1)),
		"another number of writers": signed(signer, strings.Replace(text, "\n3\n", "\n2\n", 1)),
		"another tree":              signed(signer, strings.Replace(text, " 2 ", " 9 ", 1)),
		"no time":                   signed(signer, strings.Replace(text, "\ntime ", "\nTime ", 1)),
		"no writers' lines":         signed(signer, strings.Join(strings.Split(text, "\n")[:3], "\n")+"\n"),
	} {
		if a, err := audit.OpenCheckpoint(given, verifier); err == nil {
			t.Errorf("%s: read as %+v", name, a)
		}
	}
}

func TestParseHead(t *testing.T) {
	t.Parallel()
	h := someHeads(2)[1]
	for _, line := range []string{h.String(), strings.ReplaceAll(h.String(), " ", ":")} {
		if got, err := audit.ParseHead(line); err != nil || got != h {
			t.Errorf("%q: %+v %v", line, got, err)
		}
	}
	for _, line := range []string{
		"", "x", "01JD5Z6Q8V00000000000000AA 0 " + h.Hash, "01JD5Z6Q8V00000000000000AA 01 " + h.Hash,
		"01JD5Z6Q8V00000000000000AA -1 " + h.Hash, "../x 1 " + h.Hash,
		"01JD5Z6Q8V00000000000000AA 1 " + h.Hash[1:], "01JD5Z6Q8V00000000000000AA 1 " + strings.ToUpper(h.Hash),
		h.String() + " more",
		"01JD5Z6Q8V00000000000000AA 1 " + h.Hash + " a/b", "01JD5Z6Q8V00000000000000AA 99999999999999999999 " + h.Hash,
	} {
		if got, err := audit.ParseHead(line); err == nil {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func FuzzOpenCheckpoint(f *testing.F) {
	signer, verifier := checkpointKeys(f, "example.com/audit")
	doc, err := audit.SignCheckpoint(someHeads(3), time.Now(), signer)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(doc), true)
	f.Add("a\n0\n\ntime 2026-01-01T00:00:00Z\n", true)
	f.Add("example.com/audit\n1\nAAAA\ntime 2026-01-01T00:00:00Z\n01J 1 0 -\n", true)
	f.Fuzz(func(t *testing.T, text string, sign bool) {
		given := []byte(text)
		if sign {
			if given, err = note.Sign(&note.Note{Text: text}, signer); err != nil {
				return
			}
		}
		a, err := audit.OpenCheckpoint(given, verifier)
		if err != nil {
			return
		}
		again, err := audit.SignCheckpoint(a.Heads, a.At, signer)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := audit.OpenCheckpoint(again, verifier); err != nil || cmp.Diff(a, b) != "" {
			t.Errorf("%+v reads back as %+v: %v", a, b, err)
		}
	})
}

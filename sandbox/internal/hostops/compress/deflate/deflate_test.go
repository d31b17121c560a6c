package deflate_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox/internal/hostops/compress/deflate"
)

// inputs returns the inputs of testdata/node.js.
func inputs(t *testing.T) (names []string, by map[string][]byte) {
	t.Helper()
	by = map[string][]byte{}
	add := func(name string, data []byte) { names, by[name] = append(names, name), data }
	add("empty", nil)
	add("one", []byte("x"))
	add("text", []byte(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20)))
	add("zeros", make([]byte, 200_000))
	seed := int32(1)
	random := func(n int32) byte {
		seed = (seed*1103515245 + 12345) & 0x7fffffff
		return byte(seed >> 16 & (n - 1))
	}
	made := func(n int, f func() byte) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = f()
		}
		return out
	}
	add("noise", made(100_000, func() byte { return random(256) }))
	add("four", made(150_000, func() byte { return random(4) }))
	add("rare", made(150_000, func() byte {
		seed = (seed*1103515245 + 12345) & 0x7fffffff
		return byte(bits.LeadingZeros32(uint32(seed>>16) & 32767))
	}))
	words := make([]string, 40_000)
	for i := range words {
		words[i] = []string{"alpha", "beta", "gamma", "delta", "eta", "io", "mu", "x"}[random(8)]
	}
	add("words", []byte(strings.Join(words, " ")))
	type row struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
		V    int    `json:"v"`
	}
	rows := make([]row, 5000)
	for i := range rows {
		rows[i] = row{i, fmt.Sprintf("user%d", i), i * i % 977}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	add("json", text)
	return names, by
}

type flusher interface {
	io.WriteCloser
	Flush() error
}

type format struct {
	name string
	make func(io.Writer, int, deflate.Strategy) flusher
	open func(io.Reader) (io.Reader, error)
}

// formats are the writers by the names of testdata/node.js, with the decoders of the standard library.
var formats = []format{
	{"raw", func(w io.Writer, n int, s deflate.Strategy) flusher { return deflate.NewWriter(w, n, s) },
		func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil }},
	{"zlib", func(w io.Writer, n int, s deflate.Strategy) flusher { return deflate.NewZlib(w, n, s) },
		func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }},
	{"gzip", func(w io.Writer, n int, s deflate.Strategy) flusher { return deflate.NewGzip(w, n, s) },
		func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
}

// TestAsNode checks that the output has the bytes of Node's zlib, however the input is cut, and can be read. After a
// change of testdata/node.js: node testdata/node.js > testdata/node.txt
func TestAsNode(t *testing.T) {
	names, by := inputs(t)
	var got strings.Builder
	for _, f := range formats {
		for _, name := range names {
			first := 0
			if f.name == "raw" {
				first = 1
			} else if len(by[name]) > 1000 {
				continue
			}
			for level := first; level <= 9; level++ {
				packed := pack(t, f, by[name], level, deflate.Default)
				fmt.Fprintln(&got, f.name, name, level, printed(packed))
			}
			for strategy := deflate.Filtered; strategy <= deflate.Fixed; strategy++ {
				for _, level := range []int{0, 1, 3, 6, 9} {
					if level >= first {
						packed := pack(t, f, by[name], level, strategy)
						fmt.Fprintln(&got, f.name, name, level, strategy, printed(packed))
					}
				}
			}
		}
	}
	var out bytes.Buffer
	w := deflate.NewGzip(&out, -1, deflate.Default)
	if _, err := w.Write(by["text"]); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	write(t, w, by["text"], 1000)
	fmt.Fprintln(&got, "flushed", printed(out.Bytes()))
	want, err := os.ReadFile("testdata/node.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-Node +got\n%s", diff)
	}
}

// pack returns compressed data, which does not depend on the pieces of its input and can be read.
func pack(t *testing.T, f format, data []byte, level int, strategy deflate.Strategy) []byte {
	t.Helper()
	var whole, cut bytes.Buffer
	write(t, f.make(&whole, level, strategy), data, len(data)+1)
	write(t, f.make(&cut, level, strategy), data, 7919)
	if !bytes.Equal(whole.Bytes(), cut.Bytes()) {
		t.Errorf("%s %d %d: the output depends on the pieces of the input", f.name, level, strategy)
	}
	r, err := f.open(&cut)
	if err != nil {
		t.Fatal(f.name, level, strategy, err)
	}
	back, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(back, data) {
		t.Errorf("%s %d %d: %d bytes come back, %v", f.name, level, strategy, len(back), err)
	}
	return whole.Bytes()
}

func printed(out []byte) string { return fmt.Sprintf("%d %.8x", len(out), sha256.Sum256(out)) }

// write writes data in pieces and closes w.
func write(t *testing.T, w io.WriteCloser, data []byte, piece int) {
	t.Helper()
	for len(data) > 0 {
		n := min(piece, len(data))
		if _, err := w.Write(data[:n]); err != nil {
			t.Fatal(err)
		}
		data = data[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStored checks that level 0 keeps long data.
func TestStored(t *testing.T) {
	_, by := inputs(t)
	for _, f := range formats {
		var out bytes.Buffer
		write(t, f.make(&out, 0, deflate.Default), by["noise"], 50_001)
		r, err := f.open(&out)
		if err != nil {
			t.Fatal(f.name, err)
		}
		if back, err := io.ReadAll(r); err != nil || !bytes.Equal(back, by["noise"]) {
			t.Errorf("%s: %d bytes come back, %v", f.name, len(back), err)
		}
	}
}

// FuzzDeflate checks that whatever is compressed comes back.
func FuzzDeflate(f *testing.F) {
	f.Add([]byte("text text text"), 6, 3, 0, true)
	f.Add(bytes.Repeat([]byte("ab"), 40_000), 1, 100, 3, false)
	f.Fuzz(func(t *testing.T, data []byte, level, piece, strategy int, flushes bool) {
		var out bytes.Buffer
		w := deflate.NewWriter(&out, (level%11+11)%11-1, deflate.Strategy((strategy%5+5)%5))
		for rest := data; len(rest) > 0; {
			n := min(max(piece, 1), len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			if rest = rest[n:]; flushes {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if back, err := io.ReadAll(flate.NewReader(&out)); err != nil || !bytes.Equal(back, data) {
			t.Errorf("%d bytes come back of %d, %v", len(back), len(data), err)
		}
	})
}

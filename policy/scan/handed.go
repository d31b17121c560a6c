package scan

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"
	"maps"
	"slices"

	"github.com/airlock-run/airlock/policy/threat"
)

// handed is the form in which a process hands its scan to another one.
type handed struct {
	// Sum identifies the input.
	Sum      []byte          `json:"sum"`
	Analysis json.RawMessage `json:"analysis"`
}

// Hand returns the scan of an input that matched no pattern, for a process that trusts this one and has the same input:
// it spares that process its own scan. It holds the analysis, which must be the encoding of Result.Analysis, and not
// the telemetry. It is nil if it cannot be encoded.
func Hand(in Input, analysis json.RawMessage) []byte {
	out, err := json.Marshal(handed{Sum: in.sum(), Analysis: analysis})
	if err != nil {
		return nil
	}
	return out
}

// Handed returns the scan that b holds, if b is the scan of in.
func Handed(b []byte, in Input) (Result, bool) {
	var h struct {
		Sum      []byte          `json:"sum"`
		Analysis threat.Analysis `json:"analysis"`
	}
	if len(b) == 0 || json.Unmarshal(b, &h) != nil || string(h.Sum) != string(in.sum()) || h.Analysis.Level == "" {
		return Result{}, false
	}
	return Result{Analysis: h.Analysis}, true
}

// sum returns a hash of everything that the scan depends on. Inputs that differ only in the order of names have the
// same sum.
func (in *Input) sum() []byte {
	h := sumWriter{hash: sha256.New()}
	h.text(in.Language)
	h.text(in.Code)
	h.number(len(in.Files))
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		h.text(name)
		h.text(in.Files[name])
	}
	h.texts(slices.Sorted(slices.Values(in.Names)))
	h.texts(slices.Sorted(slices.Values(in.Globals)))
	h.texts(slices.Sorted(slices.Values(in.Powers.Modules)))
	h.texts(slices.Sorted(slices.Values(in.Powers.Packages)))
	h.texts(in.Patterns)
	for _, flag := range [...]bool{
		in.Powers.Eval, in.Powers.Network, in.Powers.ReadFiles, in.Powers.WriteFiles, in.Powers.Dormant,
		in.Syntax, in.Shallow,
	} {
		h.text(map[bool]string{true: "+", false: "-"}[flag])
	}
	return h.hash.Sum(nil)
}

// sumWriter hashes texts so that no two sequences of them are the same bytes.
type sumWriter struct {
	hash   hash.Hash
	buffer []byte
}

func (w *sumWriter) number(n int) { w.text(string(binary.BigEndian.AppendUint64(nil, uint64(n)))) }

func (w *sumWriter) texts(all []string) {
	w.number(len(all))
	for _, s := range all {
		w.text(s)
	}
}

func (w *sumWriter) text(s string) {
	w.buffer = binary.BigEndian.AppendUint64(w.buffer[:0], uint64(len(s)))
	w.buffer = append(w.buffer, s...)
	w.hash.Write(w.buffer) // a hash never fails
}

package audit

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// MaxCheckpointBytes bounds a checkpoint that is read: about 300,000 writers.
const MaxCheckpointBytes = 40 << 20

// takenAt begins the extension line that holds the time of a checkpoint.
const takenAt = "time "

// SignCheckpoint writes the heads as a checkpoint (c2sp.org/tlog-checkpoint) signed as a note (c2sp.org/signed-note):
//
//	the signer's name
//	how many writers there are
//	the RFC 6962 tree hash over the lines of the writers, in base64
//	time 2026-01-31T12:00:00Z
//	01J… 7 <64 hex> exec_…         one line for each writer, sorted: writer, number, hash and id of its newest record
//
//	— name signature
//
// The lines after the tree hash are extension lines of the format; the lines of the writers are the tree's leaves. Each
// checkpoint is independent: unlike the checkpoints of a transparency log, a later one does not extend an earlier one.
func SignCheckpoint(heads []Head, at time.Time, signer note.Signer) ([]byte, error) {
	lines := make([]string, 0, len(heads))
	for _, h := range heads {
		line := h.String()
		if again, err := ParseHead(line); err != nil || again != h {
			return nil, fmt.Errorf("writer %.40q cannot be part of a checkpoint", h.Writer)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	root, err := treeHash(lines)
	if err != nil {
		return nil, err
	}
	text := signer.Name() + "\n" + strconv.Itoa(len(lines)) + "\n" + base64.StdEncoding.EncodeToString(root[:]) + "\n" +
		takenAt + at.UTC().Truncate(time.Second).Format(time.RFC3339) + "\n"
	if len(lines) > 0 {
		text += strings.Join(lines, "\n") + "\n"
	}
	return note.Sign(&note.Note{Text: text}, signer)
}

// OpenCheckpoint verifies the signature of a checkpoint by a key that the verifier has, and parses it. The error says
// what is wrong with it.
func OpenCheckpoint(doc []byte, verifier note.Verifier) (Anchor, error) {
	if len(doc) > MaxCheckpointBytes {
		return Anchor{}, fmt.Errorf("has %d bytes; at most %d are read", len(doc), MaxCheckpointBytes)
	}
	n, err := note.Open(doc, note.VerifierList(verifier))
	unverified := (*note.UnverifiedNoteError)(nil)
	invalid := (*note.InvalidSignatureError)(nil)
	switch {
	case errors.As(err, &invalid):
		return Anchor{}, fmt.Errorf("has an invalid signature of %s: it was altered", verifier.Name())
	case errors.As(err, &unverified):
		return Anchor{}, fmt.Errorf("is not signed by %s with this key", verifier.Name())
	case err != nil:
		return Anchor{}, errors.New("is not a signed checkpoint")
	}
	lines := strings.Split(strings.TrimSuffix(n.Text, "\n"), "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return Anchor{}, errors.New("is not a checkpoint of the signer's own records")
	}
	at, err := time.Parse(time.RFC3339, strings.TrimPrefix(lines[3], takenAt))
	if err != nil || !strings.HasPrefix(lines[3], takenAt) {
		return Anchor{}, errors.New("has no time in its fourth line")
	}
	leaves := lines[4:]
	if strconv.Itoa(len(leaves)) != lines[1] {
		return Anchor{}, fmt.Errorf("claims %.20q writers but has %d", lines[1], len(leaves))
	}
	root, err := treeHash(leaves)
	if err != nil {
		return Anchor{}, err
	}
	if base64.StdEncoding.EncodeToString(root[:]) != lines[2] {
		return Anchor{}, errors.New("has a tree hash that is not the one of its writers")
	}
	a := Anchor{At: at.UTC(), Heads: make([]Head, 0, len(leaves))}
	for i, line := range leaves {
		h, err := ParseHead(line)
		if err != nil || h.String() != line || i > 0 && leaves[i-1] >= line {
			return Anchor{}, fmt.Errorf("has no writer, or one out of order, in line %d", i+5)
		}
		a.Heads = append(a.Heads, h)
	}
	return a, nil
}

// treeHash returns the Merkle tree hash of RFC 6962 over lines. For no lines it is the hash of nothing.
func treeHash(lines []string) (tlog.Hash, error) {
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, 0, len(indexes))
		for _, i := range indexes {
			if i < 0 || i >= int64(len(stored)) {
				return nil, errors.New("the tree has no such hash")
			}
			out = append(out, stored[i])
		}
		return out, nil
	})
	for n, line := range lines {
		more, err := tlog.StoredHashes(int64(n), []byte(line), read)
		if err != nil {
			return tlog.Hash{}, fmt.Errorf("hash the checkpoint: %w", err)
		}
		stored = append(stored, more...)
	}
	root, err := tlog.TreeHash(int64(len(lines)), read)
	if err != nil {
		return tlog.Hash{}, fmt.Errorf("hash the checkpoint: %w", err)
	}
	return root, nil
}

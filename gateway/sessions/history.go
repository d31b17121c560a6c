package sessions

import (
	"encoding/binary"
	"slices"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/waits"
)

// The states of earlier steps are kept for forks: at most maxKept, and at most maxKeptBytes in total, because each step
// writes all of them again.
const (
	maxKept      = 8
	maxKeptBytes = 256 << 10
)

// A step is the encrypted snapshot of a session after a step.
type step struct {
	number int
	sealed []byte
}

// A history is the last steps of a session, in their order. Encoded, it is
//
//	4 bytes  "ALH1"
//	for each step:
//	4 bytes  its number, big-endian
//	4 bytes  the length of its snapshot, big-endian
//	         the snapshot
//
// The encryption binds each snapshot to its number.
type history []step

const historyMagic = "ALH1"

func (h history) encode() []byte {
	out := []byte(historyMagic)
	for _, s := range h {
		out = binary.BigEndian.AppendUint32(out, uint32(s.number))
		out = binary.BigEndian.AppendUint32(out, uint32(len(s.sealed)))
		out = append(out, s.sealed...)
	}
	return out
}

// decodeHistory decodes what is stored for a session with a number of completed steps. The error is waits.ErrSealed if
// it is not a history of such a session. A session of an older version has the snapshot of its last step alone.
func decodeHistory(stored []byte, steps int) (history, error) {
	if len(stored) == 0 && steps == 0 {
		return nil, nil
	}
	if len(stored) < len(historyMagic) || string(stored[:len(historyMagic)]) != historyMagic {
		return history{{steps, stored}}, nil
	}
	var h history
	for rest := stored[len(historyMagic):]; len(rest) > 0; {
		if len(rest) < 8 {
			return nil, waits.ErrSealed
		}
		number, size := int(binary.BigEndian.Uint32(rest)), int(binary.BigEndian.Uint32(rest[4:]))
		if rest = rest[8:]; size > len(rest) || len(h) > 0 && number != h[len(h)-1].number+1 {
			return nil, waits.ErrSealed
		}
		h = append(h, step{number, rest[:size:size]})
		rest = rest[size:]
	}
	if len(h) == 0 || h[0].number < 1 || h[len(h)-1].number != steps {
		return nil, waits.ErrSealed
	}
	return h, nil
}

// of returns the snapshot of a step; nil if it is not kept.
func (h history) of(number int) []byte {
	for _, s := range h {
		if s.number == number {
			return s.sealed
		}
	}
	return nil
}

// add returns the history after another step, without the steps that are too old to keep.
func (h history) add(last step) history {
	first, size := len(h), 0
	for first > 0 && len(h)-first < maxKept {
		if size += len(h[first-1].sealed); size > maxKeptBytes {
			break
		}
		first--
	}
	return append(slices.Clone(h[first:]), last)
}

// earliest returns the number of the first step of a session whose state is kept; 0 if the session has no steps.
func earliest(job execution.Job) int { return job.Wait.Segment - job.Wait.Session.Kept }

package waits

import (
	"errors"
	"slices"

	"github.com/airlock-run/airlock/functions/execution"
)

// longAnswers is the size from which answers are kept behind the snapshot. An answer may have a megabyte, and on its
// way into the next segment the job is written three times and read more often, the snapshot once.
const longAnswers = 16 << 10

// ErrApart reports that a change needs the snapshot of a job, and the job was read without it.
var ErrApart = errors.New("the job was read without its snapshot")

// inside returns the size of the answers that are in the job itself.
func inside(w *execution.Wait) (n int) {
	for _, p := range w.Pending {
		if p.Answer != nil {
			n += len(p.Answer.Args) + len(p.Answer.Value)
		}
	}
	return n
}

// holdsMuch reports whether a job would hold too much if answers of a size were in it.
func holdsMuch(w *execution.Wait, size int) bool { return size > 0 && inside(w)+size >= longAnswers }

// isHere returns ErrApart if a job was read without its snapshot.
func isHere(j *execution.Job) error {
	if len(j.Snapshot) == 0 && j.SnapshotBytes > 0 {
		return ErrApart
	}
	return nil
}

// putApart appends the answer of p, which is in w, to the snapshot of a job. It may write behind
// the end of the snapshot.
func putApart(j *execution.Job, w *execution.Wait, p *execution.Pending) {
	answer, verdict := *p.Answer, *p.Verdict
	if len(j.Snapshot) == 0 || len(answer.Args)+len(answer.Value) == 0 {
		return
	}
	if w.Sealed == 0 {
		w.Sealed = len(j.Snapshot)
	}
	p.Apart = &execution.Apart{From: len(j.Snapshot), Args: len(answer.Args), Value: len(answer.Value)}
	j.Snapshot = append(append(j.Snapshot, answer.Args...), answer.Value...)
	verdict.ArgsSHA256, verdict.ValueSHA256 = sum(verdict.Args), sum(verdict.Value)
	answer.Args, answer.Value, verdict.Args, verdict.Value = nil, nil, nil, nil
	p.Answer, p.Verdict = &answer, &verdict
}

// answerOf returns the answer of p, whose arguments and value may be behind a snapshot.
func answerOf(p execution.Pending, snapshot []byte) (execution.Answer, error) {
	answer, at := *p.Answer, p.Apart
	if at == nil {
		return answer, nil
	}
	if at.From < 0 || at.Args < 0 || at.Value < 0 || at.From > len(snapshot) ||
		at.Args > len(snapshot)-at.From || at.Value > len(snapshot)-at.From-at.Args {
		return answer, ErrSealed
	}
	here := snapshot[at.From : at.From+at.Bytes()]
	if at.Args > 0 {
		answer.Args = slices.Clip(here[:at.Args])
	}
	if at.Value > 0 {
		answer.Value = slices.Clip(here[at.Args:])
	}
	return answer, nil
}

// Carry returns the snapshot of a job that Park has just left: what was encrypted, and behind it the answers that the
// job keeps of those behind the snapshot before. The error is ErrApart if the job was read without that.
func Carry(w *execution.Wait, before, sealed []byte) ([]byte, error) {
	w.Sealed, w.Key = 0, ""
	if head, ok := headOf(sealed); ok {
		w.Key = string(head[len(magic)+1:])
	}
	out := slices.Clip(sealed)
	for i := range w.Pending {
		p := &w.Pending[i]
		if p.Apart == nil {
			continue
		}
		if len(before) == 0 {
			return nil, ErrApart
		}
		answer, err := answerOf(*p, before)
		if err != nil {
			return nil, err
		}
		w.Sealed = len(sealed)
		p.Apart = &execution.Apart{From: len(out), Args: len(answer.Args), Value: len(answer.Value)}
		out = append(append(out, answer.Args...), answer.Value...)
	}
	return out, nil
}

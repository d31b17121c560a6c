package waits

import (
	"errors"
	"slices"

	"github.com/airlock-run/airlock/functions/execution"
)

// ErrApart reports that a change needs the snapshot of a job, and the job was read without it. Jobs need theirs that
// older versions stored.
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

// isHere returns ErrApart if a job was read without its snapshot.
func isHere(j *execution.Job) error {
	if len(j.Snapshot) == 0 && j.SnapshotBytes > 0 {
		return ErrApart
	}
	return nil
}

// brief returns a verdict with the hashes of what is long in it: the answer has that.
func brief(v execution.Verdict) *execution.Verdict {
	if len(v.Args)+len(v.Value) >= execution.LongValue {
		v.ArgsSHA256, v.ValueSHA256 = sum(v.Args), sum(v.Value)
		v.Args, v.Value = nil, nil
	}
	return &v
}

// answerOf returns the answer of p, whose arguments and value may be behind a snapshot. The error is ErrSealed if they
// are not those of the verdict.
func answerOf(p execution.Pending, snapshot []byte) (execution.Answer, error) {
	answer, at := *p.Answer, p.Apart
	if at != nil {
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
	}
	if v := p.Verdict; v != nil {
		if v.ArgsSHA256 != "" && v.ArgsSHA256 != sum(answer.Args) ||
			v.ValueSHA256 != "" && v.ValueSHA256 != sum(answer.Value) {
			return answer, ErrSealed
		}
	}
	return answer, nil
}

// Carry puts into a job that Park has just left, with a new snapshot, the answers that the job keeps of those behind
// the snapshot before. The error is ErrApart if the job was read without that.
func Carry(w *execution.Wait, before, sealed []byte) error {
	w.Sealed, w.Key = 0, ""
	if head, ok := headOf(sealed); ok {
		w.Key = string(head[len(magic)+1:])
	}
	for i := range w.Pending {
		p := &w.Pending[i]
		if p.Apart == nil {
			continue
		}
		if len(before) == 0 {
			return ErrApart
		}
		answer, err := answerOf(*p, before)
		if err != nil {
			return err
		}
		p.Answer, p.Apart = &answer, nil
	}
	return nil
}

package share

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/airlock-run/airlock/functions/execution"
)

// elsewhere is the From of the answers that are beside a document. Versions that look for them behind the snapshot end
// the execution with an error instead of continuing it with another answer.
const elsewhere = 1 << 40

// instead stands in a document for what is beside it. Only versions that do not look beside documents show it.
const instead = `"stored beside the job"`

// The fields of an operation whose values may be beside the document.
const (
	ofArgs = iota
	ofSchema
	ofAnswerArgs
	ofAnswerValue
)

// EncodeJob encodes a job without what is stored separately. The values of at least execution.LongValue bytes that it
// waits for, and that answer it, are in aside, as they are: a job is written several times, they change once. Nobody
// needs them when the job has ended.
func EncodeJob(j execution.Job) (doc []byte, aside execution.Stored, err error) {
	j, aside = split(j)
	doc, err = Encode(j)
	return doc, aside, err
}

// Aside returns what EncodeJob returns aside.
func Aside(j execution.Job) execution.Stored {
	_, aside := split(j)
	return aside
}

// split returns a job without its long values, and these: for each a line with the number of the operation, a field and
// a size, and that many bytes.
func split(j execution.Job) (execution.Job, execution.Stored) {
	if j.Wait == nil {
		return j, nil
	}
	var aside execution.Stored
	wait := j.Wait.Clone()
	wait.Aside = 0
	for i := range wait.Pending {
		p := &wait.Pending[i]
		take := func(field int, value *[]byte, mark string) {
			if len(*value) < execution.LongValue {
				return
			}
			if j.Ended() {
				*value = nil
				return
			}
			head := strconv.AppendInt(nil, int64(p.Seq), 10)
			head = strconv.AppendInt(append(head, ' '), int64(field), 10)
			head = append(strconv.AppendInt(append(head, ' '), int64(len(*value)), 10), '\n')
			aside = append(aside, head, *value)
			wait.Aside += len(head) + len(*value)
			if *value = nil; mark != "" {
				*value = []byte(mark)
			}
		}
		take(ofArgs, (*[]byte)(&p.Args), instead)
		take(ofSchema, (*[]byte)(&p.Schema), instead)
		if p.Answer == nil || p.Apart != nil {
			continue
		}
		answer, before := *p.Answer, len(aside)
		at := execution.Apart{From: elsewhere, Args: len(answer.Args), Value: len(answer.Value)}
		take(ofAnswerArgs, (*[]byte)(&answer.Args), "")
		take(ofAnswerValue, (*[]byte)(&answer.Value), "")
		if p.Answer = &answer; len(aside) > before {
			p.Apart = &at
		}
	}
	j.Wait = wait
	return j, aside
}

// ErrAside reports that a document and what is beside it do not belong together.
var ErrAside = fmt.Errorf("%w: what is stored beside a job is not what the job has", execution.ErrContentLost)

// DecodeRequest decodes the stored request of a job. The error is [execution.ErrContentLost] if it is damaged.
func DecodeRequest(b []byte) (execution.Request, error) {
	r, err := execution.DecodeStored(b)
	if err != nil {
		err = fmt.Errorf("%w: the request of a job: %w", execution.ErrContentLost, err)
	}
	return r, err
}

// DecodeAlone decodes a document without what was beside it, which is lost. The job can be shown and can end; its
// Wait.Lost is set.
func DecodeAlone(doc []byte) (j execution.Job, err error) {
	if err := Decode(doc, &j); err != nil || j.Wait == nil {
		return j, err
	}
	j.Wait.Aside, j.Wait.Lost = 0, true
	for i := range j.Wait.Pending {
		p := &j.Wait.Pending[i]
		if p.Apart != nil && p.Apart.From == elsewhere {
			p.Apart = nil
		}
		if string(p.Schema) == instead { // no answer fits that, and the loss is what prevents an answer
			p.Schema = nil
		}
	}
	return j, nil
}

// MayWrite returns [execution.ErrContentLost] for a job whose values are lost, unless it ends.
func MayWrite(j execution.Job) error {
	if j.Wait == nil || !j.Wait.Lost || j.Ended() || j.Wait.Ending != nil {
		return nil
	}
	return &execution.StoreError{Fault: execution.StoreLost, Err: fmt.Errorf("job %s: %w", j.ID, ErrAside)}
}

// DecodeJob decodes what EncodeJob encoded, or what older versions did. The error is ErrAside for a document that was
// read with something else beside it.
func DecodeJob(doc, aside []byte) (j execution.Job, err error) {
	if err := Decode(doc, &j); err != nil || j.Wait == nil {
		return j, err
	}
	w := j.Wait
	if n := w.Aside; n != 0 && n != len(aside) { // a version that knows nothing of it drops the number
		return j, ErrAside
	}
	w.Aside = 0
	if len(aside) > 0 {
		if err := join(w, aside); err != nil {
			return j, err
		}
	}
	for _, p := range w.Pending {
		if p.Apart != nil && p.Apart.From == elsewhere {
			return j, ErrAside
		}
	}
	return j, nil
}

// join puts values into the operations of a job that they belong to. A version that knows nothing of them leaves those
// behind whose operations have ended.
func join(w *execution.Wait, aside []byte) error {
	at := map[int]*execution.Pending{}
	for i := range w.Pending {
		at[w.Pending[i].Seq] = &w.Pending[i]
	}
	for len(aside) > 0 {
		head, _, ok := bytes.Cut(aside[:min(len(aside), 64)], []byte("\n"))
		var seq, field, size int
		if n, err := fmt.Sscanf(string(head), "%d %d %d", &seq, &field, &size); !ok || n != 3 || err != nil {
			return ErrAside
		}
		rest := aside[len(head)+1:]
		if size < 0 || size > len(rest) {
			return ErrAside
		}
		value := rest[:size:size]
		aside = rest[size:]
		p := at[seq]
		if p == nil {
			continue
		}
		put(p, field, value)
	}
	for _, p := range at {
		if a := p.Apart; a != nil && a.From == elsewhere && p.Answer != nil && len(p.Answer.Args) == a.Args &&
			len(p.Answer.Value) == a.Value {
			p.Apart = nil
		}
	}
	return nil
}

func put(p *execution.Pending, field int, value []byte) {
	answered := p.Answer != nil && p.Apart != nil && p.Apart.From == elsewhere
	switch {
	case field == ofArgs:
		p.Args = value
	case field == ofSchema:
		p.Schema = value
	case field == ofAnswerArgs && answered:
		p.Answer.Args = value
	case field == ofAnswerValue && answered:
		p.Answer.Value = value
	}
}

// Same reports whether parts are the same bytes as others.
func Same(parts execution.Stored, as []byte) bool {
	for _, part := range parts {
		if len(part) > len(as) || !bytes.Equal(part, as[:len(part)]) {
			return false
		}
		as = as[len(part):]
	}
	return len(as) == 0
}

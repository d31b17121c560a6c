package gateway

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/results"
)

// pureResults are the results that identical executions return, by their identity.
type pureResults struct {
	*results.Store[execution.Result]
	generation func() uint64 // that of Functions; may be nil
}

func newPureResults(cfg Config, generation func() uint64) (pureResults, error) {
	kept, err := results.New[execution.Result](cfg.Results.Most, cfg.Results.Bytes)
	return pureResults{kept, generation}, err
}

// key returns the key of an execution with an identity. It is "" if that is.
func (p pureResults) key(identity string) string {
	if identity == "" || p.generation == nil {
		return identity
	}
	return string(binary.BigEndian.AppendUint64([]byte(identity), p.generation()))
}

// identity returns what equal executions share: the same tenant, request and grants. It is "" for an execution whose
// result may not be reused.
func (r *run) identity() string {
	q := r.Request
	if q.Debug != nil {
		return ""
	}
	q.Priority = ""
	content := r.Content // it stands for the sources
	if content == "" {
		content = "sources " + r.sources
	}
	q = q.WithSources(execution.Sources{})
	input := q.Input // encoding it again takes ten times as long as its hash
	q.Input = nil
	request, err := api.Encode(q)
	if err != nil {
		return ""
	}
	h := sha256.New()
	h.Write([]byte(r.Caller.Tenant + "\x00" + content + "\x00"))
	h.Write(api.Raw(r.decision.Grants))
	h.Write([]byte{0})
	h.Write(request) // one line
	h.Write(input)
	return string(h.Sum(nil))
}

// reuse returns the result of an earlier identical execution if that was pure. The new execution has its own id and
// record.
func (e *executor) reuse(r *run) (execution.Result, bool) {
	if r.Fresh || r.Resume != nil && r.Resume.Segment > 1 {
		return execution.Result{}, false
	}
	r.reuseKey = e.pure.key(r.identity())
	result, ok := e.pure.Get(r.reuseKey)
	if !ok {
		return execution.Result{}, false
	}
	r.reused = result.ID
	result.Cached, result.Usage.QueueMs = true, 0
	r.admit()
	if r.OnLog != nil {
		for _, l := range result.Logs {
			r.OnLog(l)
		}
	}
	return result, true
}

// keepPure keeps a result that every identical execution would have: the execution touched nothing outside, and no
// limit of time or space, which depend on the machine, ended it.
func (e *executor) keepPure(r *run, result execution.Result, size int) {
	if r.reuseKey == "" || !result.Pure || result.Cached || result.Limit != nil {
		return
	}
	if result.Status == execution.Completed || result.Status == execution.Failed {
		e.pure.Put(r.Caller.Owner(), r.reuseKey, result, size)
	}
}

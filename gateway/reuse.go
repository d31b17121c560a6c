package gateway

import (
	"crypto/sha256"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// identity returns a key that equal executions share: the same tenant, request and grants. It is "" for an execution
// whose result may not be reused.
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
	request, err := api.Encode(q)
	if err != nil {
		return ""
	}
	h := sha256.New()
	h.Write([]byte(r.Caller.Tenant + "\x00" + content + "\x00"))
	h.Write(api.Raw(r.decision.Grants))
	h.Write([]byte{0})
	h.Write(request)
	return string(h.Sum(nil))
}

// reuse returns the result of an earlier identical execution if that was pure. The new execution has its own id and
// record.
func (e *executor) reuse(r *run) (execution.Result, bool) {
	if r.Fresh {
		return execution.Result{}, false
	}
	r.reuseKey = r.identity()
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

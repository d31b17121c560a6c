package gateway

import (
	"crypto/sha256"

	"github.com/airlock-run/airlock/functions/execution"
)

// known is the result of a pure execution, kept for identical requests.
type known struct {
	result execution.Result
}

// reuseKey tells executions apart that must come to the same: the same tenant, request and grants. "" is never reused.
func (r *run) reuseKey() string {
	q := r.job.Request
	if q.Debug != nil {
		return ""
	}
	q.Priority = ""
	if r.job.Content != "" { // it stands for the sources
		q = q.WithSources(execution.Sources{})
	}
	request, err := encode(q)
	if err != nil {
		return ""
	}
	h := sha256.New()
	h.Write([]byte(r.job.Caller.Tenant + "\x00" + r.job.Content + "\x00"))
	h.Write(raw(r.decision.Grants))
	h.Write([]byte{0})
	h.Write(request)
	return string(h.Sum(nil))
}

// reuse gives the result of an identical execution before, when that was pure. The new one has its own id and record.
func (s *Server) reuse(r *run) (execution.Result, bool) {
	if r.job.Fresh {
		return execution.Result{}, false
	}
	r.key = r.reuseKey()
	k, ok := s.pure.Get(r.key)
	if !ok {
		return execution.Result{}, false
	}
	result := k.result
	r.reused = result.ID
	result.Cached, result.Usage.QueueMs = true, 0
	r.admitted()
	if r.job.OnLog != nil {
		for _, l := range result.Logs {
			r.job.OnLog(l)
		}
	}
	return result, true
}

// learn keeps a result that any identical request would come to: nothing outside was touched, and no cap of time or
// space, which depend on the machine, ended it.
func (s *Server) learn(r *run, result execution.Result, size int) {
	if r.key == "" || !result.Pure || result.Cached || result.Limit != nil {
		return
	}
	if result.Status == execution.Completed || result.Status == execution.Failed {
		s.pure.Put(r.job.Caller.Owner(), r.key, known{result}, size)
	}
}

package gateway

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// ongoing is an execution that waits for its place or runs.
type ongoing struct {
	ID         string                 `json:"id"`
	State      string                 `json:"state"` // waiting, running
	ReceivedAt time.Time              `json:"receivedAt"`
	Tenant     string                 `json:"tenant,omitempty"`
	Subject    string                 `json:"subject,omitempty"`
	Policy     string                 `json:"policy"`
	Via        string                 `json:"via"`
	Function   *execution.FunctionRef `json:"function,omitempty"`
}

// activity is what goes on now. The zero value is ready, and safe for concurrent use.
type activity struct {
	mu      sync.Mutex
	all     map[string]ongoing
	changed chan struct{} // closed with the next change; nil while nobody waits for it
	over    bool
}

// begin says that an execution waits.
func (a *activity) begin(r *run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string]ongoing{}
	}
	a.all[r.id] = ongoing{
		ID: r.id, State: "waiting", ReceivedAt: r.job.ReceivedAt.UTC(), Tenant: r.job.Caller.Tenant, Subject: r.job.Caller.Subject,
		Policy: r.decision.Tier, Via: r.job.Via, Function: r.job.Function,
	}
	a.notify()
}

// running says that it has its place.
func (a *activity) running(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.all[id]; ok {
		o.State = "running"
		a.all[id] = o
		a.notify()
	}
}

// end says that it has ended, however it did.
func (a *activity) end(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, id)
	a.notify()
}

// happened says that something ended that did not go on here.
func (a *activity) happened() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notify()
}

// close says that nothing more is to be waited for.
func (a *activity) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	a.notify()
}

func (a *activity) notify() {
	if a.changed != nil {
		close(a.changed)
		a.changed = nil
	}
}

// next gives a channel that is closed when something changes; over is true when nothing will.
func (a *activity) next() (changed <-chan struct{}, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changed == nil {
		a.changed = make(chan struct{})
	}
	return a.changed, a.over
}

// list gives what goes on for a tenant ("" for all), oldest first, most at the limit.
func (a *activity) list(tenant string, limit int) []ongoing {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := []ongoing{}
	for _, o := range a.all {
		if tenant == "" || o.Tenant == tenant {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b ongoing) int { return strings.Compare(a.ID, b.ID) })
	return out[:min(len(out), limit)]
}

package dashboard

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// Ongoing is an execution that waits for its place or runs.
type Ongoing struct {
	ID         string                 `json:"id"`
	State      string                 `json:"state"` // waiting, running
	ReceivedAt time.Time              `json:"receivedAt"`
	Tenant     string                 `json:"tenant,omitempty"`
	Subject    string                 `json:"subject,omitempty"`
	Policy     string                 `json:"policy"`
	Via        string                 `json:"via"`
	Function   *execution.FunctionRef `json:"function,omitempty"`
}

// Activity is the set of executions that wait or run now. The zero value is ready for use. It is safe for concurrent
// use.
type Activity struct {
	mu      sync.Mutex
	all     map[string]Ongoing
	changed chan struct{} // closed at the next change; nil while nobody waits for it
	closed  bool
}

// Waiting adds an execution that waits for its place.
func (a *Activity) Waiting(s api.Submission, tier string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string]Ongoing{}
	}
	a.all[s.ID] = Ongoing{
		ID: s.ID, State: "waiting", ReceivedAt: s.ReceivedAt.UTC(), Tenant: s.Caller.Tenant, Subject: s.Caller.Subject,
		Policy: tier, Via: s.Via, Function: s.Function,
	}
	a.notify()
}

// Running notes that an execution has its place.
func (a *Activity) Running(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.all[id]; ok {
		o.State = "running"
		a.all[id] = o
		a.notify()
	}
}

// Ended removes an execution.
func (a *Activity) Ended(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, id)
	a.notify()
}

// Changed notes that something changed that is not in the set, such as the records.
func (a *Activity) Changed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notify()
}

// Close notes that nothing changes any more.
func (a *Activity) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.notify()
}

func (a *Activity) notify() {
	if a.changed != nil {
		close(a.changed)
		a.changed = nil
	}
}

// next returns a channel that is closed at the next change. closed reports that there will be none.
func (a *Activity) next() (changed <-chan struct{}, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changed == nil {
		a.changed = make(chan struct{})
	}
	return a.changed, a.closed
}

// list returns the executions of a tenant ("" for all), oldest first, at most limit.
func (a *Activity) list(tenant string, limit int) []Ongoing {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := []Ongoing{}
	for _, o := range a.all {
		if tenant == "" || o.Tenant == tenant {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b Ongoing) int { return strings.Compare(a.ID, b.ID) })
	return out[:min(len(out), limit)]
}

package records

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// verifiedFor is how long a verification counts as recent. After that, looking at it begins the next one.
	verifiedFor   = time.Hour
	namedProblems = 20
)

// A ChainVerifier is a store that verifies the chains of its own records. A Store may implement it.
type ChainVerifier interface {
	Verify(ctx context.Context) (audit.Report, error)
}

// Verification is the outcome of the last verification.
type Verification struct {
	// State is never, sound, broken (Problems say how), failed (the records could not be read) or unsupported.
	State      string     `json:"state"`
	Running    bool       `json:"running"`
	CheckedAt  *time.Time `json:"checkedAt"`
	DurationMs int64      `json:"durationMs"`
	Records    int64      `json:"records"`
	Writers    int        `json:"writers"`
	Count      int        `json:"problemCount"`
	// Anchors are what the chains were compared with besides the store's own account.
	Anchors []audit.Anchored `json:"anchors"`
	// Problems are the first 20. A reader of one tenant's records sees none.
	Problems []audit.Problem `json:"problems"`
}

// A Verifier verifies the chains in the background, one verification at a time. It is safe for concurrent use.
type Verifier struct {
	verify func(context.Context) (audit.Report, error) // nil if the store cannot
	now    func() time.Time
	log    *slog.Logger
	notify func()

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
	mu   sync.Mutex
	last Verification
}

// NewVerifier returns a Verifier that calls verify or, if that is nil, the store if it is a ChainVerifier. notify is
// called after each verification.
func NewVerifier(
	verify func(context.Context) (audit.Report, error), store Store, now func() time.Time, log *slog.Logger, notify func(),
) *Verifier {
	v := &Verifier{verify: verify, now: now, log: log, notify: notify}
	if chains, ok := store.(ChainVerifier); ok && verify == nil {
		v.verify = chains.Verify
	}
	v.last = Verification{State: "unsupported", Anchors: []audit.Anchored{}, Problems: []audit.Problem{}}
	if v.verify != nil {
		v.last.State = "never"
	}
	v.ctx, v.stop = context.WithCancel(context.Background())
	return v
}

// Close cancels a verification that runs.
func (v *Verifier) Close() {
	v.mu.Lock()
	v.stop()
	v.mu.Unlock()
	v.work.Wait()
}

// Refresh begins a verification if the last one is not recent.
func (v *Verifier) Refresh() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last.CheckedAt == nil || v.now().Sub(*v.last.CheckedAt) > verifiedFor {
		v.begin()
	}
}

// start begins a verification unless one runs.
func (v *Verifier) start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.begin()
}

func (v *Verifier) begin() {
	if v.verify == nil || v.last.Running || v.ctx.Err() != nil {
		return
	}
	v.last.Running = true
	began := v.now()
	v.work.Go(func() {
		report, err := v.verify(v.ctx)
		done := v.now().UTC()
		next := Verification{
			State: "sound", CheckedAt: &done, DurationMs: done.Sub(began).Milliseconds(),
			Records: report.Records, Writers: report.Writers,
		}
		next.Anchors = append([]audit.Anchored{}, report.Anchors...)
		next.Count = len(report.Problems) + report.Omitted
		next.Problems = append([]audit.Problem{}, report.Problems[:min(len(report.Problems), namedProblems)]...)
		switch {
		case err != nil:
			next.State = "failed"
			if v.ctx.Err() == nil {
				v.log.Warn("the chains of the records could not be verified", "error", err)
			}
		case !report.OK():
			next.State = "broken"
			v.log.Error("the chains of the records do not verify",
				"problems", next.Count, "first", report.Problems[0].String())
		}
		v.mu.Lock()
		v.last = next
		v.mu.Unlock()
		v.notify()
	})
}

// State returns the outcome of the last verification. Its problems name records of every tenant, and are left out
// unless all is set.
func (v *Verifier) State(all bool) Verification {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.last
	if !all {
		known.Problems = []audit.Problem{}
	}
	return known
}

// Verification serves GET /api/audit/verification.
func (h *Handlers) Verification(c *fiber.Ctx) error {
	return api.Send(c, h.Verifier.State(api.CallerOf(c).May(authn.AuditReadAll)))
}

// Verify serves POST /api/audit/verification: it begins a verification of all records unless one runs.
func (h *Handlers) Verify(c *fiber.Ctx) error {
	if h.Verifier.verify == nil {
		return &api.Problem{
			Status: 501, Detail: "this store of records cannot be verified from here; use airlock audit verify",
		}
	}
	h.Verifier.start()
	c.Status(fiber.StatusAccepted)
	return api.Send(c, h.Verifier.State(true))
}

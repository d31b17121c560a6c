package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// verifiedFor is how long a verification is looked at before the next one begins by itself.
	verifiedFor   = time.Hour
	namedProblems = 20
)

// Verifier is what Records may be besides: a store that checks the chains of its own records.
type Verifier interface {
	Verify(ctx context.Context) (audit.Report, error)
}

// verifierFunc is a Verifier of one function.
type verifierFunc func(ctx context.Context) (audit.Report, error)

// Verify implements Verifier.
func (f verifierFunc) Verify(ctx context.Context) (audit.Report, error) { return f(ctx) }

// verification is the state of the chains as it was last looked at.
type verification struct {
	// State: never, sound, broken (Problems say how), failed (they could not be read), unsupported.
	State      string     `json:"state"`
	Running    bool       `json:"running"`
	CheckedAt  *time.Time `json:"checkedAt"`
	DurationMs int64      `json:"durationMs"`
	Records    int64      `json:"records"`
	Writers    int        `json:"writers"`
	Count      int        `json:"problemCount"`
	// Anchors are what the chains were held against besides the store's own account; empty where nothing was.
	Anchors  []audit.Anchored `json:"anchors"`
	Problems []audit.Problem  `json:"problems"` // the first 20; none for who reads one tenant's records only
}

// verifier checks the chains in the background, one verification at a time. It is safe for concurrent use.
type verifier struct {
	of     Verifier // nil when the store cannot
	now    func() time.Time
	log    *slog.Logger
	notify func()

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
	mu   sync.Mutex
	last verification
}

func newVerifier(deps Deps, notify func()) *verifier {
	v := &verifier{now: deps.Now, log: deps.Logger, notify: notify, last: verification{State: "unsupported", Anchors: []audit.Anchored{}, Problems: []audit.Problem{}}}
	if deps.Verify != nil {
		v.of, v.last.State = verifierFunc(deps.Verify), "never"
	} else if of, ok := deps.Records.(Verifier); ok {
		v.of, v.last.State = of, "never"
	}
	v.ctx, v.stop = context.WithCancel(context.Background())
	return v
}

// close gives up what runs.
func (v *verifier) close() {
	v.mu.Lock()
	v.stop()
	v.mu.Unlock()
	v.work.Wait()
}

// refresh begins a verification when the last one is old.
func (v *verifier) refresh() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last.CheckedAt == nil || v.now().Sub(*v.last.CheckedAt) > verifiedFor {
		v.begin()
	}
}

// start begins one, unless one runs.
func (v *verifier) start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.begin()
}

func (v *verifier) begin() {
	if v.of == nil || v.last.Running || v.ctx.Err() != nil {
		return
	}
	v.last.Running = true
	began := v.now()
	v.work.Go(func() {
		report, err := v.of.Verify(v.ctx)
		done := v.now().UTC()
		next := verification{State: "sound", CheckedAt: &done, DurationMs: done.Sub(began).Milliseconds(), Records: report.Records, Writers: report.Writers}
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
			v.log.Error("the chains of the records do not verify", "problems", next.Count, "first", report.Problems[0].String())
		}
		v.mu.Lock()
		v.last = next
		v.mu.Unlock()
		v.notify()
	})
}

// state is what is known. The problems name records of every tenant.
func (v *verifier) state(all bool) verification {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.last
	if !all {
		known.Problems = []audit.Problem{}
	}
	return known
}

// verification is GET /api/audit/verification.
func (s *Server) verification(c *fiber.Ctx) error {
	return s.send(c, s.verifier.state(callerOf(c).May(authn.AuditReadAll)))
}

// verify is POST /api/audit/verification: it begins one, unless one runs. All records are read.
func (s *Server) verify(c *fiber.Ctx) error {
	if s.verifier.of == nil {
		return &problem{status: 501, detail: "this store of records cannot be verified from here; use airlock audit verify"}
	}
	s.verifier.start()
	c.Status(fiber.StatusAccepted)
	return s.send(c, s.verifier.state(true))
}

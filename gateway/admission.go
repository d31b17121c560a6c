package gateway

import (
	"context"
	"runtime"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/turns"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

// fairDecider asks the policy and has the code read for it. Code that is proved cheap is read here, all other code by a
// CodeScanner, which can stop it. Callers take turns at both, so nobody has all of either, by long code or by many requests.
// It is safe for concurrent use.
type fairDecider struct {
	policy Decider
	reader CodeScanner // may be nil
	cheap  *scan.Scanner
	// here are the turns of what takes this process's own time, there those of the reader's.
	here, there *turns.Turns
}

func newFairDecider(d Decider, reader CodeScanner) (*fairDecider, error) {
	here, err := turns.New(runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	there, err := turns.New(ReaderPlaces())
	return &fairDecider{policy: d, reader: reader, cheap: scan.New(), here: here, there: there}, err
}

// ReaderPlaces is how many texts of one caller a CodeScanner reads at once; it reads ReadersAtOnce in all.
func ReaderPlaces() int { return max(runtime.NumCPU(), 2) }

// ReadersAtOnce is how many texts a CodeScanner is given at once.
func ReadersAtOnce() int { return ReaderPlaces() + turns.Kept }

// decide asks whether an execution may run.
func (f *fairDecider) decide(ctx context.Context, ask policy.Request) (policy.Decision, error) {
	d, err := f.policy.DecideWith(ctx, ask, f.readFor(ask))
	return d, unread(ctx, err)
}

// analyze asks about code that is not going to run, and finds every syntax error.
func (f *fairDecider) analyze(ctx context.Context, ask policy.Request) (policy.Decision, error) {
	d, err := f.policy.AnalyzeWith(ctx, ask, f.readFor(ask))
	return d, unread(ctx, err)
}

// readFor returns the Reader of a caller's code.
func (f *fairDecider) readFor(ask policy.Request) scan.Func {
	return func(ctx context.Context, t scan.Input) (scan.Result, error) {
		if found, done, err := f.readHere(ctx, ask, t); done || err != nil {
			return found, err
		}
		if f.reader == nil {
			return scan.Result{}, errNoReader
		}
		release, err := f.there.Take(ctx, ask.Tenant, ask.Subject)
		if err != nil {
			return scan.Result{}, err
		}
		defer release()
		return f.reader.Scan(ctx, t)
	}
}

func (f *fairDecider) readHere(ctx context.Context, ask policy.Request, t scan.Input) (scan.Result, bool, error) {
	release, err := f.here.Take(ctx, ask.Tenant, ask.Subject)
	if err != nil {
		return scan.Result{}, false, err
	}
	defer release()
	found, done := f.cheap.ScanCheap(t)
	return found, done, nil
}

// turn waits for a caller's turn at this process's own time.
func (f *fairDecider) turn(ctx context.Context, tenant, subject string) (release func(), err error) {
	release, err = f.here.Take(ctx, tenant, subject)
	return release, unread(ctx, err)
}

var errNoReader = &execution.Error{Code: execution.Throttled}

// unread words why code was not read. An undecided execution does not run.
func unread(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &execution.Error{
		Code: execution.Throttled, Err: err, RetryAfter: time.Second,
		Message: "the code cannot be analysed at the moment, and nothing runs that was not; try again",
	}
}

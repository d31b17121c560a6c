package gateway

import (
	"context"
	"runtime"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/semaphore"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

// fairDecider asks the policy for decisions and scans code for it. It scans code that is proved cheap in this process,
// and has a CodeScanner, which can stop, scan all other code. Callers take turns at both, so that no caller can occupy
// either, by long code or by many requests. It is safe for concurrent use.
type fairDecider struct {
	policy  Decider
	scanner CodeScanner // may be nil
	cheap   *scan.Scanner
	// local are the turns at this process's own time, remote those at the CodeScanner.
	local, remote *semaphore.Fair
}

func newFairDecider(d Decider, scanner CodeScanner) (*fairDecider, error) {
	local, err := semaphore.New(max(runtime.GOMAXPROCS(0)-1, 1)) // one processor is left to others
	if err != nil {
		return nil, err
	}
	remote, err := semaphore.New(ScanPlaces())
	return &fairDecider{policy: d, scanner: scanner, cheap: scan.New(), local: local, remote: remote}, err
}

// ScanPlaces returns how many texts of one caller a CodeScanner scans at once. It scans ScansAtOnce in all.
func ScanPlaces() int { return max(runtime.NumCPU(), 2) }

// ScansAtOnce returns how many texts a CodeScanner scans at once.
func ScansAtOnce() int { return ScanPlaces() + semaphore.Kept }

// decide decides whether an execution may run.
func (f *fairDecider) decide(ctx context.Context, ask policy.Request) (policy.Decision, error) {
	d, err := f.policy.DecideWith(ctx, ask, f.scannerFor(ask))
	return d, notScanned(ctx, err)
}

// analyze decides about code that does not run now, and finds every syntax error.
func (f *fairDecider) analyze(ctx context.Context, ask policy.Request) (policy.Decision, error) {
	d, err := f.policy.AnalyzeWith(ctx, ask, f.scannerFor(ask))
	return d, notScanned(ctx, err)
}

// scannerFor returns the scan for the code of a request.
func (f *fairDecider) scannerFor(ask policy.Request) scan.Func {
	return func(ctx context.Context, t scan.Input) (scan.Result, error) {
		if found, done, err := f.scanCheap(ctx, ask, t); done || err != nil {
			return found, err
		}
		if f.scanner == nil {
			return scan.Result{}, errNoScanner
		}
		release, err := f.remote.Acquire(ctx, ask.Tenant, ask.Subject)
		if err != nil {
			return scan.Result{}, err
		}
		defer release()
		return f.scanner.Scan(ctx, t)
	}
}

// scanCheap scans a text in this process. done is false if the text is not proved cheap.
func (f *fairDecider) scanCheap(
	ctx context.Context, ask policy.Request, t scan.Input,
) (found scan.Result, done bool, err error) {
	release, err := f.local.Acquire(ctx, ask.Tenant, ask.Subject)
	if err != nil {
		return scan.Result{}, false, err
	}
	defer release()
	found, done = f.cheap.ScanCheap(t)
	return found, done, nil
}

// Turn implements api.Turns: it waits for a caller's turn at this process's own time.
func (f *fairDecider) Turn(ctx context.Context, tenant, subject string) (release func(), err error) {
	release, err = f.local.Acquire(ctx, tenant, subject)
	return release, notScanned(ctx, err)
}

var errNoScanner = &execution.Error{Code: execution.Throttled}

// notScanned returns the error of code that was not scanned. An execution without a decision does not run.
func notScanned(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &execution.Error{
		Code: execution.Throttled, Err: err, RetryAfter: time.Second,
		Message: "the code cannot be analysed now, and code that was not analysed does not run; try again",
	}
}

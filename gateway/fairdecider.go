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

// fairDecider asks the policy and has code read for it. Code that is proved cheap is read in this process, and all
// other code by a CodeScanner, which can stop. Callers take turns at both, so that nobody gets all of either, by long
// code or by many requests. It is safe for concurrent use.
type fairDecider struct {
	policy Decider
	reader CodeScanner // may be nil
	cheap  *scan.Scanner
	// local are the turns at this process's own time, remote those at the CodeScanner.
	local, remote *turns.Turns
}

func newFairDecider(d Decider, reader CodeScanner) (*fairDecider, error) {
	local, err := turns.New(runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	remote, err := turns.New(ReaderPlaces())
	return &fairDecider{policy: d, reader: reader, cheap: scan.New(), local: local, remote: remote}, err
}

// ReaderPlaces returns how many texts of one caller a CodeScanner reads at once. It reads ReadersAtOnce in all.
func ReaderPlaces() int { return max(runtime.NumCPU(), 2) }

// ReadersAtOnce returns how many texts a CodeScanner reads at once.
func ReadersAtOnce() int { return ReaderPlaces() + turns.Kept }

// decide decides whether an execution may run.
func (f *fairDecider) decide(ctx context.Context, ask policy.Request) (policy.Decision, error) {
	d, err := f.policy.DecideWith(ctx, ask, f.readerFor(ask))
	return d, notRead(ctx, err)
}

// analyze decides about code that does not run now, and finds every syntax error.
func (f *fairDecider) analyze(ctx context.Context, ask policy.Request) (policy.Decision, error) {
	d, err := f.policy.AnalyzeWith(ctx, ask, f.readerFor(ask))
	return d, notRead(ctx, err)
}

// readerFor returns the reader for the code of a request.
func (f *fairDecider) readerFor(ask policy.Request) scan.Func {
	return func(ctx context.Context, t scan.Input) (scan.Result, error) {
		if found, done, err := f.readCheap(ctx, ask, t); done || err != nil {
			return found, err
		}
		if f.reader == nil {
			return scan.Result{}, errNoReader
		}
		release, err := f.remote.Take(ctx, ask.Tenant, ask.Subject)
		if err != nil {
			return scan.Result{}, err
		}
		defer release()
		return f.reader.Scan(ctx, t)
	}
}

// readCheap reads a text in this process. done is false if the text is not proved cheap.
func (f *fairDecider) readCheap(
	ctx context.Context, ask policy.Request, t scan.Input,
) (found scan.Result, done bool, err error) {
	release, err := f.local.Take(ctx, ask.Tenant, ask.Subject)
	if err != nil {
		return scan.Result{}, false, err
	}
	defer release()
	found, done = f.cheap.ScanCheap(t)
	return found, done, nil
}

// Turn implements api.Turns: it waits for a caller's turn at this process's own time.
func (f *fairDecider) Turn(ctx context.Context, tenant, subject string) (release func(), err error) {
	release, err = f.local.Take(ctx, tenant, subject)
	return release, notRead(ctx, err)
}

var errNoReader = &execution.Error{Code: execution.Throttled}

// notRead returns the error of code that was not read. An execution without a decision does not run.
func notRead(ctx context.Context, err error) error {
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

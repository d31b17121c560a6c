package localinvoke

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke/internal/child"
)

// A Pool runs executions on function processes, at most a fixed number at a time. It is safe for concurrent use.
type Pool struct {
	cfg     Config
	arn     string
	addr    string
	server  *http.Server // nil where the processes are sealed
	spawner *child.Spawner
	roster  roster

	calls   sync.WaitGroup // Invokes in progress
	slots   sync.WaitGroup
	running context.Context    // of the slots and the watch
	stop    context.CancelFunc // ends them

	mu        sync.Mutex
	byAddress map[string]*process
	places    []*slot
	failing   int   // slots whose process does not start
	failure   error // why the last one did not
	renewals  int   // how often Renew was called
	closed    bool
	counts    Counts
}

var errClosed = errors.New("the function pool is shut down")

// New starts the server and the processes and returns when the first process is ready. It fails if a process cannot
// be started, ends before it is ready, or takes longer than Config.StartTimeout or ctx allow; nothing is left running
// then. The pool outlives ctx and must be closed.
func New(ctx context.Context, cfg Config) (*Pool, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, err
	}
	p := &Pool{
		cfg:       cfg,
		arn:       "arn:aws:lambda:us-east-1:000000000000:function:" + cfg.FunctionName,
		byAddress: map[string]*process{},
	}
	p.roster.limit = cfg.MaxWaiting
	p.roster.evict, p.roster.grow = func(proc *process) { proc.kill(tenancy) }, p.grow
	if s := cfg.Sealed; s != nil {
		p.roster.apart, p.roster.reserve = s.PerTenant, s.Reserve
		p.roster.size = sizes{places: cfg.Processes, now: cfg.Processes, most: cfg.Processes + s.Warm}
	} else {
		if err := p.listen(); err != nil {
			return nil, err
		}
	}
	p.spawner = child.NewSpawner()
	p.running, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	first := make(chan error, cfg.Processes)
	for range cfg.Processes {
		s := &slot{pool: p}
		p.places = append(p.places, s)
	}
	for _, s := range p.places {
		p.run(s, first)
	}
	p.slots.Go(func() { p.watch(p.running) })
	select {
	case err = <-first:
	case <-ctx.Done():
		err = fmt.Errorf("function process: %w before it was ready", ctx.Err())
	}
	if err != nil {
		return nil, errors.Join(err, p.Close(context.WithoutCancel(ctx)))
	}
	return p, nil
}

// grow starts a further process in the place of gap. Its slot ends with it once the roster does not need it.
func (p *Pool) grow(gap *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	s := &slot{pool: p, last: gap, extra: true}
	p.places = append(p.places, s)
	p.run(s, nil)
}

// run keeps a process in s until the pool is closed or s is over.
func (p *Pool) run(s *slot, first chan<- error) {
	p.slots.Go(func() {
		s.keep(p.running, first)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.places = slices.DeleteFunc(p.places, func(other *slot) bool { return other == s })
	})
}

// listen serves the Runtime API.
func (p *Pool) listen() error {
	l, err := net.Listen("tcp", p.cfg.Listen)
	if err != nil {
		return fmt.Errorf("function pool: %w", err)
	}
	p.addr = l.Addr().String()
	p.server = &http.Server{
		Handler:           runtimeAPI{p}.handler(),
		ConnContext:       withConn,
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(p.cfg.Logger.Handler(), slog.LevelWarn),
	}
	go func() {
		if err := p.server.Serve(listener{l}); !errors.Is(err, http.ErrServerClosed) {
			p.cfg.Logger.Error("function pool stopped listening", "error", err)
			p.roster.setDown(err)
		}
	}()
	return nil
}

// Addr returns the address of the Runtime API, host:port; "" if the processes are sealed.
func (p *Pool) Addr() string { return p.addr }

// Ready returns nil if at least one process has started, and otherwise an *execution.Error that says why not. It does
// not wait.
func (p *Pool) Ready(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return unavailable(errClosed)
	case p.failing == len(p.places):
		return unavailable(p.failure)
	}
	return nil
}

// Close refuses new calls, lets running ones end until ctx is done, and then ends every process. When it returns, no
// process is left. Closing twice is safe.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if closed {
		return nil
	}
	p.roster.setDown(errClosed)
	ended := make(chan struct{})
	go func() {
		p.calls.Wait()
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = fmt.Errorf("function pool: executions were cut short: %w", ctx.Err())
	}
	p.stop()
	p.slots.Wait()
	p.spawner.Close()
	<-ended
	if p.server != nil {
		if closing := p.server.Close(); closing != nil {
			err = errors.Join(err, fmt.Errorf("function pool: %w", closing))
		}
	}
	return err
}

// enter counts a call, or refuses it.
func (p *Pool) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	p.calls.Add(1)
	return nil
}

// byEnv returns the process by the secret in its address.
func (p *Pool) byEnv(env string) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byAddress[env]
}

// requestID returns a random ID for a Lambda request.
func (p *Pool) requestID() (string, error) {
	id, err := uuid.NewRandomFromReader(p.cfg.Random)
	return id.String(), err
}

func unavailable(cause error) *execution.Error {
	return &execution.Error{
		Code:       execution.Unavailable,
		Message:    "no function process can take the execution",
		RetryAfter: time.Second,
		Err:        cause,
	}
}

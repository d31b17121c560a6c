package jobs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

const (
	asProcess = "AIRLOCK_TEST_JOBS_IN"
	stateAt   = "AIRLOCK_TEST_JOBS_STATE"
	isLast    = "AIRLOCK_TEST_JOBS_LAST"
)

// now is the clock of a process. The clock of the last process is ahead, so that what earlier processes held when
// they died has expired.
func now() time.Time {
	if os.Getenv(isLast) != "" {
		return time.Now().Add(5 * time.Minute)
	}
	return time.Now()
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(asProcess); dir != "" {
		if err := process(dir, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if database != nil {
		database.Stop()
	}
	os.Exit(code)
}

var (
	database         *pgtest.Server
	startingDatabase sync.Once
)

// postgres returns the database server of these tests, and skips the test if Postgres is not installed.
func postgres(t testing.TB) *pgtest.Server {
	t.Helper()
	if !pgtest.Installed() {
		t.Skip("Postgres is not installed")
	}
	startingDatabase.Do(func() {
		var err error
		if database, err = pgtest.Start(); err != nil {
			t.Error(err)
		}
	})
	if database == nil {
		t.Fatal("there is no database server")
	}
	return database
}

// kept opens the state that a process uses: a folder or a database.
func kept(dir string) (jobs.Store, func() error, error) {
	if url := os.Getenv(stateAt); strings.HasPrefix(url, "postgres://") {
		store, err := pgstate.Open(context.Background(), url, pgstate.Config{})
		if err != nil {
			return nil, nil, err
		}
		return store, store.Close, nil
	}
	store, err := sqlitestate.Open(filepath.Join(dir, "state"), sqlitestate.Config{})
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}

// unlessBusy repeats fn while another process holds the lock of the store, as clients repeat such a request.
func unlessBusy(fn func() error) error {
	for {
		err := fn()
		if fault := (*execution.StoreError)(nil); !errors.As(err, &fault) || fault.Fault != execution.StoreBusy {
			return err
		}
	}
}

// ledger is a runner whose record of an execution is a line of a file.
type ledger struct {
	dir string
	mu  sync.Mutex
}

func (l *ledger) write(file, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.OpenFile(filepath.Join(l.dir, file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteString(id + "\n"); err != nil {
		panic(err)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
}

func lines(dir, file string) map[string]int {
	count := map[string]int{}
	text, _ := os.ReadFile(filepath.Join(dir, file)) // not there means empty
	for id := range strings.FieldsSeq(string(text)) {
		count[id]++
	}
	return count
}

func (l *ledger) Run(_ context.Context, job execution.Job) (execution.Result, time.Duration) {
	l.write("records", job.ID)
	return execution.Result{ID: job.ID, Status: execution.Completed}, 0
}

func (l *ledger) Recorded(_ context.Context, job execution.Job) (execution.Result, bool, error) {
	return execution.Result{ID: job.ID, Status: execution.Failed}, lines(l.dir, "records")[job.ID] > 0, nil
}

func (l *ledger) Send(_ context.Context, job execution.Job) jobs.Receipt {
	l.write("callbacks", job.ID)
	return jobs.Receipt{Delivered: true}
}

// process submits what it reads and prints what it acknowledges. At the end of its input, it finishes everything.
func process(dir string, in io.Reader, out io.Writer) error {
	var store jobs.Store
	var shut func() error
	if err := unlessBusy(func() (err error) {
		store, shut, err = kept(dir)
		return err
	}); err != nil {
		return err
	}
	q, err := jobs.New(
		jobs.Config{Store: store, Runner: &ledger{dir: dir}, Now: now, Random: rand.Float64, Logger: slog.Default()},
	)
	if err != nil {
		return err
	}
	ctx := context.Background()
	q.Start(ctx)
	var ids []string
	for scan := bufio.NewScanner(in); scan.Scan(); {
		id := scan.Text()
		job := execution.Job{
			ID: id, Tenant: "t" + id[len(id)-1:],
			Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting},
		}
		if err := unlessBusy(func() error { return q.Submit(ctx, job) }); err != nil {
			return err
		}
		ids = append(ids, id)
		if _, err := fmt.Fprintln(out, id); err != nil {
			return err
		}
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for _, id := range ids {
		for {
			var job execution.Job
			if err := unlessBusy(func() (err error) {
				job, err = q.Job(ctx, id)
				return err
			}); err != nil {
				return err
			}
			if job.Ended() && job.Callback.State == execution.CallbackDelivered {
				break
			}
			<-look.C
		}
	}
	if err := q.Stop(ctx); err != nil {
		return err
	}
	return shut()
}

// start starts a process and returns a func that submits to it.
func start(t *testing.T, dir, state string, more ...string) (cmd *exec.Cmd, in io.WriteCloser, acks *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProcess+"="+dir, stateAt+"="+state)
	cmd.Env = append(cmd.Env, more...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewScanner(out)
}

// An acknowledged job ends exactly once, however often the processes that share a state are killed.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]func(t testing.TB) string{
		"on disk":       func(testing.TB) string { return "" },
		"in a database": func(t testing.TB) string { return postgres(t).Database(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killed(t, state(t))
		})
	}
}

func killed(t *testing.T, state string) {
	dir := t.TempDir()
	var acknowledged []string
	submit := func(in io.Writer, acks *bufio.Scanner, n int) {
		id := fmt.Sprintf("exec_%010d", n)
		if _, err := fmt.Fprintln(in, id); err != nil {
			t.Fatal(err)
		}
		if !acks.Scan() || acks.Text() != id {
			t.Fatalf("not acknowledged: %q", acks.Text())
		}
		acknowledged = append(acknowledged, id)
	}
	kill := func(cmd *exec.Cmd) {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed, as intended
	}
	const rounds, each = 4, 12
	for round := range rounds {
		one, oneIn, oneAcks := start(t, dir, state)
		other, otherIn, otherAcks := start(t, dir, state)
		for n := range each + round {
			submit(oneIn, oneAcks, round*1000+2*n)
			submit(otherIn, otherAcks, round*1000+2*n+1)
		}
		kill(one)
		for n := range 3 {
			submit(otherIn, otherAcks, round*1000+500+n)
		}
		kill(other)
	}
	cmd, in, _ := start(t, dir, state, isLast+"=1")
	for _, id := range acknowledged { // submitting again changes nothing, and has the process wait for all of them
		if _, err := fmt.Fprintln(in, id); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	records, callbacks := lines(dir, "records"), lines(dir, "callbacks")
	if len(records) != len(acknowledged) || len(callbacks) != len(acknowledged) {
		t.Errorf("%d acknowledged, %d recorded, %d called back", len(acknowledged), len(records), len(callbacks))
	}
	for id, n := range records {
		if n != 1 {
			t.Errorf("%s ran %d times", id, n)
		}
	}
}

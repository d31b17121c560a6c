package jobs_test

import (
	"bufio"
	"context"
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
	"github.com/airlock-run/airlock/infra/sqlitestate"
)

const asProcess = "AIRLOCK_TEST_JOBS_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asProcess); dir != "" {
		if err := process(dir, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
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

// process submits what it reads and says what it acknowledges; at the end of its input it finishes everything.
func process(dir string, in io.Reader, out io.Writer) error {
	store, err := sqlitestate.Open(filepath.Join(dir, "state"), sqlitestate.Config{})
	if err != nil {
		return err
	}
	q, err := jobs.New(jobs.Config{Store: store, Runner: &ledger{dir: dir}, Now: time.Now, Random: rand.Float64, Logger: slog.Default()})
	if err != nil {
		return err
	}
	ctx := context.Background()
	q.Start(ctx)
	var ids []string
	for scan := bufio.NewScanner(in); scan.Scan(); {
		id := scan.Text()
		job := execution.Job{ID: id, Tenant: "t" + id[len(id)-1:], Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}}
		if err := q.Submit(ctx, job); err != nil {
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
			job, err := q.Job(ctx, id)
			if err != nil {
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
	return store.Close()
}

// start runs a process of its own and gives a way to submit.
func start(t *testing.T, dir string) (cmd *exec.Cmd, in io.WriteCloser, acks *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProcess+"="+dir)
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

// What was acknowledged ends, once, however often the process is killed.
func TestKilled(t *testing.T) {
	t.Parallel()
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
	const rounds, each = 6, 25
	for round := range rounds {
		cmd, in, acks := start(t, dir)
		for n := range each + round {
			submit(in, acks, round*1000+n)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed, as it was to be
	}
	cmd, in, _ := start(t, dir)
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
	store, err := sqlitestate.Open(filepath.Join(dir, "state"), sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range acknowledged {
		if job, err := store.Job(t.Context(), id); err != nil || !job.Ended() || len(job.Result) == 0 {
			t.Errorf("%s: %s %v", id, job.Status, err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

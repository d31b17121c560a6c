package ratelimit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/policy"
)

// server is a real Redis for this test, on a socket.
type server struct {
	t    testing.TB
	path string
	cmd  *exec.Cmd
}

func startRedis(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, path: filepath.Join(t.TempDir(), "redis.sock")}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) start() {
	s.t.Helper()
	var program string
	for _, name := range []string{"redis-server", "valkey-server"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		const missing = "redis-server is not installed, and this test needs a real one: apt-get install -y redis-server"
		if os.Getenv("CI") != "" {
			s.t.Fatal(missing)
		}
		s.t.Skip(missing)
	}
	s.cmd = exec.Command(
		program, "--port", "0", "--unixsocket", s.path, "--save", "", "--appendonly", "no", "--dir", filepath.Dir(s.path),
		"--daemonize", "no",
	)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var said bytes.Buffer
	buf := make([]byte, 4096)
	for !strings.Contains(strings.ToLower(said.String()), "ready to accept connections") {
		n, err := out.Read(buf)
		said.Write(buf[:n])
		if err != nil {
			s.t.Fatalf("%s did not start: %v\n%s", program, err, said.String())
		}
	}
	go func() { // what else it prints must not fill the pipe
		for {
			if _, err := out.Read(buf); err != nil {
				return
			}
		}
	}()
}

func (s *server) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func shared(
	t testing.TB, s *server, most int, window time.Duration, now func() time.Time, log *slog.Logger,
) *ratelimit.Shared {
	t.Helper()
	client := redis.NewClient(&redis.Options{
		Network: "unix", Addr: s.path, DialTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, MaxRetries: -1,
		ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { _ = client.Close() })
	l, err := ratelimit.NewShared(ratelimit.SharedConfig{
		Config: ratelimit.Config{Window: window, Max: most, Now: now}, Client: client, Prefix: "test:",
		Timeout: 5 * time.Second, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var silent = slog.New(slog.DiscardHandler)

// Many gateways share one limit: exactly as many requests are admitted as it allows, whichever gateway they reach.
func TestSharedIsExact(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	const gateways, requests, most = 8, 50, 50
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range gateways {
		l := shared(t, s, most, time.Hour, time.Now, silent)
		wg.Go(func() {
			for range requests {
				v, err := l.Take(t.Context(), "alice")
				if err != nil || v.Limit != most {
					t.Errorf("the limit is %d, want %d; %v", v.Limit, most, err)
				}
				if v.Reset <= 0 || v.Reset > time.Hour+2*time.Minute {
					t.Errorf("it resets in %v", v.Reset)
				}
				if v.Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if allowed.Load() != most {
		t.Errorf("%d requests were let through of %d, not %d", allowed.Load(), gateways*requests, most)
	}
	l := shared(t, s, most, time.Hour, time.Now, silent)
	if v, err := l.Take(t.Context(), "bob"); err != nil || !v.Allowed || v.Remaining != most-1 {
		t.Errorf("another caller: %+v, %v", v, err)
	}
}

// The window slides: nothing is forgotten at once, and what has left it is available again.
func TestSharedWindowSlides(t *testing.T) {
	t.Parallel()
	l := shared(t, startRedis(t), 3, 640*time.Millisecond, time.Now, silent)
	type interval struct{ begin, end time.Time } // a request is counted between them
	took := make([]interval, 0, 12)
	for len(took) < cap(took) {
		began := time.Now()
		v, err := l.Take(t.Context(), "alice")
		if err != nil {
			t.Fatal(err)
		}
		if v.Allowed {
			took = append(took, interval{began, time.Now()})
			continue
		}
		<-time.After(v.Reset / 4)
	}
	for i := 3; i < len(took); i++ {
		if apart := took[i].end.Sub(took[i-3].begin); apart < 600*time.Millisecond {
			t.Errorf("four requests within %v", apart)
		}
	}
}

// While Redis is down, each gateway limits by itself and remembers what it admitted before. Afterwards they share
// again.
func TestSharedOutage(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	var said bytes.Buffer
	l := shared(t, s, 10, time.Hour, now, slog.New(slog.NewTextHandler(&said, nil)))
	other := shared(t, s, 10, time.Hour, now, silent)
	take := func(l *ratelimit.Shared, n int) (allowed int) {
		t.Helper()
		for range n {
			v, err := l.Take(t.Context(), "alice")
			if err != nil {
				t.Fatal(err)
			}
			if v.Allowed {
				allowed++
			}
		}
		return allowed
	}
	if got := take(l, 4); got != 4 {
		t.Fatalf("%d of 4", got)
	}
	s.stop()
	if got := take(l, 20); got != 6 {
		t.Errorf("with Redis down %d were let through after 4 of 10", got)
	}
	if got := take(other, 20); got != 10 {
		t.Errorf("a new gateway admitted %d, not its limit", got)
	}
	s.start()
	if v, err := l.Take(t.Context(), "bob"); err != nil || !v.Allowed {
		t.Errorf("%+v, %v", v, err)
	}
	clock.Add(int64(2 * time.Second))
	if got := take(l, 20) + take(other, 20); got != 10 {
		t.Errorf("after the outage %d were let through by both, not 10", got)
	}
	if lost, back := strings.Count(said.String(), "does not answer"), strings.Count(
		said.String(), "limits are shared",
	); lost != 1 || back != 1 {
		t.Errorf("the log:\n%s", said.String())
	}
}

// A Redis that accepts connections and then stays silent costs a caller the timeout once, and no request fails.
func TestSharedSilentServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client := redis.NewClient(&redis.Options{Addr: listener.Addr().String(), MaxRetries: -1, ContextTimeoutEnabled: true})
	defer client.Close()
	l, err := ratelimit.NewShared(ratelimit.SharedConfig{
		Config: ratelimit.Config{Window: time.Hour, Max: 5, Now: func() time.Time { return time.Unix(1e9, 0) }},
		Client: client, Timeout: 50 * time.Millisecond, Log: silent,
	})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for n := range 10 {
		if v, err := l.Take(t.Context(), "alice"); err != nil || v.Allowed != (n < 5) {
			t.Errorf("request %d: %+v, %v", n, v, err)
		}
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("ten requests took %v", took)
	}
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 0)
	counter := func(window time.Duration) *ratelimit.Limiter {
		l, err := ratelimit.New(ratelimit.Config{Window: window, Max: 1, Now: func() time.Time { return at }})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	q := &ratelimit.Quotas{Minute: counter(time.Minute), Day: counter(24 * time.Hour),
		Of: func(tenant string) policy.Quota {
			return map[string]policy.Quota{"small": {PerMinute: 2, PerDay: 3, Concurrent: 1}}[tenant]
		}}
	if q.Concurrent("small") != 1 || q.Concurrent("big") != 0 {
		t.Error("Concurrent is not the policy's")
	}
	var got []string
	for _, step := range []time.Duration{0, 0, 0, time.Hour, 0, time.Hour} {
		at = at.Add(step)
		v, err := q.Take(context.Background(), "small")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(v.Allowed, v.Limit))
	}
	if text := strings.Join(got, ", "); text != "true 2, true 2, false 2, true 3, false 3, false 3" {
		t.Error(text)
	}
	for range 1000 {
		if v, err := q.Take(context.Background(), "big"); err != nil || !v.Allowed || v.Limit != 0 {
			t.Fatalf("%+v, %v", v, err)
		}
	}
}

// asking counts the questions that a client asks.
type asking struct{ n atomic.Int64 }

func (a *asking) DialHook(next redis.DialHook) redis.DialHook { return next }
func (a *asking) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (a *asking) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			a.n.Add(1)
		}
		return next(ctx, cmd)
	}
}

// A Redis that was stopped (SIGSTOP) keeps its connections and does not respond. Limits continue, and one caller in a
// second finds out whether it is back.
func TestSharedStoppedServer(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	questions := &asking{}
	client := redis.NewClient(
		&redis.Options{
			Network: "unix", Addr: s.path, DialTimeout: time.Second, ReadTimeout: time.Second, MaxRetries: -1,
			ContextTimeoutEnabled: true,
		},
	)
	t.Cleanup(func() { _ = client.Close() })
	client.AddHook(questions)
	l, err := ratelimit.NewShared(ratelimit.SharedConfig{
		Config: ratelimit.Config{Window: time.Hour, Max: 1000, Now: now}, Client: client, Prefix: "test:",
		Timeout: time.Second, Log: silent,
	})
	if err != nil {
		t.Fatal(err)
	}
	take := func() {
		t.Helper()
		if v, err := l.Take(t.Context(), "alice"); err != nil || !v.Allowed {
			t.Errorf("%+v, %v", v, err)
		}
	}
	crowd := func() {
		t.Helper()
		var all sync.WaitGroup
		for range 50 {
			all.Go(take)
		}
		all.Wait()
	}
	take()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume := sync.OnceFunc(func() { _ = s.cmd.Process.Signal(syscall.SIGCONT) })
	t.Cleanup(resume)
	take() // finds out
	asked := questions.n.Load()
	crowd()
	if n := questions.n.Load() - asked; n != 0 {
		t.Errorf("%d questions within the second after it failed", n)
	}
	for range 3 {
		clock.Add(int64(2 * time.Second))
		asked = questions.n.Load()
		crowd()
		if n := questions.n.Load() - asked; n != 1 {
			t.Errorf("%d questions of 50 callers to find out whether it is back", n)
		}
	}
	// A clock that is set back by a day does not stop asking for that day.
	clock.Add(-int64(24 * time.Hour))
	asked = questions.n.Load()
	take()
	if n := questions.n.Load() - asked; n != 1 {
		t.Errorf("%d questions after the clock was set back", n)
	}
	resume()
	var n int64
	for range 30 { // on a busy machine it may not respond within the first second
		clock.Add(int64(2 * time.Second))
		asked = questions.n.Load()
		take() // finds out
		crowd()
		if n = questions.n.Load() - asked; n >= 51 {
			return
		}
	}
	t.Errorf("%d questions of 51 callers after it was back", n)
}

package recordstest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// childVariable holds the plan of a child process.
const childVariable = "AIRLOCK_RECORDSTEST_CHILD"

// childPlan is a child's task: open the place, append, close, and die on the way if KillAt is not 0.
type childPlan struct {
	Place   string `json:"place"`
	Records int    `json:"records"`
	KillAt  int64  `json:"killAt"` // before the call of that number
	Half    bool   `json:"half"`   // let half of it through first, when it is a write
}

// IsChild reports whether the suite started this process, which must then only call Main.
func IsChild() bool { return os.Getenv(childVariable) != "" }

// Main runs the tests from TestMain or, in a child process, its plan.
func Main(m *testing.M, s Suite) {
	plan := os.Getenv(childVariable)
	if plan == "" {
		os.Exit(m.Run())
	}
	if err := s.obey(plan); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (s Suite) obey(doc string) error {
	var plan childPlan
	if err := json.Unmarshal([]byte(doc), &plan); err != nil {
		return err
	}
	var calls atomic.Int64
	die := func() {
		// Nothing runs after the signal; the select covers the moment until it is delivered.
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			panic(err)
		}
		select {}
	}
	// After half a write, the store's handling of its error is interrupted as well.
	fail := func(err error) error {
		if plan.KillAt > 0 {
			die()
		}
		return err
	}
	store, err := s.Open(plan.Place, func(_, _ string, size int) error {
		switch n := calls.Add(1); {
		case plan.KillAt == 0 || n < plan.KillAt:
			return nil
		case n == plan.KillAt && plan.Half && size > 1:
			return s.Short(size/2, errors.New("about to be killed"))
		default:
			die()
			return nil
		}
	})
	if err != nil {
		return fail(err)
	}
	for range plan.Records {
		r := Sample(time.Now())
		fmt.Println("try", r.ID)
		if err := store.Append(context.Background(), r); err != nil {
			return fail(err)
		}
		fmt.Println("acked", r.ID)
	}
	if err := store.Close(); err != nil {
		return fail(err)
	}
	fmt.Println("end")
	return nil
}

type child struct {
	cmd    *exec.Cmd
	errors bytes.Buffer
	done   chan struct{} // closed when out has been read to its end
	heard  heard
}

// heard holds the reports of a child before it ended.
type heard struct {
	tried, acked map[string]bool
	ended        bool
}

// startChild starts a child on the place. If killAfter is not 0, it is killed once it has confirmed that many
// records.
func startChild(t *testing.T, place string, plan childPlan, killAfter int) *child {
	t.Helper()
	plan.Place = place
	doc, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.CommandContext(t.Context(), exe), done: make(chan struct{})}
	c.heard = heard{tried: map[string]bool{}, acked: map[string]bool{}}
	c.cmd.Env = append(os.Environ(), childVariable+"="+string(doc))
	c.cmd.Stderr = &c.errors
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.listen(out, killAfter)
	return c
}

func (c *child) listen(out io.Reader, killAfter int) {
	defer close(c.done)
	for sc := bufio.NewScanner(out); sc.Scan(); {
		what, id, _ := strings.Cut(sc.Text(), " ")
		switch what {
		case "try":
			c.heard.tried[id] = true
		case "acked":
			c.heard.acked[id] = true
			if len(c.heard.acked) == killAfter {
				_ = c.cmd.Process.Kill() // it may have ended by itself
			}
		case "end":
			c.heard.ended = true
		}
	}
}

func (c *child) wait(t *testing.T) heard {
	t.Helper()
	<-c.done
	err := c.cmd.Wait()
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if err != nil && !killed {
		t.Fatalf("child: %v\n%s", err, &c.errors)
	}
	return c.heard
}

// killedUnderLoad lets several processes write at once and kills them at random moments, repeatedly.
func killedUnderLoad(t *testing.T, s Suite) {
	place := s.New(t)
	must, may := map[string]bool{}, map[string]bool{}
	dice := rand.New(rand.NewPCG(1, 2))
	for range 6 {
		var running []*child
		for range 3 {
			running = append(running, startChild(t, place, childPlan{Records: 1 << 30}, 1+dice.IntN(40)))
		}
		for _, c := range running {
			said := c.wait(t)
			for id := range said.tried {
				if said.acked[id] {
					must[id] = true
				} else {
					may[id] = true
				}
			}
		}
	}
	holds(t, mustOpen(t, s, place), must, may, s.settling(t, place))
	t.Logf("%d records confirmed, %d not", len(must), len(may))
}

// killedWriter kills a writing process before each call that it makes, one process after the other on the same place.
func killedWriter(t *testing.T, s Suite) { killEverywhere(t, s, false) }

// killedInWrite kills a process in the middle of each write.
func killedInWrite(t *testing.T, s Suite) {
	if s.Short != nil {
		killEverywhere(t, s, true)
	}
}

func killEverywhere(t *testing.T, s Suite, half bool) {
	place := s.New(t)
	must, may := map[string]bool{}, map[string]bool{}
	bystander := mustOpen(t, s, place) // another writer, which must not be affected
	for at := int64(1); ; at++ {
		said := startChild(t, place, childPlan{Records: 2, KillAt: at, Half: half}, 0).wait(t)
		for id := range said.tried {
			if said.acked[id] {
				must[id] = true
			} else {
				may[id] = true
			}
		}
		r := Sample(time.Now())
		mustAppend(t, bystander, r)
		must[r.ID] = true
		verifiedAfter(t, bystander, s.settling(t, place)) // before any recovery
		store, err := s.Open(place, nil)
		if err != nil {
			t.Fatalf("open after a kill at call %d: %v", at, err)
		}
		holds(t, store, must, may, s.settling(t, place))
		shut(t, store)
		if t.Failed() {
			t.Fatalf("after a kill at call %d", at)
		}
		if said.ended {
			t.Logf("killed at each of %d calls; %d records confirmed, %d not", at-1, len(must), len(may))
			return
		}
	}
}

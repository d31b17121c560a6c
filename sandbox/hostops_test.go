package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// hostCase is a script that makes the host work.
type hostCase struct {
	name, code string
	ordinary   bool // it must succeed
}

// hostCases returns all operations with all their arguments, and a few random ones. repeated makes each script call
// its operation until the run ends.
func hostCases(t *testing.T, e *sandbox.Engine, grants sandbox.Grants, repeated bool) []hostCase {
	t.Helper()
	sync, async, err := sandbox.Operations(t.Context(), e, grants)
	if err != nil {
		t.Fatal(err)
	}
	if len(sync) < 70 || len(async) < 3 {
		t.Fatalf("the table of operations has %d and %d", len(sync), len(async))
	}
	random := mathrand.New(mathrand.NewPCG(1, 2))
	var cases []hostCase
	add := func(name, format string, all map[string][]string, mutations int) {
		if len(all[name]) == 0 {
			t.Errorf("the operation %s has no arguments: add what would hurt most to hostArguments", name)
		}
		lists := slices.Clone(all[name])
		for range mutations {
			lists = append(lists, mutated(random))
		}
		for i, args := range lists {
			call := fmt.Sprintf(format, name, args)
			if repeated {
				call = fmt.Sprintf("for (let i = 0; ; i++) { try { %s } catch {} }", call)
			} else {
				call = fmt.Sprintf("let i = 0; try { %s } catch (e) { console.log(String(e).slice(0, 100)) }", call)
			}
			cases = append(cases, hostCase{fmt.Sprintf("%s %d %s", name, i, args), prelude + call, i == 0 && name != "$host"})
		}
	}
	for _, name := range sync {
		args := hostArguments
		add(name, "const given = [%[2]s]; console.log('called'); $sync('%[1]s', ...given)", args, 1)
	}
	for _, name := range async {
		add(name, "const given = [%[2]s]; console.log('called'); $request('%[1]s', ...given).catch(() => {})",
			laterArguments, 1)
	}
	for _, call := range forged {
		add("$host", "console.log('called'); %[2]s", map[string][]string{"$host": {call}}, 0)
	}
	for name := range hostArguments {
		if !slices.Contains(sync, name) {
			t.Errorf("hostArguments has %s, and no operation is called that", name)
		}
	}
	return cases
}

// TestHostOperationsEndInTime checks that a limit of processor time holds while the host computes for the guest: the
// run ends within half as much again, and no operation announces more than it may between two checks.
func TestHostOperationsEndInTime(t *testing.T) {
	limit := 100 * time.Millisecond
	slack := limit / 2 // that is, by half as much again
	if raceEnabled {   // the race detector also slows down the code that makes the arguments
		limit, slack = time.Second, 2*time.Second
	}
	e := exposed(t, nil, nil)
	grants := allGrants(func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) { return nil, nil })
	grants.Limits = sandbox.Limits{Wall: 20 * time.Second, CPU: limit, MemoryBytes: 256 << 20, LogEntries: 1 << 20,
		OutputBytes: 32 << 20, APICalls: 10, FetchBytes: 64 << 20, FileBytes: 32 << 20}
	keys := material(t)
	for _, c := range hostCases(t, e, grants, false) {
		var r sandbox.Result
		var err error
		var over time.Duration
		for try := range time.Duration(12) { // processor time also grows when other processes use the machine
			e.TakeLongestWork()
			grants.Limits.CPU = limit * (1 + try/2) // making the arguments is part of it
			r, err = e.Run(t.Context(),
				sandbox.Script{Code: c.code, Context: keys,
					Files: map[string][]byte{"a": []byte("a"), "big": make([]byte, 4<<20)}}, grants)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if most, allowed := e.TakeLongestWork(); most > allowed {
				t.Errorf("%s: %d units of work without a look at the limits, at most %d are allowed", c.name, most, allowed)
			}
			over = time.Duration(r.Usage.CPUMs*float64(time.Millisecond)) - grants.Limits.CPU
			if over <= slack && strings.HasPrefix(r.Output, "called\n") && (r.Error == "" || !c.ordinary) {
				break
			}
		}
		if over > slack {
			t.Errorf("%s took %v more than its limit", c.name, over)
		}
		if !strings.HasPrefix(r.Output, "called\n") {
			t.Errorf("%s: was not called: %s", c.name, r.Error)
		}
		if c.ordinary && (r.Error != "" || r.Output != "called\n") {
			t.Errorf("%s: with ordinary arguments it failed: %s %s", c.name, r.Output, r.Error)
		}
	}
}

// TestHostOperationsAddUp checks that many small operations take no longer between checks than one large one.
func TestHostOperationsAddUp(t *testing.T) {
	e := exposed(t, nil, nil)
	grants := allGrants(func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	grants.Limits = sandbox.Limits{Wall: 20 * time.Second, CPU: 60 * time.Millisecond, MemoryBytes: 64 << 20}
	for name, call := range map[string]string{
		"verify":  "$sync('crypto.verify', 'ECDSA:P-521:SHA-512', given, buf(132), buf(9))",
		"compare": "$sync('intl.compare', 'en', 0, '각각각각', '각각각각')",
		"zone":    "$sync('intl.zone', 'Europe/Berlin', '0')",
		"list":    "$sync('fs.list', '/')",
	} {
		code := prelude + "const given = key('ecPublic'); for (;;) { try { " + call + " } catch {} }"
		r, err := e.Run(t.Context(), sandbox.Script{Code: code, Context: material(t)}, grants)
		if err != nil || r.Limit != sandbox.LimitCPU {
			t.Errorf("%s: limit %q, error %q, %v", name, r.Limit, r.Error, err)
		}
		if most, allowed := e.TakeLongestWork(); most > allowed {
			t.Errorf("%s: %d units of work without a look at the limits, at most %d are allowed", name, most, allowed)
		}
	}
}

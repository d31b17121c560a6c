package policy_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// A sum changes no decision, whatever else differs between two requests with the same code, and however many run at
// once.
func TestSum(t *testing.T) {
	set := policy.Default()
	var asks []policy.Request
	for _, code := range []string{"eval('1'); fetch('http://x/'); require('child_process')", "const x = ;",
		"env.A + process.env.HOME", "export default () => 1"} {
		for _, tier := range []string{"strict", "standard", "agent", "nope"} {
			for _, globals := range [][]string{nil, {"env"}, {"process", "env"}, {"fetch"}} {
				asks = append(asks, policy.Request{Code: code, Tier: tier, Globals: globals,
					Files: map[string]string{"lib.js": "while (true) {}"}, Saved: true})
			}
		}
	}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 3 {
				for _, a := range asks {
					want := set.Decide(a)
					a.Sum = a.Code // tells codes apart, as a hash does
					if got := set.Decide(a); !reflect.DeepEqual(got, want) {
						t.Errorf("%q for %s with %v: with a sum %+v, without %+v", a.Code, a.Tier, a.Globals, got, want)
					}
				}
			}
		})
	}
	workers.Wait()
}

// The code of a saved function may be longer, but not without bound.
func TestSavedCodeBytes(t *testing.T) {
	set := policy.Default()
	for _, c := range []struct {
		bytes        int
		saved, allow bool
		tier         string
	}{{256 << 10, false, true, "strict"}, {256<<10 + 1, false, false, "strict"}, {256<<10 + 1, true, true, "strict"},
		{1 << 20, true, true, "strict"}, {1<<20 + 1, true, false, "strict"}, {4 << 20, false, true, "standard"},
		{4<<20 + 1, false, false, "standard"}, {4<<20 + 1, true, false, "standard"}} {
		code := "'" + strings.Repeat("x", c.bytes-2) + "'"
		for _, a := range []policy.Request{{Code: code}, {Code: "0", Files: map[string]string{"a.js": code}}} {
			a.Saved, a.Tier = c.saved, c.tier
			if d := set.Decide(a); (d.Effect == policy.Allow) != c.allow {
				t.Errorf("%d bytes, saved %v: %s %v", c.bytes, c.saved, d.Effect, d.Violations)
			}
		}
	}
}

// The scan of one tenant's code is not used for another's.
func TestSumOfTenants(t *testing.T) {
	set := policy.Default()
	for _, a := range []policy.Request{{Tenant: "a", Code: "eval('1')"}, {Tenant: "b", Code: "1"}, {Code: "2"},
		{Tenant: "a", Code: "eval('1')"}} {
		want := set.Decide(a)
		a.Sum = "the same"
		if got := set.Decide(a); !reflect.DeepEqual(got, want) {
			t.Errorf("%s of %q: %+v, want %+v", a.Code, a.Tenant, got, want)
		}
	}
}

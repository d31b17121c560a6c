package dashboard

import (
	"testing"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
)

// An execution is listed from the moment it waits until it ends, and only to its own tenant.
func TestActivity(t *testing.T) {
	t.Parallel()
	var a Activity
	states := func(tenant string) (out []string) {
		for _, o := range a.list(tenant, 10) {
			out = append(out, o.ID+" "+o.State)
		}
		return out
	}
	want := func(when, tenant string, expected ...string) {
		t.Helper()
		got := states(tenant)
		if len(got) != len(expected) {
			t.Errorf("%s, tenant %q: %q, want %q", when, tenant, got, expected)
			return
		}
		for i := range got {
			if got[i] != expected[i] {
				t.Errorf("%s, tenant %q: %q, want %q", when, tenant, got, expected)
			}
		}
	}
	changed, closed := a.next()
	if closed {
		t.Error("a new activity is closed")
	}
	a.Waiting(api.Submission{ID: "1", Caller: authn.Identity{Tenant: "x"}}, "standard")
	select {
	case <-changed:
	default:
		t.Error("a new execution is no change")
	}
	a.Waiting(api.Submission{ID: "2", Caller: authn.Identity{Tenant: "y"}}, "standard")
	a.Running("2")
	a.Running("unknown")
	want("with two", "", "1 waiting", "2 running")
	want("with two", "y", "2 running")
	if n := len(a.list("", 1)); n != 1 {
		t.Errorf("a limit of 1 lists %d", n)
	}
	a.Ended("2")
	want("after the end", "", "1 waiting")
	a.Close()
	if _, closed := a.next(); !closed {
		t.Error("it is not closed")
	}
}

package bounds_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/bounds"
)

func owner(tenant, subject string) bounds.Owner {
	return bounds.Owner{Tenant: tenant, Subject: subject}
}

// fill enters until there is no place, and returns how many there were.
func fill(p interface {
	Enter(bounds.Owner) (func(), error)
}, o func(n int) bounds.Owner) (n int) {
	for {
		if _, err := p.Enter(o(n)); err != nil {
			return n
		}
		n++
	}
}

// Whatever the size of a pool: a single owner gets nearly all of it, and a flood of one token, of one tenant's
// tokens, or of many tenants leaves a place for the next owner.
func TestShares(t *testing.T) {
	t.Parallel()
	operator := bounds.Owner{Tenant: "default", Subject: "key", Operator: true}
	for _, most := range []int{1, 2, 3, 5, 10, 64, 200, 16384} {
		t.Run(fmt.Sprint(most, " places"), func(t *testing.T) {
			t.Parallel()
			p := bounds.NewPool(most)
			alone := fill(p, func(int) bounds.Owner { return owner("a", "1") })
			if alone < most/2 || alone < most*85/100-3 {
				t.Errorf("a single owner has %d", alone)
			}
			if most < 10 {
				return
			}
			if n := fill(p, func(n int) bounds.Owner { return owner("a", fmt.Sprint("more", n)) }); n == 0 {
				t.Error("another token of the tenant gets no place")
			}
			if n := fill(p, func(n int) bounds.Owner { return owner(fmt.Sprint("t", n), "1") }); n == 0 {
				t.Error("another tenant gets no place")
			}
			if _, err := p.Enter(operator); err != nil {
				t.Error("the operator gets no place")
			}
			if used, of := p.Used(); used != most || of != most {
				t.Errorf("%d of %d are taken", used, of)
			}
			if _, err := p.Enter(owner("late", "1")); !errors.Is(err, bounds.ErrFull) {
				t.Errorf("more than there are: %v", err)
			}
		})
	}
}

// An owner that comes in during a flood gets a second place while it holds its first: an agent that listens to a
// stream has calls to make. It becomes no second flood by that.
func TestSecondPlaceDuringFlood(t *testing.T) {
	t.Parallel()
	for _, most := range []int{200, 300, 500, 1000, 16384} {
		for name, late := range map[string]bounds.Owner{
			"of another tenant": owner("b", "1"), "of the same tenant": owner("a", "2"),
		} {
			t.Run(fmt.Sprint(most, " places, ", name), func(t *testing.T) {
				t.Parallel()
				p := bounds.NewPool(most)
				fill(p, func(int) bounds.Owner { return owner("a", "1") })
				if n := fill(p, func(int) bounds.Owner { return late }); n < 2 || n > max(most/100, 2) {
					t.Errorf("it has %d places", n)
				}
				if _, err := p.Enter(owner("c", "1")); err != nil {
					t.Error("a third tenant:", err)
				}
			})
		}
	}
}

func TestLeave(t *testing.T) {
	t.Parallel()
	p := bounds.NewPool(100)
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			leave, err := p.Enter(owner("t", fmt.Sprint(n%3)))
			if err != nil {
				t.Error(err)
				return
			}
			leave()
			leave() // does nothing
		})
	}
	all.Wait()
	if used, _ := p.Used(); used != 0 {
		t.Errorf("%d are taken", used)
	}
	if n := fill(p, func(int) bounds.Owner { return owner("t", "1") }); n != 90 {
		t.Errorf("then there are %d", n)
	}
}

// A lease that is not used becomes free, also after the clock was set back.
func TestLeases(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	l := bounds.NewLeases(100, time.Hour, func() time.Time { return now })
	enter := func(name string) error {
		leave, err := l.Enter(owner("t", "1"))
		if err == nil {
			l.Hold(name, leave)
		}
		return err
	}
	for n := range 90 {
		if err := enter(fmt.Sprint(n)); err != nil {
			t.Fatal(n, err)
		}
	}
	if enter("more") == nil {
		t.Error("there is one too many")
	}
	l.End("0")
	l.End("0")
	if err := enter("again"); err != nil {
		t.Error("after an end:", err)
	}
	now = now.Add(time.Hour - 1)
	l.Touch("again")
	now = now.Add(1)
	if err := enter("later"); err != nil {
		t.Error("after an hour:", err)
	}
	if used, _ := l.Used(); used != 2 {
		t.Errorf("%d are held", used)
	}
	for n := range 88 {
		if err := enter(fmt.Sprint("b", n)); err != nil {
			t.Fatal(n, err)
		}
	}
	now = now.Add(-24 * time.Hour)
	if enter("back") == nil {
		t.Error("a clock that was set back freed a place")
	}
	now = now.Add(time.Hour)
	if err := enter("back"); err != nil {
		t.Error("an hour after the clock was set back:", err)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range bounds.Table() {
		if seen[b.Resource] || bounds.Of(b.Resource) != b {
			t.Errorf("there are two bounds of %v", b.Resource)
		}
		for what, text := range map[string]string{"what": b.What, "owner": b.Owner, "share": b.Share, "answer": b.Answer} {
			if text == "" {
				t.Errorf("the bound of %v has no %s", b.Resource, what)
			}
		}
		seen[b.Resource] = true
	}
}

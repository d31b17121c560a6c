package ratelimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/ratelimit"
)

const mostFailures = 5

// testLogins is Logins with a clock, and the attempts that tests make.
type testLogins struct {
	t *testing.T
	*ratelimit.Logins
	*clock
	right string
}

func newTestLogins(t *testing.T, tally func(*clock) ratelimit.Tally) *testLogins {
	t.Helper()
	c := &clock{at: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}
	if tally == nil {
		tally = func(c *clock) ratelimit.Tally {
			l, err := ratelimit.New(ratelimit.Config{Window: time.Minute, Max: 1, Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
	}
	l, err := ratelimit.NewLogins(
		ratelimit.LoginsConfig{Tally: tally(c), Window: time.Minute, Most: mostFailures, Now: c.now},
	)
	if err != nil {
		t.Fatal(err)
	}
	return &testLogins{t, l, c, "the right key"}
}

// try makes an attempt as a gateway does. It reports whether the credential was checked, and whether it was accepted.
func (l *testLogins) try(address, credential string) (looked, in bool) {
	l.t.Helper()
	a := ratelimit.Attempt{Address: address, Credential: credential, Name: func() string { return "key" }}
	v, err := l.Admit(l.t.Context(), a)
	if err != nil {
		l.t.Fatal(err)
	}
	if !v.Allowed {
		if v.Reset <= 0 || v.Reset > 62*time.Second {
			l.t.Errorf("%s is refused for %v", address, v.Reset)
		}
		return false, false
	}
	if credential == l.right {
		l.Succeeded(a)
		return true, true
	}
	if _, err := l.Failed(l.t.Context(), a); err != nil {
		l.t.Fatal(err)
	}
	return true, false
}

// guess makes n different attempts and returns how many were checked.
func (l *testLogins) guess(address string, n int) (looked int) {
	l.t.Helper()
	for i := range n {
		if ok, _ := l.try(address, fmt.Sprintf("guess %d at %v", i, l.now())); ok {
			looked++
		}
	}
	return looked
}

func TestRefusedGuessesAreNotChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		addresses []string
		most      int
	}{
		"an IPv4 address":             {[]string{"192.0.2.1"}, mostFailures},
		"the same, mapped into IPv6":  {[]string{"192.0.2.1", "::ffff:192.0.2.1"}, mostFailures},
		"addresses of a /64":          {[]string{"2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::1"}, mostFailures},
		"zones of one address":        {[]string{"fe80::1%a", "fe80::1%b"}, mostFailures},
		"what is no address":          {[]string{"", "x"}, mostFailures},
		"networks of a /56":           {networks(255, "2001:db8:0:%x::1"), 4 * mostFailures},
		"networks of a /48":           {networks(4096, "2001:db8:0:%x0::1"), 10 * mostFailures},
		"any number of addresses":     {networks(250, "192.0.2.%d"), 10 * mostFailures},
		"any number of IPv6 networks": {networks(5000, "2001:%x::1"), 10 * mostFailures},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTestLogins(t, nil)
			looked := 0
			for range mostFailures {
				for _, address := range c.addresses {
					looked += d.guess(address, 1)
				}
			}
			looked += d.guess(c.addresses[0], 100)
			if looked != c.most && len(c.addresses) > 1 || looked > c.most {
				t.Errorf("%d guesses were looked at, want %d", looked, c.most)
			}
			if looked, _ := d.try(c.addresses[0], d.right); looked {
				t.Error("then the right key was looked at")
			}
			d.pass(62 * time.Second)
			if _, in := d.try(c.addresses[0], d.right); !in {
				t.Error("the right key is refused after the window")
			}
		})
	}
}

func networks(n int, format string) []string {
	out := make([]string, 0, n)
	for i := range n {
		out = append(out, fmt.Sprintf(format, i+1))
	}
	return out
}

func TestNeighboursAreNotLockedOut(t *testing.T) {
	t.Parallel()
	const nat = "198.51.100.7"
	d := newTestLogins(t, nil)
	if _, in := d.try(nat, d.right); !in {
		t.Fatal("the right key is refused")
	}
	d.guess(nat, 100)
	if looked, _ := d.try(nat, d.right); looked {
		t.Error("an address is looked at although it was just used up")
	}
	if _, in := d.try("203.0.113.9", d.right); !in {
		t.Error("the same credential is refused from another address")
	}
	looked, refused := 0, 0
	for range 10 * 60 { // ten minutes of an attack that does not end
		d.pass(time.Second)
		looked += d.guess(nat, 20)
		if _, in := d.try(nat, d.right); !in {
			refused++
		}
	}
	if refused > 62 {
		t.Errorf("the neighbour was refused for %d seconds of 600", refused)
	}
	if bound := 11*mostFailures + 11*5; looked > bound {
		t.Errorf("%d of 12,000 guesses were looked at, want at most %d", looked, bound)
	}
	if _, in := d.try("203.0.113.9", "unknown"); in {
		t.Error("a wrong key was let in")
	}
}

func TestAttackSparesKnownCredentials(t *testing.T) {
	t.Parallel()
	d := newTestLogins(t, nil)
	if _, in := d.try("203.0.113.9", d.right); !in {
		t.Fatal("the right key is refused")
	}
	for i := range 200 {
		d.guess(fmt.Sprintf("192.0.2.%d", i), 10)
	}
	if _, in := d.try("203.0.113.9", d.right); !in {
		t.Error("the address that the name is used from is refused")
	}
	if looked, _ := d.try("203.0.113.10", d.right); looked {
		t.Error("an address that is not known is looked at")
	}
	for n := range 61 {
		d.pass(time.Second)
		for i := range 200 {
			d.guess(fmt.Sprintf("192.0.%d.%d", n, i), 1)
		}
	}
	if _, in := d.try("203.0.113.10", d.right); !in {
		t.Error("a credential that is in use elsewhere is refused for as long as the attack lasts")
	}
}

func TestTargetsCountSeparately(t *testing.T) {
	t.Parallel()
	d := newTestLogins(t, nil)
	hook := ratelimit.Attempt{Target: "hook acme/f", Address: "192.0.2.1", Credential: "x"}
	for range mostFailures {
		if _, err := d.Failed(t.Context(), hook); err != nil {
			t.Fatal(err)
		}
	}
	if v, _ := d.Admit(t.Context(), hook); v.Allowed {
		t.Error("the hook is still looked at")
	}
	if _, in := d.try("192.0.2.1", d.right); !in {
		t.Error("a hook's failures count at another target")
	}
}

func TestClockJumpsLockNobodyOut(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{
		"back by a day": -24 * time.Hour, "back by a year": -365 * 24 * time.Hour, "forward by a day": 24 * time.Hour,
		"back by a second": -time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTestLogins(t, nil)
			d.guess("192.0.2.1", 100)
			l, c := limiter(t, ratelimit.Config{Window: time.Minute, Max: 1})
			take(t, l, "a")
			d.pass(jump)
			c.pass(jump)
			if v := take(t, l, "a"); v.Reset > time.Minute+time.Second {
				t.Errorf("a caller at its limit is refused for %v", v.Reset)
			}
			if jump < 0 {
				if looked, _ := d.try("192.0.2.1", d.right); looked {
					t.Error("putting the clock back lets guesses through")
				}
			}
			d.pass(62 * time.Second)
			c.pass(62 * time.Second)
			if _, in := d.try("192.0.2.1", d.right); !in {
				t.Error("the address is still refused a minute later")
			}
			if !take(t, l, "a").Allowed {
				t.Error("the caller is still refused a minute later")
			}
		})
	}
}

// A flood of addresses neither grows the memory nor makes Logins forget an attacker.
func TestFloodForgetsNoAttacker(t *testing.T) {
	t.Parallel()
	l, c := limiter(t, ratelimit.Config{Window: time.Minute, Max: 3, Callers: 100})
	for range 3 {
		take(t, l, "attacker")
	}
	for i := range 10_000 {
		take(t, l, fmt.Sprint("other ", i))
		take(t, l, fmt.Sprint("other ", i))
	}
	if take(t, l, "attacker").Allowed {
		t.Error("a flood has the attacker forgotten")
	}
	c.pass(2 * time.Minute)
	for i := range 200 {
		take(t, l, fmt.Sprint("later ", i))
	}
	if v := take(t, l, "attacker"); v.Remaining != 2 {
		t.Errorf("after its window: %+v", v)
	}
}

func TestSharedLogins(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	tally := func(c *clock) ratelimit.Tally { return shared(t, s, 1, time.Minute, c.now, silent) }
	one, two := newTestLogins(t, tally), newTestLogins(t, tally)
	if _, in := two.try("192.0.2.1", two.right); !in {
		t.Fatal("the right key is refused")
	}
	if looked := one.guess("192.0.2.1", 100); looked != mostFailures {
		t.Errorf("%d guesses were looked at", looked)
	}
	if looked := two.guess("192.0.2.1", 100); looked != 0 {
		t.Errorf("another gateway looked at %d guesses", looked)
	}
	if looked, _ := two.try("192.0.2.1", two.right); looked {
		t.Error("another gateway looked at the right key")
	}
	if _, in := two.try("192.0.2.2", two.right); !in {
		t.Error("another address is refused")
	}
	s.stop()
	if looked := one.guess("192.0.2.1", 100); looked != 0 {
		t.Errorf("without Redis %d guesses were looked at", looked)
	}
	if looked := one.guess("192.0.2.3", 100); looked != mostFailures {
		t.Errorf("without Redis %d guesses of another address were looked at", looked)
	}
}

package ratelimit

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/airlock-run/airlock/gateway/monotonic"
)

const (
	// perSubnet and perSite multiply the limit of an IPv6 /64 for its /56 and its /48, which is what a subscriber and a
	// site are given. A caller who owns 65,536 networks therefore has 16 limits.
	perSubnet = 4
	perSite   = 16
	// perName multiplies the limit of an address for the use of one name by all addresses together.
	perName = 10
	// spared is how often a credential that was valid before may fail in a window while its address is refused.
	spared = 5
	// attackKept is how long an attack is remembered after its last refusal. goodKept is how long a valid credential is.
	attackKept = time.Hour
	goodKept   = 12 * time.Hour
)

// LoginsConfig sizes Logins.
type LoginsConfig struct {
	// Tally counts failures. They count for the length of its window.
	Tally Tally
	// Window is the window of the Tally.
	Window time.Duration
	// Most is how many attempts of one address may fail in a window; at least 1.
	Most int
	// Remembered bounds the attacks and the valid credentials that are remembered; 0 means 65,536 of each.
	Remembered int
	Now        func() time.Time
}

// Logins bounds how often credentials can be guessed. Failed attempts count against
//
//   - the address: an IPv4 address, or the /64 of an IPv6 one, and with a higher limit its /56 and /48;
//   - the name that the credential claims (the deployment's API key, the key ID, issuer and subject of a token), over
//     all addresses from which no credential of that name was valid recently.
//
// While one of them is used up, an attempt is refused before its credential is checked, with the same work for every
// credential.
//
// An attacker who fails on purpose must not lock others out forever. Once an attack has lasted for a window, a
// credential that was valid from the same address within 12 hours (for a name: from any address) is checked again,
// and may then fail 5 times in a window. Credentials are told apart by 16 bits of a keyed hash, so this reveals no
// more than those 5 attempts do. An attack is over when nothing was refused for an hour.
//
// Memory is bounded: that of a Tally, and Remembered entries of each kind. Logins is safe for concurrent use.
type Logins struct {
	cfg    LoginsConfig
	secret [sha256.Size]byte

	mu      sync.Mutex
	clock   func() time.Duration
	attacks *lru[time.Duration] // when the attack on a key of the Tally was first seen
	good    *lru[struct{}]      // marks of valid credentials
}

// NewLogins checks the configuration and returns Logins.
func NewLogins(cfg LoginsConfig) (*Logins, error) {
	if cfg.Tally == nil || cfg.Now == nil || cfg.Window <= 0 || cfg.Most < 1 || cfg.Remembered < 0 {
		return nil, errors.New("rate limit: failed logins need a tally, its window, a clock and a limit of at least 1")
	}
	if cfg.Remembered == 0 {
		cfg.Remembered = 1 << 16
	}
	l := &Logins{
		cfg: cfg, clock: monotonic.Elapsed(cfg.Now), attacks: newLRU[time.Duration](cfg.Remembered, attackKept),
		good: newLRU[struct{}](cfg.Remembered, goodKept),
	}
	_, err := rand.Read(l.secret[:])
	return l, err
}

// An Attempt is one attempt to log in.
type Attempt struct {
	// Target separates counts: failures at one target do not count at another. "" is where callers present their
	// credentials.
	Target string
	// Address is where the attempt comes from. The caller cannot choose it.
	Address string
	// Credential is the credential that was presented.
	Credential string
	// Name returns the name that the credential claims. It is not called while the address is refused.
	Name func() string
}

// Admit returns the verdict on an attempt whose credential has not been checked.
func (l *Logins) Admit(ctx context.Context, a Attempt) (Verdict, error) {
	from, credential := l.networks(a), l.mark(a.Credential)
	home := from[0].Key
	known := l.isGood(home + credential)
	verdict, err := l.admit(ctx, from, "spare "+home+credential, known)
	if err != nil || !verdict.Allowed || known {
		return verdict, err
	}
	name := l.name(a)
	if l.isGood(home + name.Key) {
		return verdict, nil
	}
	return l.admit(ctx, []Bound{name}, "spare"+credential, l.isGood(credential))
}

// admit refuses an attempt while one of its bounds is used up, unless the attack has lasted and the credential was
// valid before.
func (l *Logins) admit(ctx context.Context, bounds []Bound, spare string, good bool) (Verdict, error) {
	asked := bounds
	if good {
		asked = append(bounds[:len(bounds):len(bounds)], Bound{spare, spared})
	}
	verdicts, err := l.cfg.Tally.Look(ctx, asked)
	if err != nil {
		return Verdict{}, err
	}
	refused, keys := worst(verdicts[:len(bounds)], bounds)
	if len(keys) == 0 || l.lasts(keys) && good && verdicts[len(bounds)].Allowed {
		return Verdict{Allowed: true}, nil
	}
	return refused, nil
}

// worst returns the refusal that lasts longest, and the keys that refuse.
func worst(verdicts []Verdict, bounds []Bound) (refused Verdict, keys []string) {
	for n, v := range verdicts {
		if v.Allowed {
			continue
		}
		keys = append(keys, bounds[n].Key)
		if v.Reset > refused.Reset {
			refused = v
		}
	}
	return refused, keys
}

// Failed counts an attempt whose credential was wrong. The verdict refuses if other attempts at the same time have
// used up the limit. The caller then gets that refusal, and not the one of a wrong credential.
func (l *Logins) Failed(ctx context.Context, a Attempt) (Verdict, error) {
	from, credential := l.networks(a), l.mark(a.Credential)
	home, bounds, spares := from[0].Key, from, []Bound(nil)
	if name := l.name(a); !l.isGood(home + name.Key) {
		bounds = append(bounds, name)
	}
	if l.isGood(home + credential) {
		spares = append(spares, Bound{"spare " + home + credential, spared})
	}
	if l.isGood(credential) {
		spares = append(spares, Bound{"spare" + credential, spared})
	}
	verdicts, err := l.cfg.Tally.Count(ctx, append(bounds[:len(bounds):len(bounds)], spares...))
	if err != nil {
		return Verdict{}, err
	}
	refused, keys := worst(verdicts[:len(bounds)], bounds)
	if len(keys) == 0 || len(spares) > 0 {
		return Verdict{Allowed: true}, nil
	}
	return refused, nil
}

// Succeeded remembers that the credential was right.
func (l *Logins) Succeeded(a Attempt) {
	home, credential := l.networks(a)[0].Key, l.mark(a.Credential)
	marks := []string{home + credential, credential}
	if !l.isGood(marks[0]) {
		marks = append(marks, home+l.name(a).Key)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	for _, mark := range marks {
		l.good.put(mark, struct{}{}, now)
	}
}

// isGood reports whether the credential of a mark was valid recently.
func (l *Logins) isGood(mark string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.good.get(mark, l.clock())
	return ok
}

// lasts reports whether the attacks on all of these keys have lasted for a window. It remembers attacks that begin
// now.
func (l *Logins) lasts(keys []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, all := l.clock(), true
	for _, key := range keys {
		since, ok := l.attacks.get(key, now)
		if !ok {
			since = now
		}
		l.attacks.put(key, since, now)
		all = all && now-since >= l.cfg.Window
	}
	return all
}

// networks returns the keys of an attempt's address, the closest network first.
func (l *Logins) networks(a Attempt) []Bound {
	target := "failed " + strconv.Quote(a.Target) + " "
	address, err := netip.ParseAddr(a.Address)
	if err != nil {
		return []Bound{{target + "unknown", l.cfg.Most}}
	}
	if address = address.Unmap().WithZone(""); address.Is4() {
		return []Bound{{target + address.String(), l.cfg.Most}}
	}
	bounds := make([]Bound, 0, 5)
	for _, part := range []struct{ bits, times int }{{64, 1}, {56, perSubnet}, {48, perSite}} {
		network, err := address.Prefix(part.bits)
		if err != nil {
			return []Bound{{target + "unknown", l.cfg.Most}}
		}
		bounds = append(bounds, Bound{target + network.String(), part.times * l.cfg.Most})
	}
	return bounds
}

// name returns the key of the name that an attempt claims. Callers choose names, so a hash bounds their length.
func (l *Logins) name(a Attempt) Bound {
	name := ""
	if a.Name != nil {
		name = a.Name()
	}
	sum := sha256.Sum256([]byte(a.Target + "\x00" + name))
	return Bound{" name " + hex.EncodeToString(sum[:16]), perName * l.cfg.Most}
}

// mark returns 16 bits that tell credentials apart most of the time, and that nobody outside can compute.
func (l *Logins) mark(credential string) string {
	h := hmac.New(sha256.New, l.secret[:])
	h.Write([]byte(credential))
	return " " + strconv.Itoa(int(binary.BigEndian.Uint16(h.Sum(nil))))
}

package ratelimit

import (
	"context"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed window.lua
var windowScript string

// cooling is how long Redis is not asked after it failed, so that one caller in a thousand pays for the attempt and
// not each.
const cooling = time.Second

// SharedConfig configures a Shared limiter, in addition to the Config of the local limiter that it falls back to.
type SharedConfig struct {
	Config
	// Client speaks to Redis 5 or later, or to Valkey.
	Client redis.UniversalClient
	// Prefix begins every key and keeps them apart from those of other users of the server. Gateways with the same
	// Prefix share counts.
	Prefix string
	// Timeout bounds one question to Redis; 0 means 250 ms.
	Timeout time.Duration
	// Log receives when Redis is lost and when it is back.
	Log *slog.Logger
}

// Shared is a sliding-window limiter whose counts are in Redis or Valkey, so that many gateways share one limit. It
// counts as [Limiter] does, by the server's clock, in one script: no race between gateways admits a request too many.
//
// While Redis cannot be reached, each gateway limits by itself: a caller then gets at most the limit at each gateway,
// and is not refused because a server of the deployment is down. What Redis allowed is counted locally, too, so
// after an outage no caller has a second allowance at the gateway that served it. Shared is safe for concurrent use.
type Shared struct {
	cfg    SharedConfig
	local  *Limiter
	script *redis.Script
	// lostUntil is when Redis is asked again, in nanoseconds; it is 0 while Redis answers.
	lostUntil atomic.Int64
}

// NewShared checks the configuration and returns a Shared limiter. It does not connect.
func NewShared(cfg SharedConfig) (*Shared, error) {
	local, err := New(cfg.Config)
	if err != nil {
		return nil, err
	}
	if cfg.Client == nil || cfg.Log == nil {
		return nil, errors.New("rate limit: a client and a logger are needed")
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 250 * time.Millisecond
	}
	return &Shared{cfg: cfg, local: local, script: redis.NewScript(windowScript)}, nil
}

// Take counts like [Limiter.Take], over all gateways.
func (s *Shared) Take(ctx context.Context, key string) (Verdict, error) {
	return s.TakeUpTo(ctx, key, s.cfg.Max)
}

// TakeUpTo counts like [Limiter.TakeUpTo], over all gateways.
func (s *Shared) TakeUpTo(ctx context.Context, key string, most int) (Verdict, error) {
	verdicts, err := s.Count(ctx, []Bound{{key, most}})
	if err != nil {
		return Verdict{}, err
	}
	return verdicts[0], nil
}

// run runs the script, which looks at all keys or counts one for each.
func (s *Shared) run(ctx context.Context, bounds []Bound, count bool) ([]Verdict, error) {
	asking, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	keys, args := make([]string, 0, len(bounds)), []any{s.local.slice.Microseconds(), slices, 0}
	if count {
		args[2] = 1
	}
	for _, b := range bounds {
		keys, args = append(keys, s.key(b.Key)), append(args, b.Most)
	}
	out, err := s.script.Run(asking, s.cfg.Client, keys, args...).Int64Slice()
	if err != nil {
		return nil, err
	}
	if len(out) != 3*len(bounds) {
		return nil, fmt.Errorf("the script returned %d numbers for %d keys", len(out), len(bounds))
	}
	verdicts := make([]Verdict, 0, len(bounds))
	for n, b := range bounds {
		verdicts = append(verdicts, Verdict{
			Allowed: out[3*n] == 1, Limit: b.Most, Remaining: max(b.Most-int(out[3*n+1]), 0), Window: s.cfg.Window,
			Reset: time.Duration(out[3*n+2]) * time.Microsecond,
		})
	}
	return verdicts, nil
}

// key returns a key that hides who the caller is from others that read the server.
func (s *Shared) key(key string) string {
	sum := sha256.Sum256([]byte(key))
	return s.cfg.Prefix + s.cfg.Window.String() + ":" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

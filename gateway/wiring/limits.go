package wiring

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/gateway/ratelimit/resp"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

var (
	_ access.Limiter = (*ratelimit.Limiter)(nil)
	_ access.Limiter = (*ratelimit.Shared)(nil)
	_ access.Quotas  = (*ratelimit.Quotas)(nil)
	_ access.Logins  = (*ratelimit.Logins)(nil)
)

// limiter is implemented by the limiter in this process and by the one in Redis.
type limiter interface {
	access.Limiter
	ratelimit.Counter
	ratelimit.Tally
}

// The bounds on wrong credentials, whatever the request limit is: a gateway without a request limit still bounds
// guesses, and no setting locks an address out for longer than a quarter of an hour.
const (
	maxFailures      = 30
	minFailureWindow = time.Second
	maxFailureWindow = 15 * time.Minute
)

// analysesPerRequest is how many analyses a caller may ask for in the place of one other request: editors ask as people
// type.
const analysesPerRequest = 10

// limits sets the limiters of deps. They count in Redis if REDIS_URL is set, otherwise in this process.
func limits(set settings.Settings, policy *Rules, deps *gateway.Deps) error {
	open := func(window time.Duration, most int) (limiter, error) {
		return ratelimit.New(ratelimit.Config{Window: window, Max: most, Now: deps.Now})
	}
	if set.Rate.Redis != "" {
		redis.SetLogger(RedisLog{Log: deps.Logger})
		client, err := RedisClient(set.Rate.Redis)
		if err != nil {
			return err
		}
		deps.Health = append(deps.Health, gateway.Health{
			Name: "redis", Optional: true, Ready: func(ctx context.Context) error { return client.Ping(ctx).Err() },
		})
		open = func(window time.Duration, most int) (limiter, error) {
			return ratelimit.NewShared(ratelimit.SharedConfig{
				Config: ratelimit.Config{Window: window, Max: most, Now: deps.Now},
				Client: client, Prefix: "airlock:limit:", Log: deps.Logger,
			})
		}
	}
	callers, err := open(set.Rate.Window, set.Rate.Max)
	if err != nil {
		return err
	}
	most := analysesPerRequest * min(set.Rate.Max, 100_000_000)
	if deps.Limits.AnalysisLimiter, err = open(set.Rate.Window, most); err != nil {
		return err
	}
	minute, err := open(time.Minute, 1)
	if err != nil {
		return err
	}
	day, err := open(24*time.Hour, 1)
	if err != nil {
		return err
	}
	wrong := min(max(set.Rate.Window, minFailureWindow), maxFailureWindow)
	failures, err := open(wrong, 1)
	if err != nil {
		return err
	}
	deps.Limits.Logins, err = ratelimit.NewLogins(ratelimit.LoginsConfig{
		Tally: failures, Window: wrong, Most: min(set.Rate.Max, maxFailures), Now: deps.Now,
	})
	if err != nil {
		return err
	}
	hooks, err := open(time.Minute, set.Hooks.PerMinute)
	if err != nil {
		return err
	}
	deps.Limits.Limiter, deps.Limits.HookLimiter = callers, hooks
	deps.Limits.Quotas = &ratelimit.Quotas{Minute: minute, Day: day, Of: policy.Quota}
	return nil
}

// RedisClient returns a client that has not connected yet. It never retries, because the limiter has a fallback, and
// bounds what the server may send.
func RedisClient(url string) (redis.UniversalClient, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = 250*time.Millisecond, 250*time.Millisecond,
		250*time.Millisecond
	options.DialerRetries = 1
	options.MaxRetries, options.ContextTimeoutEnabled = -1, true
	options.PoolTimeout = 250 * time.Millisecond
	dial := redis.NewDialer(options)
	options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return resp.Bound(conn), nil
	}
	return redis.NewClient(options), nil
}

// RedisLog sends the messages of the Redis client library to Log at debug level. The errors that it returns say what
// matters.
type RedisLog struct{ Log *slog.Logger }

// Printf implements the library's logger.
func (l RedisLog) Printf(ctx context.Context, format string, args ...any) {
	l.Log.DebugContext(ctx, fmt.Sprintf(format, args...))
}

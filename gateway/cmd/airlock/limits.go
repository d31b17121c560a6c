package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/gateway/ratelimit/resp"
)

var (
	_ gateway.Limiter = (*ratelimit.Limiter)(nil)
	_ gateway.Limiter = (*ratelimit.Shared)(nil)
	_ gateway.Quotas  = (*ratelimit.Quotas)(nil)
	_ gateway.Logins  = (*ratelimit.Logins)(nil)
)

// limiter is what both kinds are.
type limiter interface {
	gateway.Limiter
	ratelimit.Counter
	ratelimit.Tally
}

// What is allowed of wrong credentials at most, and over which times, whatever the limit of requests is set to: a gateway
// whose requests are not limited still bounds guesses, and no setting locks an address out for longer than a quarter hour.
const (
	mostWrong          = 30
	shortestWrongTimes = time.Second
	longestWrongTimes  = 15 * time.Minute
)

// limits gives deps the limits of callers and of tenants: counted in Redis where REDIS_URL names one, else in this process.
func limits(set settings, policy *rules, deps *gateway.Deps) error {
	open := func(window time.Duration, most int) (limiter, error) {
		return ratelimit.New(ratelimit.Config{Window: window, Max: most, Now: deps.Now})
	}
	if set.redis != "" {
		redis.SetLogger(redisLog{deps.Logger})
		client, err := redisClient(set.redis)
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
	callers, err := open(set.rateWindow, set.rateMax)
	if err != nil {
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
	wrong := min(max(set.rateWindow, shortestWrongTimes), longestWrongTimes)
	failures, err := open(wrong, 1)
	if err != nil {
		return err
	}
	deps.Logins, err = ratelimit.NewLogins(ratelimit.LoginsConfig{
		Tally: failures, Window: wrong, Most: min(set.rateMax, mostWrong), Now: deps.Now,
	})
	if err != nil {
		return err
	}
	hooks, err := open(time.Minute, set.hooks.perMinute)
	if err != nil {
		return err
	}
	deps.Limiter, deps.HookLimiter = callers, hooks
	deps.Quotas = &ratelimit.Quotas{Minute: minute, Day: day, Of: policy.Quota}
	return nil
}

// redisClient does not connect yet. Questions that fail are not asked again: the limiter has an answer of its own. What
// the server may send is bounded.
func redisClient(url string) (redis.UniversalClient, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = 250*time.Millisecond, 250*time.Millisecond, 250*time.Millisecond
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

// redisLog keeps the client library from printing by itself: what matters is in the errors that it returns.
type redisLog struct{ log *slog.Logger }

// Printf implements the library's logger.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, args...))
}

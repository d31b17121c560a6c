package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/ratelimit"
)

var (
	_ gateway.Limiter = (*ratelimit.Limiter)(nil)
	_ gateway.Limiter = (*ratelimit.Shared)(nil)
	_ gateway.Quotas  = (*ratelimit.Quotas)(nil)
)

// limiter is what both kinds are.
type limiter interface {
	gateway.Limiter
	ratelimit.Counter
}

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
	deps.Limiter = callers
	deps.Quotas = &ratelimit.Quotas{Minute: minute, Day: day, Of: policy.Quota}
	return nil
}

// redisClient does not connect yet. Questions that fail are not asked again: the limiter has an answer of its own.
func redisClient(url string) (redis.UniversalClient, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = 250*time.Millisecond, 250*time.Millisecond, 250*time.Millisecond
	options.DialerRetries = 1
	options.MaxRetries, options.ContextTimeoutEnabled = -1, true
	return redis.NewClient(options), nil
}

// redisLog keeps the client library from printing by itself: what matters is in the errors that it returns.
type redisLog struct{ log *slog.Logger }

// Printf implements the library's logger.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, args...))
}

package process

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
)

// adapted returns the adapter for events of sources other than a gateway.
func adapted(set Settings, log *slog.Logger) (*events.Adapter, error) {
	a, err := events.NewAdapter(events.AdapterConfig{
		Bound: set.EventRequests, OpenHTTP: set.OpenHTTP, Headers: set.EventHeaders, AnswerHeaders: set.EventAnswerHeaders,
		Budget: set.budget, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("EVENT_REQUESTS, EVENT_HEADERS, EVENT_ANSWER_HEADERS: %w", err)
	}
	return a, nil
}

// budget returns the longest time that a request may run: its tier's time, or less if the request asks for less. The
// decision refuses an unknown tier.
func (s Settings) budget(r execution.Request) time.Duration {
	name := r.Policy
	if name == "" {
		name = policy.DefaultTier
	}
	tier, ok := s.Rules.Tier(name)
	if !ok {
		return 0
	}
	if asked := time.Duration(r.Timeout * float64(time.Millisecond)); asked > 0 && asked < tier.Timeout {
		return asked
	}
	return tier.Timeout
}

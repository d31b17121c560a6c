package access

import (
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
)

// Places are the pools of what callers hold open.
type Places struct {
	Connections, Live, Streams, MCPStreams *bounds.Pool
	MCPSessions, LongBodies                *bounds.Leases
}

// NewPlaces returns the pools in the sizes of package bounds, with at most the given number of connections.
func NewPlaces(connections int, now func() time.Time) Places {
	pool := func(resource string) *bounds.Pool { return bounds.NewPool(bounds.Of(resource).Most) }
	return Places{
		Connections: bounds.NewPool(min(connections, bounds.Of(bounds.Connections).Most)), Live: pool(bounds.Live),
		Streams: pool(bounds.Streams), MCPStreams: pool(bounds.MCPStreams),
		MCPSessions: bounds.NewLeases(bounds.Of(bounds.MCPSessions).Most, bounds.SessionIdle, now),
		LongBodies:  bounds.NewLeases(bounds.Of(bounds.LongBodies).Most, bounds.BodyIdle, now),
	}
}

// all returns the pools by their resources.
func (p Places) all() map[string]*bounds.Pool {
	return map[string]*bounds.Pool{
		bounds.Connections: p.Connections, bounds.Live: p.Live, bounds.Streams: p.Streams, bounds.MCPStreams: p.MCPStreams,
		bounds.MCPSessions: p.MCPSessions.Pool, bounds.LongBodies: p.LongBodies.Pool,
	}
}

// Describe implements prometheus.Collector.
func (Places) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (p Places) Collect(out chan<- prometheus.Metric) {
	labels := []string{"resource"}
	usedDesc := prometheus.NewDesc("airlock_bound_used", "Places of a bounded resource that are taken.", labels, nil)
	mostDesc := prometheus.NewDesc("airlock_bound_most", "Places of a bounded resource that there are.", labels, nil)
	for resource, pool := range p.all() {
		used, most := pool.Used()
		out <- prometheus.MustNewConstMetric(usedDesc, prometheus.GaugeValue, float64(used), resource)
		out <- prometheus.MustNewConstMetric(mostDesc, prometheus.GaugeValue, float64(most), resource)
	}
}

// An enterer is a pool, or leases.
type enterer interface {
	Enter(bounds.Owner) (leave func(), err error)
}

// Enter takes a place for the caller until leave is called.
func Enter(c *fiber.Ctx, of enterer, resource string) (leave func(), err error) {
	caller := api.CallerOf(c)
	leave, err = of.Enter(bounds.Owner{
		Tenant: caller.Tenant, Subject: caller.Subject, Operator: caller.May(authn.AuditReadAll),
	})
	if err != nil {
		return nil, &api.Problem{
			Status: 503, Code: "too_many", RetryAfter: 10 * time.Second,
			Detail: "too many " + bounds.Of(resource).What + "; end some, or try again",
		}
	}
	return leave, nil
}

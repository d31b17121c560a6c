package gateway

import (
	"net"
	"net/netip"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
)

// places are the pools of what callers hold open.
type places struct {
	connections, live, streams, mcpStreams *bounds.Pool
	mcpSessions                            *bounds.Leases
}

func newPlaces(now func() time.Time) places {
	pool := func(resource string) *bounds.Pool { return bounds.NewPool(bounds.Of(resource).Most) }
	return places{
		connections: pool(bounds.Connections), live: pool(bounds.Live), streams: pool(bounds.Streams), mcpStreams: pool(bounds.MCPStreams),
		mcpSessions: bounds.NewLeases(bounds.Of(bounds.MCPSessions).Most, bounds.SessionIdle, now),
	}
}

// all returns the pools by their resources.
func (p places) all() map[string]*bounds.Pool {
	return map[string]*bounds.Pool{
		bounds.Connections: p.connections, bounds.Live: p.live, bounds.Streams: p.streams, bounds.MCPStreams: p.mcpStreams,
		bounds.MCPSessions: p.mcpSessions.Pool,
	}
}

// Describe implements prometheus.Collector.
func (places) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (p places) Collect(out chan<- prometheus.Metric) {
	usedDesc := prometheus.NewDesc("airlock_bound_used", "Places of a bounded resource that are taken.", []string{"resource"}, nil)
	mostDesc := prometheus.NewDesc("airlock_bound_most", "Places of a bounded resource that there are.", []string{"resource"}, nil)
	for resource, pool := range p.all() {
		used, most := pool.Used()
		out <- prometheus.MustNewConstMetric(usedDesc, prometheus.GaugeValue, float64(used), resource)
		out <- prometheus.MustNewConstMetric(mostDesc, prometheus.GaugeValue, float64(most), resource)
	}
}

// holder is the caller as an owner of places.
func holder(c *fiber.Ctx) bounds.Owner {
	caller := callerOf(c)
	return bounds.Owner{Tenant: caller.Tenant, Subject: caller.Subject, Operator: caller.May(authn.AuditReadAll)}
}

// enterer is a pool, or leases.
type enterer interface {
	Enter(bounds.Owner) (leave func(), err error)
}

// enter takes a place for the caller, until leave is called.
func enter(c *fiber.Ctx, of enterer, resource string) (leave func(), err error) {
	leave, err = of.Enter(holder(c))
	if err != nil {
		return nil, &problem{
			status: 503, code: "too_many", retryAfter: 10 * time.Second,
			detail: "too many " + bounds.Of(resource).What + "; end some, or try again",
		}
	}
	return leave, nil
}

// doormen are listeners that close the connections of an address that has too many. Those of proxies count as nobody's: each
// carries many callers.
type doormen struct {
	net.Listener
	pool    *bounds.Pool
	proxies []netip.Prefix
	hooks   bool // webhooks alone are served here
}

// Accept implements net.Listener.
func (d doormen) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return conn, err
		}
		leave, err := d.pool.Enter(d.owner(conn))
		if err != nil {
			_ = conn.Close() // nothing was said on it
			continue
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			return &lingerer{TCPConn: tcp, leave: leave, hooks: d.hooks}, nil
		}
		return &left{conn, leave}, nil
	}
}

// owner is the network of a peer.
func (d doormen) owner(conn net.Conn) bounds.Owner {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return bounds.Owner{}
	}
	if within(d.proxies, peer.Addr().Unmap()) {
		return bounds.Owner{Tenant: peer.String(), Subject: "proxy"}
	}
	return bounds.Owner{Tenant: network(peer.Addr().String())}
}

// left is a connection that gives its place back.
type left struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (l *left) Close() error {
	defer l.leave()
	return l.Conn.Close()
}

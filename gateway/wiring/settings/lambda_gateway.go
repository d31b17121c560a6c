package settings

import (
	"net/netip"
	"strings"

	"github.com/airlock-run/airlock/infra/state/alarms"
)

// The values of LAMBDA_FRONT: what stands in front of a gateway that runs on Lambda.
const (
	FrontStream = "stream" // a Function URL with invoke mode RESPONSE_STREAM
	FrontBuffer = "buffer" // an API Gateway HTTP API
	FrontJobs   = "jobs"   // nothing: the function runs the jobs that other gateways store
)

// lambdaGateway changes the settings of a gateway that runs on Lambda, where AWS_LAMBDA_RUNTIME_API is set. There the
// front calls the gateway over the loopback for anybody, so a loopback address does not stand for a credential. What
// an execution environment stores is lost with it, and the next request may reach another one.
func (r *reader) lambdaGateway(s *Settings) {
	if r.getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		return
	}
	switch s.OnLambda.Front = strings.TrimSpace(r.getenv("LAMBDA_FRONT")); s.OnLambda.Front {
	case "":
		s.OnLambda.Front = FrontStream
	case FrontStream, FrontBuffer, FrontJobs:
	default:
		r.fail("LAMBDA_FRONT", "must be stream, for a Function URL with RESPONSE_STREAM, buffer, for an HTTP API, or "+
			"jobs, for the function that runs jobs; got %q", s.OnLambda.Front)
	}
	if s.Auth.Open && s.OnLambda.Front != FrontJobs {
		r.fail("API_KEY", "is not set, nor is another credential; on Lambda anybody may reach this gateway: set "+
			"API_KEY, JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL")
	}
	if s.Invoker == "local" {
		r.fail("INVOKER", "must be lambda on Lambda: function processes would be frozen between requests")
	}
	if !IsBucket(s.AuditStore) {
		r.fail("AUDIT_STORE", "must be s3://bucket/prefix on Lambda: a folder, and its records, would be lost with its "+
			"environment")
	}
	const shared = "dynamodb://table?contents=s3://bucket/prefix"
	if s.State != "" && !IsTable(s.State) {
		r.fail("AIRLOCK_STATE", "must be "+shared+", or none, on Lambda: a folder would be lost with its environment")
	}
	if s.OnLambda.Front == FrontJobs && !IsTable(s.State) {
		r.fail("AIRLOCK_STATE", "must be "+shared+" if LAMBDA_FRONT is jobs: the jobs are there")
	}
	s.OnLambda.Alarms = r.alarms(s.State)
	s.OnLambda.JobsFunction = strings.TrimSpace(r.getenv("LAMBDA_JOBS_FUNCTION"))
	if s.SnapshotKeys != nil && s.OnLambda.Front != FrontJobs && s.OnLambda.JobsFunction == "" &&
		s.Queues.Jobs == "" {
		r.fail("LAMBDA_JOBS_FUNCTION", "must be set beside SNAPSHOT_KEYS: that function continues what has paused")
	}
	s.Host, s.Port = "127.0.0.1", "0"
	s.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
}

// alarms returns LAMBDA_ALARMS.
func (r *reader) alarms(state string) string {
	text := strings.TrimSpace(r.getenv("LAMBDA_ALARMS"))
	if text == "" {
		return ""
	}
	if err := alarms.Check(text); err != nil {
		r.fail("LAMBDA_ALARMS", "%v", err)
	} else if !IsTable(state) {
		r.fail("LAMBDA_ALARMS", "needs AIRLOCK_STATE=dynamodb://table?contents=s3://bucket/prefix")
	}
	return text
}

// trustedProxies reads TRUSTED_PROXIES.
func (r *reader) trustedProxies() []netip.Prefix {
	var out []netip.Prefix
	for _, text := range r.list("TRUSTED_PROXIES") {
		network, err := netip.ParsePrefix(text)
		if a, bad := netip.ParseAddr(text); bad == nil {
			network, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			r.fail("TRUSTED_PROXIES", "%q is not a network; list those of the proxies in front, such as 10.0.0.0/16,192.0.2.1",
				text)
			continue
		}
		out = append(out, network.Masked())
	}
	return out
}

package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
)

// The values of LAMBDA_FRONT: what is in front of the gateway where Lambda runs it.
const (
	frontStream = "stream" // a Function URL with the invoke mode RESPONSE_STREAM
	frontBuffer = "buffer" // an API Gateway HTTP API
	frontJobs   = "jobs"   // nothing: the function runs what the others keep
)

// onLambda changes the settings where Lambda runs the gateway, which is where AWS_LAMBDA_RUNTIME_API is set. Only our own
// front talks to the gateway there, over the loopback, on behalf of anybody at all: being on a loopback address is no
// credential then. What an environment keeps is gone with it, and may be another's than the one that answers next.
func (r *reader) onLambda(s *settings) {
	if r.getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		return
	}
	switch s.front = strings.TrimSpace(r.getenv("LAMBDA_FRONT")); s.front {
	case "":
		s.front = frontStream
	case frontStream, frontBuffer, frontJobs:
	default:
		r.fail("LAMBDA_FRONT", "must be stream, for a Function URL with RESPONSE_STREAM, buffer, for an HTTP API, or jobs, for the function that runs jobs; got %q", s.front)
	}
	if s.open && s.front != frontJobs {
		r.fail("API_KEY", "is not set, and neither is another credential; on Lambda anybody may reach this gateway: set API_KEY, JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL")
	}
	if s.invoker == "local" {
		r.fail("INVOKER", "must be lambda on Lambda: function processes would stand still whenever no request is being answered")
	}
	if !isBucket(s.auditStore) {
		r.fail("AUDIT_STORE", "must be s3://bucket/prefix on Lambda: a folder is gone with its environment, and the records in it")
	}
	if s.state != "" && !isBucket(s.state) {
		r.fail("AIRLOCK_STATE", "must be s3://bucket/prefix or none on Lambda: a folder is gone with its environment, and what was promised with it")
	}
	if s.front == frontJobs && !isBucket(s.state) {
		r.fail("AIRLOCK_STATE", "must be s3://bucket/prefix where LAMBDA_FRONT is jobs: that is where the jobs are")
	}
	s.jobsFunction = strings.TrimSpace(r.getenv("LAMBDA_JOBS_FUNCTION"))
	s.host, s.port = "127.0.0.1", "0"
	s.proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
}

// serveFront hands Lambda's events to the gateway that listens on address, until the process ends.
func serveFront(front string, server *gateway.Server, address net.Addr) {
	if front == frontJobs {
		events.ServeTurns(server.Turn)
	}
	events.ServeFront(events.Front(&url.URL{Scheme: "http", Host: address.String()}), front == frontBuffer)
}

// onLambdaDeps adds what the gateway on Lambda needs: somebody who runs its jobs.
func onLambdaDeps(ctx context.Context, set settings, deps *gateway.Deps) error {
	if set.jobsFunction == "" {
		return nil
	}
	waker, err := lambdainvoke.NewWaker(ctx, lambdainvoke.Config{Function: set.jobsFunction, Endpoint: set.lambda.endpoint})
	if err != nil {
		return fmt.Errorf("LAMBDA_JOBS_FUNCTION: %w", err)
	}
	deps.Wake = waker.Wake
	return nil
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
			r.fail("TRUSTED_PROXIES", "%q is no network; list those of the proxies in front, such as 10.0.0.0/16,192.0.2.1", text)
			continue
		}
		out = append(out, network.Masked())
	}
	return out
}

package main

import (
	"strings"
	"testing"
	"time"
)

// What the template gives the gateway on Lambda.
var onLambdaGood = []string{
	"AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001", "INVOKER=lambda", "LAMBDA_FUNCTION=airlock-{policy}", "LAMBDA_TENANCY=shared",
	"AUDIT_STORE=s3://bucket/audit", "JWT_SECRET=" + secret, "REDIS_URL=", "JWT_JWKS_URL=", "JWT_ISSUER=", "JWT_AUDIENCE=", "CORS_ORIGINS=",
}

func TestSettingsOnLambda(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change      []string
		front       string
		says, state string
	}{
		{nil, "stream", "", ""},
		{[]string{"LAMBDA_FRONT=buffer", "HOST=0.0.0.0", "PORT=80", "AIRLOCK_STATE=none", "LAMBDA_TENANCY=per-tenant"}, "buffer", "", ""},
		{[]string{"LAMBDA_FRONT="}, "stream", "", ""},
		{[]string{"LAMBDA_FRONT=url"}, "", "LAMBDA_FRONT: must be stream", ""},
		{[]string{"LAMBDA_FRONT=jobs", "JWT_SECRET=", "AIRLOCK_STATE=s3://bucket/state"}, "jobs", "", "s3://bucket/state"},
		{[]string{"LAMBDA_FRONT=jobs"}, "", "AIRLOCK_STATE: must be s3://bucket/prefix where LAMBDA_FRONT is jobs", ""},
		{[]string{"LAMBDA_JOBS_FUNCTION=airlock-jobs", "AIRLOCK_STATE=s3://bucket/state"}, "stream", "", "s3://bucket/state"},
		{[]string{"JWT_SECRET="}, "", "API_KEY: is not set, and neither is another credential", ""},
		{[]string{"INVOKER="}, "", "INVOKER: must be lambda on Lambda", ""},
		{[]string{"AUDIT_STORE=file:///tmp/audit"}, "", "AUDIT_STORE: must be s3://", ""},
		{[]string{"AUDIT_STORE="}, "", "AUDIT_STORE: must be s3://", ""},
		{[]string{"AIRLOCK_STATE=/tmp/state"}, "", "AIRLOCK_STATE: must be s3://bucket/prefix or none on Lambda", ""},
	} {
		s, err := readSettings(env(append(c.change, onLambdaGood...)...), time.Now)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: got %v, want %q", c.change, err, c.says)
			}
			continue
		}
		if err != nil || s.front != c.front || s.address() != "127.0.0.1:0" || s.open && c.front != "jobs" || s.state != c.state || len(s.proxies) != 1 ||
			s.proxies[0].String() != "127.0.0.1/32" || s.redis != "" || s.corsOrigins != nil {
			t.Errorf("%q: %v %+v", c.change, err, s)
		}
	}
	if s, err := readSettings(env("AWS_LAMBDA_RUNTIME_API="), time.Now); err != nil || s.front != "" || s.state == "" {
		t.Errorf("an empty variable is one that is not set: %v %+v", err, s)
	}
}

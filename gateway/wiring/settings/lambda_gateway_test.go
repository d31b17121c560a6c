package settings

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// lambdaEnv holds the variables that the template sets for the gateway on Lambda.
var lambdaEnv = []string{
	"AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001", "INVOKER=lambda", "LAMBDA_FUNCTION=airlock-{policy}", "LAMBDA_TENANCY=shared",
	"AUDIT_STORE=s3://bucket/audit", "JWT_SECRET=" + secret, "REDIS_URL=", "JWT_JWKS_URL=", "JWT_ISSUER=", "JWT_AUDIENCE=",
	"CORS_ORIGINS=",
}

func TestSettingsOnLambda(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change      []string
		front       string
		says, state string
	}{
		{nil, "stream", "", ""},
		{[]string{"LAMBDA_FRONT=buffer", "HOST=0.0.0.0", "PORT=80", "AIRLOCK_STATE=none", "LAMBDA_TENANCY=per-tenant"},
			"buffer", "", ""},
		{[]string{"LAMBDA_FRONT="}, "stream", "", ""},
		{[]string{"LAMBDA_FRONT=url"}, "", "LAMBDA_FRONT: must be stream", ""},
		{[]string{"AIRLOCK_STATE=s3://bucket/state"}, "",
			"AIRLOCK_STATE: buckets no longer hold state; stop all gateways, copy the state with `airlock state copy " +
				"s3://bucket/state TO`", ""},
		{[]string{"LAMBDA_FRONT=jobs"}, "", "AIRLOCK_STATE: must be dynamodb://table?contents=s3://bucket/prefix " +
			"if LAMBDA_FRONT is jobs", ""},
		{[]string{"LAMBDA_FRONT=jobs", "JWT_SECRET=", "AIRLOCK_STATE=dynamodb://table?contents=s3://bucket/state"}, "jobs",
			"", "dynamodb://table?contents=s3://bucket/state"},
		{[]string{"LAMBDA_JOBS_FUNCTION=airlock-jobs",
			"AIRLOCK_STATE=dynamodb://table?contents=s3://bucket/state"}, "stream", "",
			"dynamodb://table?contents=s3://bucket/state"},
		{[]string{"JWT_SECRET="}, "", "API_KEY: is not set, nor is another credential", ""},
		{[]string{"INVOKER="}, "", "INVOKER: must be lambda on Lambda", ""},
		{[]string{"AUDIT_STORE=file:///tmp/audit"}, "", "AUDIT_STORE: must be s3://", ""},
		{[]string{"AUDIT_STORE="}, "", "AUDIT_STORE: must be s3://", ""},
		{[]string{"AIRLOCK_STATE=/tmp/state"}, "", "AIRLOCK_STATE: must be dynamodb://table?contents=s3://bucket/prefix, " +
			"or none, on Lambda", ""},
	} {
		s, err := Read(env(append(c.change, lambdaEnv...)...), time.Now)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: got %v, want %q", c.change, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.change, err)
			continue
		}
		type chosen struct{ front, address, state, proxies, redis, origins string }
		got := chosen{s.OnLambda.Front, s.Address(), s.State, fmt.Sprint(s.Proxies), s.Rate.Redis, fmt.Sprint(s.CORSOrigins)}
		if want := (chosen{c.front, "127.0.0.1:0", c.state, "[127.0.0.1/32]", "", "[]"}); got != want {
			t.Errorf("%q: got %+v, want %+v", c.change, got, want)
		}
		if s.Auth.Open && c.front != "jobs" {
			t.Errorf("%q: the gateway is open", c.change)
		}
	}
	if s, err := Read(env("AWS_LAMBDA_RUNTIME_API="), time.Now); err != nil || s.OnLambda.Front != "" || s.State == "" {
		t.Errorf("an empty variable is one that is not set: %v %+v", err, s)
	}
}

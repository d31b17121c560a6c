package settings

import (
	"net/url"
	"strings"

	"github.com/airlock-run/airlock/functions/process"
)

// Lambda holds the settings of INVOKER=lambda.
type Lambda struct {
	Function, Endpoint string
	Handover           string // URL of the bucket for requests over Lambda's limit; "" refuses them
	PerTenant          bool
	Concurrency        int
}

// lambda reads the settings of INVOKER=lambda.
func (r *reader) lambda() Lambda {
	l := Lambda{
		Function: strings.TrimSpace(r.getenv("LAMBDA_FUNCTION")), Endpoint: strings.TrimSpace(r.getenv("LAMBDA_ENDPOINT")),
		Concurrency: r.number("LAMBDA_CONCURRENCY", 50, 1, 100_000),
	}
	if l.Function == "" {
		r.fail("LAMBDA_FUNCTION", "is not set; INVOKER=lambda needs the name or the ARN of a function, with {policy} in "+
			"it if every tier has its own")
	}
	if l.Endpoint != "" && !isHTTP(l.Endpoint) {
		r.fail("LAMBDA_ENDPOINT", "must be a URL such as http://127.0.0.1:9001; got %q", l.Endpoint)
	}
	switch text := strings.TrimSpace(r.getenv("LAMBDA_TENANCY")); text {
	case "", "shared":
	case "per-tenant":
		l.PerTenant = true
	default:
		r.fail("LAMBDA_TENANCY", "must be shared (the default), or per-tenant for a function whose TenancyConfig is "+
			"PER_TENANT; got %q", text)
	}
	var err error
	if l.Handover, err = process.Handover(r.getenv); err != nil {
		r.wrong = append(r.wrong, err)
	}
	return l
}

// redis reads REDIS_URL.
func (r *reader) redis() string {
	text := strings.TrimSpace(r.getenv("REDIS_URL"))
	if text == "" {
		return ""
	}
	// The URL may hold a password, so it is not repeated.
	if u, err := url.Parse(text); err != nil || u.Scheme != "redis" && u.Scheme != "rediss" && u.Scheme != "unix" ||
		u.Host == "" && u.Path == "" {
		r.fail("REDIS_URL", "must be a URL such as redis://127.0.0.1:6379/0, or rediss:// for TLS")
	}
	return text
}

func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// IsBucket reports whether the URL of a store names a bucket.
func IsBucket(store string) bool { return strings.HasPrefix(store, "s3://") }

package settings

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const secret = "a secret of the tests with 32 bytes or more"

// env is an environment of NAME=value.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if n, v, _ := strings.Cut(p, "="); n == name {
				return v
			}
		}
		return ""
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	s, err := Read(env(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"address", s.Address(), "127.0.0.1:3000"},
		{"open", s.Auth.Open, true},
		{"bodies", s.Bodies, Bodies{16 << 20, 1 << 20, 768 << 10, 2 << 20}},
		{"rate", s.Rate.Max, 600},
		{"window", s.Rate.Window, time.Minute},
		{"invoker", s.Invoker, "local"},
		{"records", s.AuditStore, "file://" + filepath.Join(here, "audit")},
		{"origins", s.CORSOrigins, []string(nil)},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  []string
		want Bodies
	}{
		{nil, Bodies{16 << 20, 1 << 20, 768 << 10, 2 << 20}},
		{[]string{"MAX_BODY_SIZE=5000000"}, Bodies{5_000_000, 5_000_000, 768 << 10, 2 << 20}},
		{[]string{"MAX_BODY_SIZE=5000000", "MAX_DATA_SIZE=1000"}, Bodies{5_000_000, 1000, 768 << 10, 2 << 20}},
		{[]string{"MAX_DATA_SIZE=2000000"}, Bodies{16 << 20, 2_000_000, 768 << 10, 2 << 20}},
	} {
		if s, err := Read(env(c.env...), time.Now); err != nil || s.Bodies != c.want {
			t.Errorf("%v: %+v %v, want %+v", c.env, s.Bodies, err, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{text, strings.ReplaceAll(text, "\n", `\n`), file} {
		s, err := Read(env("HOST=0.0.0.0", "PORT=0", "JWT_SECRET="+secret, "JWT_PUBLIC_KEY="+key,
			"CORS_ORIGINS= https://App.example.com/, http://localhost:5173,", "AUDIT_STORE=file:///var/audit"), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if s.Auth.Open || len(s.Auth.Config.Keys) != 2 {
			t.Errorf("it is open: %t, with %d keys", s.Auth.Open, len(s.Auth.Config.Keys))
		}
		if s.Address() != "0.0.0.0:0" || s.AuditStore != "file:///var/audit" {
			t.Errorf("the address is %s, the store %s", s.Address(), s.AuditStore)
		}
		if origins := strings.Join(s.CORSOrigins, " "); origins != "https://app.example.com http://localhost:5173" {
			t.Errorf("the origins are %s", origins)
		}
	}
	if s, err := Read(env("HOST=::1"), time.Now); err != nil || s.Address() != "[::1]:3000" {
		t.Errorf("%s, %v", s.Address(), err)
	}
}

func TestSettingsRefused(t *testing.T) {
	t.Parallel()
	cases := []struct{ env, says string }{
		{"PORT=http", "PORT: must be a whole number from 0 to 65535"},
		{"PORT=70000", "PORT:"},
		{"PORT=-1", "PORT:"},
		{"HOST=0.0.0.0", "HOST: 0.0.0.0 can be reached by others, and no credential is set: set API_KEY"},
		{"HOST=::", "HOST:"},
		{"HOST=example.com", "HOST:"},
		{"MAX_BODY_SIZE=0", "MAX_BODY_SIZE:"},
		{"MAX_BODY_SIZE=1mb", "MAX_BODY_SIZE:"},
		{"MAX_BODY_SIZE=999999999999", "MAX_BODY_SIZE:"},
		{"DRAIN_SECONDS=-1", "DRAIN_SECONDS: must be a whole number from 0 to 600"},
		{"LOG_FORMAT=xml", "LOG_FORMAT: must be text or json; got \"xml\""},
		{"LOG_LEVEL=loud", "LOG_LEVEL: must be debug, info, warn or error"},
		{"ACCESS_LOG=yes", "ACCESS_LOG: must be true or false"},
		{"RATE_LIMIT_WINDOW_MS=0", "RATE_LIMIT_WINDOW_MS:"},
		{"RATE_LIMIT_MAX_REQUESTS=0", "RATE_LIMIT_MAX_REQUESTS:"},
		{"RATE_LIMIT_MAX_REQUESTS=many", "RATE_LIMIT_MAX_REQUESTS:"},
		{"SANDBOX_MEMORY_MB=0", "SANDBOX_MEMORY_MB:"},
		{"FUNCTION_PROCESSES=0", "FUNCTION_PROCESSES:"},
		{"API_KEY=with white space in it", "API_KEY: must not contain white space"},
		{"API_KEY= ", "API_KEY: must not contain white space"},
		{"API_KEY=x", "API_KEY: has 1 bytes; at least 16 are needed, and they should be random (try: openssl rand -hex 32)"},
		{"API_KEY=fifteen-bytes-1", "API_KEY: has 15 bytes"},
		{"JWT_SECRET=short", "JWT_SECRET: has 5 bytes; HS256 needs at least 32"},
		{"JWT_PUBLIC_KEY=hello", "JWT_PUBLIC_KEY: must be a PEM"},
		{"JWT_PUBLIC_KEY=/dev/zero", "JWT_PUBLIC_KEY: must be a PEM"},
		{"JWT_PUBLIC_KEY=-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
			"JWT_PUBLIC_KEY: has a PUBLIC KEY block that does not parse"},
		{"JWT_JWKS_URL=http://id.example.com/keys", "JWT_JWKS_URL: \"http://id.example.com/keys\" must be https"},
		{"JWT_JWKS_URL=https://a.example/keys,https://b.example/keys", "JWT_JWKS_URL: lists 2 URLs for 0 issuers"},
		{"JWT_ISSUER=somebody", "JWT_ISSUER: \"somebody\" is not a URL"},
		{"JWT_AUDIENCE=airlock", "JWT_AUDIENCE: needs a key"},
		{"CORS_ORIGINS=*", "CORS_ORIGINS: * would let every web page"},
		{"CORS_ORIGINS=app.example.com", "CORS_ORIGINS: \"app.example.com\" is not an origin"},
		{"CORS_ORIGINS=https://*.example.com", "CORS_ORIGINS:"},
		{"CORS_ORIGINS=https://a.example/path", "CORS_ORIGINS:"},
		{"AUDIT_STORE=http://x", "AUDIT_STORE: must be file:///"},
		{"AUDIT_STORE=s3://", "AUDIT_STORE: the store names no bucket"},
		{"S3_ENDPOINT=here", "S3_ENDPOINT: must be a URL"},
		{"AUDIT_SYNC=maybe", "AUDIT_SYNC: must be true or false"},
		{"AUDIT_CODE=all", "AUDIT_CODE: must be hash"},
		{"AUDIT_CODE_BYTES=1mb", "AUDIT_CODE_BYTES: must be a whole number from 1 to 33554432"},
		{"AUDIT_REDACT=chain", "AUDIT_REDACT: field \"chain\" cannot be redacted"},
		{"INVOKER=lambda", "LAMBDA_FUNCTION: is not set"},
		{"REDIS_URL=127.0.0.1:6379", "REDIS_URL: must be a URL"},
		{"AUDIT_STORE=file://", "AUDIT_STORE:"},
		{"AUDIT_CHAIN_KEY=short", "AUDIT_CHAIN_KEY: has 5 bytes"},
		{"INVOKER=cloud", "INVOKER: must be local or lambda"},
		{"HOOKS_PER_MINUTE=0", "HOOKS_PER_MINUTE: must be a whole number from 1"},
		{"HOOKS_ANSWER_HEADERS=Link", "HOOKS_ANSWER_HEADERS: \"Link\" is not the name of an X- header"},
		{"HOOKS_ANSWER_HEADERS=X-Own, X-Accel-Redirect", "HOOKS_ANSWER_HEADERS: x-accel-redirect has a meaning"},
		{"HOOKS_HOST=https://hooks.example.com", "HOOKS_HOST: must be the name of a host"},
		{"HOOKS_HOST=hooks.example.com/x", "HOOKS_HOST:"},
		{"HOOKS_HOST=0.0.0.0:3001", "HOOKS_HOST: 0.0.0.0 can be reached by others, and no credential is set"},
		{"TRUSTED_PROXIES=10.0.0.0/8, balancer", "TRUSTED_PROXIES: \"balancer\" is not a network"},
	}
	for _, c := range cases {
		if _, err := Read(env(c.env), time.Now); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", c.env, err, c.says)
		}
	}
	tenancy := []string{"INVOKER=lambda", "LAMBDA_FUNCTION=f", "LAMBDA_TENANCY=on"}
	if _, err := Read(env(tenancy...), time.Now); err == nil ||
		!strings.Contains(err.Error(), "LAMBDA_TENANCY: must be shared") {
		t.Errorf("LAMBDA_TENANCY=on: %v", err)
	}
	if _, err := Read(env("PORT=x", "MAX_BODY_SIZE=y"), time.Now); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two mistakes are reported as: %v", err)
	}
}

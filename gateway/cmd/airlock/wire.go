package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/infra/localinvoke"
	"github.com/airlock-run/airlock/policy"
)

// newID gives "exec_" and a ULID: sortable by time, and 80 random bits that nobody guesses.
func newID() string {
	return "exec_" + ulid.MustNew(ulid.Now(), rand.Reader).String()
}

// openPolicy gives the tiers and what the deployment opened.
func openPolicy(getenv func(string) string) (*policy.Set, error) {
	var hosts []string
	for h := range strings.SplitSeq(getenv("EGRESS_ALLOW"), ",") {
		if h = strings.TrimSpace(h); h != "" {
			hosts = append(hosts, h)
		}
	}
	return policy.Default().WithHosts("EGRESS_ALLOW", hosts...)
}

// forwarded are the settings that function processes read; nothing else of the environment reaches them.
var forwarded = []string{"AIRLOCK_CACHE_DIR", "AUDIT_CHAIN_KEY", "EGRESS_ALLOW", "HOME", "S3_ENDPOINT", "SANDBOX_MEMORY_MB", "XDG_CACHE_HOME"}

func poolConfig(getenv func(string) string, set settings, log *slog.Logger) localinvoke.Config {
	cfg := localinvoke.Config{Env: []string{"AUDIT_STORE=" + set.auditStore}, Processes: set.processes, Logger: log}
	for _, name := range forwarded {
		if v := getenv(name); v != "" {
			cfg.Env = append(cfg.Env, name+"="+v)
		}
	}
	return cfg
}

// greet says where it serves, by what rules, and how to try it.
func greet(w io.Writer, set settings, address string, rules *policy.Set, processes int, confined string) {
	var names []string
	for _, t := range rules.Tiers() {
		names = append(names, t.Name)
	}
	who := "credentials required"
	credential := " -H \"Authorization: Bearer $API_KEY\""
	switch {
	case set.open:
		who, credential = "no credentials: this machine only", ""
	case set.auth.APIKey == "":
		credential = " -H \"Authorization: Bearer $(airlock token)\""
	}
	_, _ = fmt.Fprintf(w, `airlock serves on http://%s (%s)
  policy     %s unless a request says otherwise (%s)
  records    %s
  functions  %d processes, one execution each at a time, %s
  limit      %d requests per caller in %s (RATE_LIMIT_MAX_REQUESTS, RATE_LIMIT_WINDOW_MS)

try it:
  curl -s http://%s/api/execute%s -H 'Content-Type: application/json' \
    -d '{"code": "const fib = n => n < 2 ? n : fib(n-1) + fib(n-2); console.log(fib(10))"}'
`, address, who, policy.DefaultTier, strings.Join(names, ", "), set.auditStore, processes, confined, set.rateMax, set.rateWindow,
		address, credential)
}

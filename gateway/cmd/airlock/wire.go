package main

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/policy"
)

// newID gives "exec_" and a ULID: sortable by time, and 80 random bits that nobody guesses.
func newID() string {
	return "exec_" + ulid.MustNew(ulid.Now(), rand.Reader).String()
}

// greet says where it serves, by what rules, and how to try it.
func greet(w io.Writer, set settings, address string, tiers *rules, functions string) {
	var names []string
	for _, t := range tiers.Tiers() {
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
	hooks := ""
	if at := cmp.Or(set.hooks.host, set.hooks.address); at != "" {
		hooks = "  webhooks   on " + at + " alone\n"
	}
	_, _ = fmt.Fprintf(w, `airlock serves on http://%s (%s)
  policy     %s unless a request says otherwise (%s)
  records    %s
  functions  %s
  limit      %d requests per caller in %s (RATE_LIMIT_MAX_REQUESTS, RATE_LIMIT_WINDOW_MS)
  pages      /dashboard, /security, /playground, /docs
%s
try it:
  curl -s http://%s/api/execute%s -H 'Content-Type: application/json' \
    -d '{"code": "const fib = n => n < 2 ? n : fib(n-1) + fib(n-2); console.log(fib(10))"}'
`, address, who, policy.DefaultTier, strings.Join(names, ", "), set.auditStore, functions, set.rateMax, set.rateWindow, hooks,
		address, credential)
}

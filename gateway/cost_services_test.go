package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/bounds"
)

// A request of Piston costs the gateway's own process no more than a request of the API.
func TestOwnCostsOfPiston(t *testing.T) {
	s := kept(t, options{reader: newFarReader(t), invoke: small})
	const full = 1<<20 - 400
	repeat := strings.Repeat
	head := `{"language":"js","version":"*",`
	file := func(content string) string { return head + `"files":[{"content":"` + content + `"}]}` }
	for _, body := range []string{
		file(repeat("f(1234, 'text', a.b);", full/21-10)),
		file(repeat(`f(1234, 'text', a.b);\n`, full/23-10)),
		file(repeat(`\u0001\n`+repeat("x", 16), 40_000)),
		file("1") + repeat(" ", full-200),
		head + `"files":[{"content":"1"},{"name":"a","encoding":"base64","content":"` + repeat("AAAA", full/4-40) + `"}]}`,
		head + `"files":[{"content":"1"},{"name":"a","encoding":"hex","content":"` + repeat("00", full/2-80) + `"}]}`,
		head + `"files":[{"content":"1"}` + repeat(`,{"name":"a","content":""}`, full/26-10) + `]}`,
		head + `"files":[{"content":"1"}` + repeat(`,0`, full/2-60) + `]}`,
		head + `"files":[{"content":"1"}],"run_timeout":[0` + repeat(",0", full/2-80) + `]}`,
		head + `"files":[{"content":"1"}],"compile_timeout":[[]` + repeat(",[]", full/3-80) + `]}`,
		head + `"files":[{"content":"1"}],"args":[""` + repeat(`,""`, full/3-80) + `]}`,
		`{"language":"js","files":[{"content":"1"}],"version":"` + repeat("1||", full/3-80) + `"}`,
		head + `"files":[{"content":"1"}],"stdin":"` + repeat(`\u0001`, full/6-80) + `"}`,
		head + `"files":[{"content":"1"}],"x":[0` + repeat(",0", full/2-80) + `]}`,
	} {
		s.bounded(t, "POST", "/api/v2/execute", body)
	}
}

// A request of E2B's client costs the gateway's own process no more than a request of the API.
func TestOwnCostsOfInterpreter(t *testing.T) {
	step := func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
		reply, err := small(ctx, inv, onLog)
		reply.Result.Snapshot, reply.Result.EngineBuild = []byte("s"), "b"
		return reply, err
	}
	s := kept(t, options{
		reader: newFarReader(t), invoke: step, config: gateway.Config{SnapshotKeys: snapshotKeys(t)},
	})
	session := "E2b-Sandbox-Id: " + strings.TrimPrefix(s.session(t, "{}"), "/api/sessions/")
	const full = 1<<20 - 400
	repeat := strings.Repeat
	var names strings.Builder
	for i := range 75_000 {
		fmt.Fprintf(&names, `"%x":"",`, i)
	}
	object := "{" + strings.TrimSuffix(names.String(), ",") + "}"
	for _, path := range []string{"/api/e2b/v2/sandboxes", "/api/e2b/contexts", "/api/e2b/execute"} {
		for _, members := range []string{
			`"envVars":` + object, `"env_vars":` + object, `"envs":` + object, `"x":` + object,
			`"x":"` + repeat(`\u0001`, full/6-80) + `"`,
			`"x":[0` + repeat(",0", full/2-80) + `]`,
			`"x":[{}` + repeat(",{}", full/3-80) + `]`,
			`"language":"` + repeat("x", full-80) + `"`,
			`"templateID":"` + repeat("x", full-80) + `"`,
			`"context_id":"` + repeat("x", full-80) + `"`,
			`"code":"` + repeat("f(1234, 'text', a.b);", full/21-10) + `"`,
			`"code":"` + repeat(`\u0001\n`+repeat("x", 16), 40_000) + `"`,
		} {
			s.bounded(t, "POST", path, "{"+members+"}", session)
		}
	}
}

// A caller has no more contexts and sandboxes than sessions.
func TestContextsAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{auth: tokens(t)})
	ann := tenantToken(t, "ann", "acme", "execute")
	for range bounds.Of(bounds.Sessions).Most {
		want(t, s.do(t, "POST", "/api/e2b/contexts", `{}`, ann), 200)
	}
	want(t, s.do(t, "POST", "/api/e2b/contexts", `{}`, ann), 507, "storage_quota")
	want(t, s.do(t, "POST", "/api/e2b/v2/sandboxes", `{}`, ann), 507, "storage_quota")
	want(t, s.do(t, "POST", "/api/e2b/contexts", `{}`, tenantToken(t, "bob", "acme", "execute")), 200)
}

package gateway_test

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

// Aggregates cover only the records of the caller's tenant, unless the caller may read all records.
func TestAggregatesOfOwnTenant(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey, Keys: hs256(t)}})
	for tenant, n := range map[string]int{"acme": 3, "other": 5} {
		for range n {
			r := audit.Record{ID: "exec_" + ulid.Make().String(), Time: time.Now(), Ending: audit.Ending{Status: "completed"},
				Caller: audit.Caller{Tenant: tenant},
				Assessment: audit.Assessment{DangerAnalysis: []byte(
					`{"score":10,"level":"critical","findings":[{"category":"code_injection","severity":"critical","score":10}]}`,
				)}}
			if err := s.records.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	one := "Authorization: Bearer " + token(t, "ann", "acme", authn.AuditRead)
	everybody := "Authorization: Bearer " + token(t, "root", "acme", authn.AuditReadAll)
	for _, c := range []struct {
		as, query string
		want      float64
	}{
		{one, "", 3}, {everybody, "", 8}, {one, "tenant=acme", 3}, {everybody, "tenant=other", 5},
		{everybody, "tenant=none", 0},
	} {
		series := s.do(t, "GET", "/api/metrics/series?"+c.query, "", c.as).json(t)
		if got := series["total"].(map[string]any)["executions"]; got != c.want {
			t.Errorf("series %s: %v, want %v", c.query, got, c.want)
		}
		for _, top := range series["topTenants"].([]any) {
			if name := top.(map[string]any)["tenant"]; c.as == one && name != "acme" {
				t.Errorf("series %s tells of %v", c.query, name)
			}
		}
		if c.query != "" {
			continue
		}
		if got := s.do(t, "GET", "/api/metrics/executions", "", c.as).json(t)["count"]; got != c.want {
			t.Errorf("metrics: %v, want %v", got, c.want)
		}
		summary := s.do(t, "GET", "/api/audit/security-summary", "", c.as).json(t)
		if tenants := summary["byTenant"].(map[string]any); c.as == one && tenants["other"] != nil {
			t.Errorf("tenants: %v", tenants)
		}
		if n := len(summary["recentThreats"].([]any)); summary["records"] != c.want || n != int(c.want) {
			t.Errorf("summary: %v", summary)
		}
	}
	s.do(t, "GET", "/api/metrics/series?tenant=other", "", one).problem(t, 403)
	s.do(t, "GET", "/api/audit/executions?tenant=other", "", one).problem(t, 403)
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
)

// A gateway whose records are in a bucket answers from an index over all of them, also after it was started again
// with a state of its own, or with one in a database: then the index is in the user's cache.
func TestIndexOverABucket(t *testing.T) {
	t.Parallel()
	s3, err := s3test.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s3.Stop)
	store := append(s3test.Environment(), "AUDIT_STORE=s3://"+s3.Bucket(t)+"/audit", "S3_ENDPOINT="+s3.Endpoint,
		"RATE_LIMIT_MAX_REQUESTS=1000")
	states := []string{t.TempDir(), t.TempDir()}
	database, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	if database != nil { // Postgres is installed
		t.Cleanup(database.Stop)
		url := database.Database(t)
		states = append(states, url, url)
	}
	cache := t.TempDir()
	for i, state := range states {
		round := i + 1
		p := start(t, append(store, "AIRLOCK_STATE="+state, "XDG_CACHE_HOME="+cache)...)
		for n := range 3 {
			if status, v := p.post(t.Context(), t, "/api/execute", fmt.Sprintf(`{"code": "%d"}`, n)); status != 200 ||
				v["status"] != "completed" {
				t.Fatalf("%d %v", status, v)
			}
		}
		if status, v := p.post(t.Context(), t, "/api/execute", `{"code": "eval('1')"}`); status != 200 ||
			v["status"] != "blocked" {
			t.Fatalf("%d %v", status, v)
		}
		if status, v := p.post(t.Context(), t, "/api/execute", `{"code": "null.x"}`); status != 200 ||
			v["status"] != "error" {
			t.Fatalf("%d %v", status, v)
		}
		count := float64(5 * round)
		for path, member := range map[string]string{
			"/api/audit/security-summary": "records", "/api/audit/stats": "records", "/api/metrics/executions": "count",
		} {
			if v := got(t, p.url+path); v[member] != count || v["complete"] != true {
				t.Errorf("round %d, %s: %v, complete %v; want %v", round, path, v[member], v["complete"], count)
			}
		}
		errors := got(t, p.url+"/api/metrics/executions?window=1d")["errorCategories"].(map[string]any)
		if errors["TypeError"] != float64(round) || errors["blocked"] != float64(round) || len(errors) != 2 {
			t.Errorf("round %d: %v", round, errors)
		}
		series := got(t, p.url+"/api/metrics/series?window=1h")
		if total := series["total"].(map[string]any); total["executions"] != count || total["blocked"] != float64(round) ||
			series["complete"] != true {
			t.Errorf("round %d: %v", round, total)
		}
		if items := got(t, p.url+"/api/audit/executions?limit=500")["items"].([]any); len(items) != 5*round {
			t.Errorf("round %d: %d records are listed", round, len(items))
		}
	}
}

// got reads a document.
func got(t *testing.T, url string) (v map[string]any) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&v); err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d, %v %v", url, res.StatusCode, v, err)
	}
	return v
}

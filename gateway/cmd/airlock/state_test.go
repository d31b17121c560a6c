package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

func TestStateFolder(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("state")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ env, want string }{
		{"", here},
		{"AUDIT_STORE=s3://bucket/prefix", here},
		{"AUDIT_STORE=file:///var/airlock/audit", "/var/airlock/state"},
		{"AUDIT_STORE=/var/records", "/var/records-state"},
		{"AIRLOCK_STATE=/srv/state", "/srv/state"},
		{"AIRLOCK_STATE=file:///srv/state", "/srv/state"},
		{"AIRLOCK_STATE=dynamodb://table?contents=s3://bucket/state", "dynamodb://table?contents=s3://bucket/state"},
		{"AIRLOCK_STATE=none", ""},
	} {
		s, err := settings.Read(env(c.env), time.Now)
		if err != nil || s.State != c.want {
			t.Errorf("%s: %s %v", c.env, s.State, err)
		}
	}
	for _, wrong := range []string{"AIRLOCK_STATE=s3://", "AIRLOCK_STATE=s3://bucket/state",
		"AIRLOCK_STATE=http://host/state", "CALLBACK_SECRET=short",
		"CALLBACK_SECRET=whsec_c2hvcnQ=", "CALLBACK_SECRET=whsec_!"} {
		name, value, _ := strings.Cut(wrong, "=")
		_, err := settings.Read(env(wrong), time.Now)
		if err == nil || !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%s: %v, want an error that names the setting", wrong, err)
			continue
		}
		if name == "CALLBACK_SECRET" && strings.Contains(err.Error(), value) {
			t.Errorf("%s: the error shows the secret: %v", wrong, err)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url) // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A job that was acknowledged before a kill has its result after it, and saved functions still exist.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environment := []string{"AUDIT_STORE=file://" + filepath.Join(dir, "audit"), "RATE_LIMIT_MAX_REQUESTS=1000000"}
	first := start(t, environment...)
	if status, v := first.put(t, "/api/functions/f", `{"code":"export default async input => input * 2"}`); status != 201 {
		t.Fatal(status, v)
	}
	const n = 12
	var ids []string
	for i := range n {
		status, v := first.post(t.Context(), t, "/api/functions/f/invoke", fmt.Sprintf(`{"input":%d}`, i),
			"Prefer: respond-async")
		if status != 202 {
			t.Fatal(status, v)
		}
		ids = append(ids, v["id"].(string)) // a panic fails the test
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	second := start(t, environment...)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for i, id := range ids {
		for {
			body := get(t, second.url+"/api/result/"+id)
			if strings.Contains(body, `"status":"completed"`) {
				if !strings.Contains(body, fmt.Sprintf(`"result":%d,`, 2*i)) ||
					!strings.Contains(body, `"function":{"name":"f","version":1}`) {
					t.Errorf("%s", body)
				}
				break
			}
			if !strings.Contains(body, `"status":"queued"`) && !strings.Contains(body, `"status":"running"`) {
				t.Fatalf("%s", body)
			}
			<-look.C
		}
		if record := get(t, second.url+"/api/audit/execution/"+id); !strings.Contains(record, `"status":"completed"`) {
			t.Errorf("%s", record)
		}
	}
	if body := get(t, second.url+"/api/functions/f"); !strings.Contains(body, `"version":1`) {
		t.Errorf("%s", body)
	}
}

func (p *program) put(t *testing.T, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text) + fmt.Sprint(res.Body.Close())
}

package settings

import (
	"strings"
	"testing"
	"time"
)

func TestDatabaseState(t *testing.T) {
	t.Parallel()
	const url = "postgres://u:hunter2@db.example.com:5432/airlock?sslmode=verify-full"
	getenv := func(value string) func(string) string {
		return func(name string) string { return map[string]string{"AIRLOCK_STATE": value}[name] }
	}
	s, err := Read(getenv(url), time.Now)
	if err != nil || s.State != url {
		t.Errorf("%q %v", s.State, err)
	}
	if !IsDatabase(s.State) || !IsShared(s.State) {
		t.Errorf("%q is no shared database", s.State)
	}
	if got, want := StateName(url), "postgres://db.example.com:5432/airlock"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, wrong := range []string{"postgres://u:hunter2@[x/d", "mysql://u:hunter2@h/d", "postgres://u:hunter2@h:x/d"} {
		_, err := Read(getenv(wrong), time.Now)
		if err == nil || !strings.Contains(err.Error(), "AIRLOCK_STATE: ") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

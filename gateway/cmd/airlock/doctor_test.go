package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "audit")
	cache := filepath.Join(os.TempDir(), "airlock-test-cache")
	code, out, errs := command(t, env("PORT=0", "AUDIT_STORE="+store, "AIRLOCK_CACHE_DIR="+cache), "doctor")
	if code != 0 || errs != "" {
		t.Fatalf("%d\n%s%s", code, out, errs)
	}
	for _, want := range []string{"ok   settings", "ok   policy", "ok   port", "ok   files", "ok   records", "ok   cache",
		"ok   functions  6 * 7 is 42 after", "behind "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if found, err := filepath.Glob(filepath.Join(store, "executions", "*", "*")); err != nil || len(found) > 0 {
		t.Errorf("it left records in the store: %v, %v", found, err)
	}
}

// A gateway that runs on the port is not a fault, and the error counts the checks that failed.
func TestDoctorBesideAGateway(t *testing.T) {
	t.Parallel()
	_, port, _ := strings.Cut(strings.TrimPrefix(start(t).url, "http://"), ":")
	code, out, errs := command(t, env("PORT="+port, "AUDIT_STORE="+t.TempDir(),
		"AIRLOCK_CACHE_DIR="+filepath.Join(os.TempDir(), "airlock-test-cache")), "doctor")
	if code != 0 || !strings.Contains(out, ":"+port+" is in use by a running gateway, version ") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	code, out, errs = command(t, env("MAX_BODY_SIZE=x"), "doctor")
	if want := fmt.Sprintf("1 of %d checks failed", strings.Count(out, "\n")); code == 0 || !strings.Contains(errs, want) {
		t.Errorf("%d, want %q\n%s%s", code, want, out, errs)
	}
}

// With --server doctor checks a running gateway, and says what is wrong with it or with the credential.
func TestDoctorOfAServer(t *testing.T) {
	t.Parallel()
	open, guarded := start(t), start(t, "API_KEY=0123456789abcdef-key")
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	for _, c := range []struct {
		name, server, token string
		code                int
		says                []string
	}{
		{"open", open.url, "", 0, []string{"ok   gateway    " + open.url + " is a gateway, version ",
			"ok   ready      invoker ok, records ok", "ok   execution  6 * 7 is 42 after ", "its record is exec_"}},
		{"with its key", guarded.url + "/", "0123456789abcdef-key", 0, []string{"ok   execution  6 * 7 is 42"}},
		{"without a key", guarded.url, "", exitPlatform,
			[]string{"ok   ready", "FAIL execution", "set AIRLOCK_TOKEN or --token"}},
		{"another server", other.URL, "", exitPlatform, []string{"FAIL gateway    ", "/openapi.json returns status 404"}},
		{"nothing there", "http://127.0.0.1:1", "", exitPlatform, []string{"FAIL gateway", "check the address"}},
		{"a token in clear text", "http://airlock.example.com", "t", exitUsage, nil},
	} {
		code, out, errs := command(t, env("AIRLOCK_TOKEN="+c.token), "doctor", "--server", c.server)
		if code != c.code {
			t.Errorf("%s: code %d, want %d\n%s%s", c.name, code, c.code, out, errs)
		}
		for _, want := range c.says {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing in\n%s%s", c.name, want, out, errs)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, out, errs := command(t, env(), "version")
	if want := regexp.MustCompile(`^airlock \S+\nengine  quickjs-ng-\S+\ngo      1\.\S+ \w+/\w+\n$`); code != 0 ||
		!want.MatchString(out) || errs != "" {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
}

func TestDoctorFindsFaults(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	good := []string{"AUDIT_STORE=" + t.TempDir(),
		"AIRLOCK_CACHE_DIR=" + filepath.Join(os.TempDir(), "airlock-test-cache")}
	for fault, says := range map[string]string{
		"MAX_BODY_SIZE=x":                   "FAIL settings   MAX_BODY_SIZE: must be",
		"PORT=" + port:                      "is in use; stop what listens there",
		"REDIS_URL=redis://127.0.0.1:1":     "FAIL redis      REDIS_URL: ",
		"AIRLOCK_POLICY_FILE=/nothing/here": "FAIL policy     AIRLOCK_POLICY_FILE: ",
	} {
		settings := append([]string{fault, "PORT=0"}, good...)
		code, out, errs := command(t, env(settings...), "doctor")
		if code != exitPlatform || !strings.Contains(out, says) || !strings.Contains(errs, "checks failed") {
			t.Errorf("%s: %d\n%s%s", fault, code, out, errs)
		}
	}
}

func TestDoctorLooksAtPostgres(t *testing.T) {
	t.Parallel()
	server := pgtest.New(t)
	there := strings.Replace(server.Database(t), "postgres@", "postgres:hunter2@", 1)
	common := []string{"PORT=0", "AUDIT_STORE=" + t.TempDir(),
		"AIRLOCK_CACHE_DIR=" + filepath.Join(os.TempDir(), "airlock-test-cache")}
	for _, c := range []struct {
		state, says string
		code        int
	}{
		{there, "ok   state      postgres:///test1 can be written", 0},
		{"postgres://u:hunter2@127.0.0.1:1/d", "FAIL state      AIRLOCK_STATE: state: the store is lost", exitPlatform},
	} {
		code, out, errs := command(t, env(append(common, "AIRLOCK_STATE="+c.state)...), "doctor")
		if code != c.code || !strings.Contains(out, c.says) || strings.Contains(out+errs, "hunter2") {
			t.Errorf("%d\n%s%s", code, out, errs)
		}
	}
}

package packages_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/airlock-run/airlock/infra/packages"
)

// TestHostileFolder checks folders that an attacker has altered.
func TestHostileFolder(t *testing.T) {
	t.Parallel()
	edit := func(t *testing.T, name string, change func(map[string]any)) {
		t.Helper()
		var value map[string]any
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &value)
		}
		if err != nil {
			t.Fatal(err)
		}
		change(value)
		if text, err = json.Marshal(value); err == nil {
			err = os.WriteFile(name, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	replace := func(t *testing.T, name string, with func(name string) error) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(name), with(name)); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to string) func(string) error { return func(name string) error { return os.Symlink(to, name) } }
	pipe := func(name string) error { return syscall.Mkfifo(name, 0o600) }
	text := func(text string) func(string) error {
		return func(name string) error { return os.WriteFile(name, []byte(text), 0o600) }
	}
	lock := func(entries string) func(string) error {
		return text(`{"lockfileVersion":3,"packages":{` + entries + `}}`)
	}
	folder := func(name string) error { return os.Mkdir(name, 0o700) }
	deep := "node_modules/" + strings.Repeat("a/node_modules/", 40) + "a"
	for name, c := range map[string]struct {
		file string
		with func(string) error
		want string
	}{
		"link to a secret": {"package-lock.json", link("/etc/passwd"), "escapes"},
		"link to zeros":    {"package-lock.json", link("/dev/zero"), "escapes"},
		"pipe as lock":     {"package-lock.json", pipe, "not a regular file"},
		"folder as lock":   {"package-lock.json", folder, "not a regular file"},
		"long lock":        {"package-lock.json", text(strings.Repeat(" ", 9<<20)), "more than"},
		"pipe as notes":    {"airlock.json", pipe, "not a regular file"},
		"long notes":       {"airlock.json", text(strings.Repeat(" ", 5<<20)), "more than"},
		"list of notes":    {"airlock.json", text("[]"), "airlock.json"},
		"link as archive":  {"archives/a@1.0.0.tgz", link("/etc/passwd"), "escapes"},
		"pipe as archive":  {"archives/a@1.0.0.tgz", pipe, "not a regular file"},
		"long archive":     {"archives/a@1.0.0.tgz", text(strings.Repeat(" ", 33<<20)), "more than"},
		"altered archive":  {"archives/a@1.0.0.tgz", text("x"), "its SHA-512 differs"},
		"missing archive":  {"archives/a@1.0.0.tgz", func(string) error { return nil }, "no such file"},
		"link as folder":   {"archives", link("/"), "escapes"},
		"null":             {"package-lock.json", text("null"), "not of version 3"},
		"null as root":     {"package-lock.json", lock(`"":null`), "not of version 3"},
		"null as entry": {"package-lock.json", lock(`"":{},"node_modules/a":null`),
			"without a valid"},
		"place without name": {"package-lock.json", lock(`"":{},"node_modules/":{"version":"1.0.0"}`),
			"without a valid"},
		"place that ends so": {"package-lock.json", lock(`"":{},"node_modules/a/node_modules/":{"version":"1.0.0"}`),
			"without a valid"},
		"place in many": {"package-lock.json", lock(`"":{},"` + deep + `":{"version":"1.0.0"}`),
			"without a valid"},
		"alias upwards": {"package-lock.json", lock(`"":{},"node_modules/a":{"name":"../x","version":"1.0.0"}`),
			"without a valid"},
		"integrity of an old kind": {"package-lock.json", lock(`"":{},"node_modules/a":{"version":"1.0.0",` +
			`"integrity":"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="}`), "no sha512"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry(t)
			r.publish(t, "a", "1.0.0")
			dir := t.TempDir()
			add(t, open(t, dir), r, "a")
			replace(t, filepath.Join(dir, c.file), c.with)
			s, err := packages.Open(dir)
			if err == nil {
				err = s.Load()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}

	t.Run("null as notes", func(t *testing.T) {
		t.Parallel()
		r := newRegistry(t)
		r.publish(t, "a", "1.0.0")
		dir := t.TempDir()
		add(t, open(t, dir), r, "a")
		replace(t, filepath.Join(dir, "airlock.json"), text("null"))
		add(t, open(t, dir), r, "a")
	})
	t.Run("archive from another host", func(t *testing.T) {
		t.Parallel()
		r := newRegistry(t)
		r.publish(t, "a", "1.0.0")
		dir := t.TempDir()
		add(t, open(t, dir), r, "a")
		elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Error("the address in the lock was asked")
		}))
		defer elsewhere.Close()
		edit(t, filepath.Join(dir, "package-lock.json"), func(lock map[string]any) {
			all, _ := lock["packages"].(map[string]any)
			a, _ := all["node_modules/a"].(map[string]any)
			a["resolved"] = elsewhere.URL + "/latest/meta-data"
		})
		if err := os.RemoveAll(filepath.Join(dir, "archives")); err != nil {
			t.Fatal(err)
		}
		r.publish(t, "b", "1.0.0")
		add(t, open(t, dir), r, "b")
		if err := open(t, dir).Verify(); err != nil {
			t.Error(err)
		}
	})
	t.Run("folder of archives elsewhere", func(t *testing.T) {
		t.Parallel()
		r := newRegistry(t)
		r.publish(t, "a", "1.0.0")
		dir, home := t.TempDir(), t.TempDir()
		keep := filepath.Join(home, "x.tgz")
		replace(t, keep, text("mine"))
		s, err := open(t, dir).Add(t.Context(), &packages.Registry{URL: r.URL}, []string{"a"})
		if err != nil {
			t.Fatal(err)
		}
		replace(t, filepath.Join(dir, "archives"), link(home))
		if s.Save() == nil {
			t.Error("archives were written to another folder")
		}
		if left, err := os.ReadDir(home); err != nil || len(left) != 1 {
			t.Error(left, err)
		}
	})
	t.Run("other files stay", func(t *testing.T) {
		t.Parallel()
		r := newRegistry(t)
		r.publish(t, "a", "1.0.0")
		dir := t.TempDir()
		add(t, open(t, dir), r, "a")
		mine := filepath.Join(dir, "archives", "notes.txt")
		replace(t, mine, text("mine"))
		add(t, open(t, dir), r, "a")
		if _, err := os.Stat(mine); err != nil {
			t.Error(err)
		}
	})
}

func FuzzReadLock(f *testing.F) {
	f.Add([]byte(`{"lockfileVersion":3,"packages":{"":{"dependencies":{"a":"1"}},"node_modules/a":{"version":"1.0.0",` +
		`"integrity":"` + integrityOf(nil) + `","dependencies":{"b":"1","a":"1"}},"node_modules/a/node_modules/b":{` +
		`"name":"@s/b","version":"2.0.0-x","integrity":"` + integrityOf(nil) + `"}}}`))
	f.Add([]byte(`{"lockfileVersion":3,"packages":{"":{}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		names, err := packages.ReadLock(text)
		if err != nil {
			return
		}
		for _, name := range names {
			if !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00:") {
				t.Errorf("name %q", name)
			}
		}
	})
}

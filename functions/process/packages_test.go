//go:build linux

package process_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/sandbox"
)

// packageFolder returns a folder with packages of one file each, given by name and content in turn.
func packageFolder(t *testing.T, pairs ...string) string {
	t.Helper()
	dir := t.TempDir()
	var root, entries []string
	err := os.Mkdir(filepath.Join(dir, "archives"), 0o700)
	for i := 0; i < len(pairs); i += 2 {
		var b bytes.Buffer
		zipped := gzip.NewWriter(&b)
		files := tar.NewWriter(zipped)
		head := &tar.Header{Name: "package/index.js", Mode: 0o600, Size: int64(len(pairs[i+1])), Typeflag: tar.TypeReg}
		headed := files.WriteHeader(head)
		_, written := files.Write([]byte(pairs[i+1]))
		err = errors.Join(err, headed, written, files.Close(), zipped.Close(),
			os.WriteFile(filepath.Join(dir, "archives", pairs[i]+"@1.0.0.tgz"), b.Bytes(), 0o600))
		sum := sha512.Sum512(b.Bytes())
		root = append(root, fmt.Sprintf("%q: %q", pairs[i], "1"))
		entries = append(entries, fmt.Sprintf(`"node_modules/%s": {"version": "1.0.0", "integrity": "sha512-%s"}`,
			pairs[i], base64.StdEncoding.EncodeToString(sum[:])))
	}
	lock := fmt.Sprintf(`{"lockfileVersion": 3, "packages": {"": {"dependencies": {%s}}, %s}}`, strings.Join(root, ", "),
		strings.Join(entries, ", "))
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "package-lock.json"), []byte(lock), 0o600),
		os.WriteFile(filepath.Join(dir, "airlock.json"), []byte("{}"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestServeUsesKeptImages checks that a process that is locked down starts runs from the images in the cache folder:
// if two of them are exchanged, code finds the other package.
func TestServeUsesKeptImages(t *testing.T) {
	cache := t.TempDir()
	folder := packageFolder(t, "one", "exports.name = 'one'", "two", "exports.name = 'two'")
	getenv := func(name string) string {
		return map[string]string{process.PackagesVariable: folder}[name]
	}
	if err := process.FillCache(t.Context(), cache, sandbox.EngineBuilds()[0], getenv); err != nil {
		t.Fatal(err)
	}
	images, err := filepath.Glob(filepath.Join(cache, "package-*"))
	if err != nil || len(images) == 0 || len(images)%4 != 0 {
		t.Fatal(len(images), err)
	}
	run := func() string {
		t.Helper()
		p, closePool := started(t, folder, "AIRLOCK_CACHE_DIR="+cache)
		defer closePool()
		r, err := p.Invoke(t.Context(), execution.Invocation{ID: "exec_00000000000000000000000001",
			Request: execution.Request{Code: `import { name } from "one"; name`}, Via: execution.ViaHTTP,
			ReceivedAt: time.Now()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Result.Error != nil {
			return *r.Result.Error
		}
		return string(r.Result.Result)
	}
	if got := run(); got != `"one"` {
		t.Errorf("with the images: %s", got)
	}
	ofOne, ofTwo := withText(t, images, "import one"), withText(t, images, "import two")
	if len(ofOne) == 0 || len(ofOne) != len(ofTwo) {
		t.Fatal(len(ofOne), len(ofTwo))
	}
	two, err := os.ReadFile(ofTwo[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		content []byte
		ok      bool
	}{{"another image", two, false}, {"damaged", two[:len(two)/2], true}} {
		for _, image := range ofOne {
			if err := os.WriteFile(image, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := run(); (got == `"one"`) != c.ok {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// started returns a pool of processes that have a folder of packages, and what closes it.
func started(t *testing.T, folder string, env ...string) (p *localinvoke.Pool, closePool func()) {
	t.Helper()
	env = append(env, "AUDIT_STORE=file://"+t.TempDir(), process.PackagesVariable+"="+folder)
	p, err := localinvoke.New(t.Context(), config(t, env...))
	if err != nil {
		t.Fatal(err)
	}
	return p, func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// TestServeWithDamagedPackages checks that a process starts although packages are damaged, refuses those by name, and
// runs everything else.
func TestServeWithDamagedPackages(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string
		two           string
	}{
		"an archive": {"archives/one@1.0.0.tgz", "damaged", `"two"`},
		"the lock":   {"package-lock.json", "{", "Cannot find package 'two' imported from script.js: nothing is installed"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := packageFolder(t, "one", "exports.name = 'one'", "two", "exports.name = 'two'")
			if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			p, closePool := started(t, folder)
			defer closePool()
			one := "Cannot find package 'one' imported from script.js: it is installed, but its files are damaged"
			if c.file == "package-lock.json" {
				one = strings.ReplaceAll(c.two, "two", "one")
			}
			require := "Cannot find package 'one'"
			if c.file == "package-lock.json" {
				require = "Cannot find module 'one'"
			}
			for i, run := range []struct{ code, want string }{
				{"1 + 1", "2"}, {`import { name } from "two"; name`, c.two}, {`import { name } from "one"; name`, one},
				{`require("one").name`, require},
			} {
				r, err := p.Invoke(t.Context(), execution.Invocation{ID: fmt.Sprintf("exec_%026d", i+1),
					Request: execution.Request{Code: run.code}, Via: execution.ViaHTTP, ReceivedAt: time.Now()}, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := string(r.Result.Result)
				if r.Result.Error != nil {
					got = *r.Result.Error
				}
				if !strings.HasPrefix(strings.TrimPrefix(got, "Error: "), run.want) {
					t.Errorf("%s: %s, want %s", run.code, got, run.want)
				}
			}
		})
	}
}

// withText returns the files that contain a text.
func withText(t *testing.T, files []string, text string) (found []string) {
	t.Helper()
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(text)) {
			found = append(found, name)
		}
	}
	return found
}

// TestPackagesWithoutMainModuleAreTried checks that why a main module cannot be loaded says nothing of other paths,
// which may be evaluated ahead.
func TestPackagesWithoutMainModuleAreTried(t *testing.T) {
	folder := packageFolder(t, "main", "throw new Error('import a path')", "random", "exports.n = Math.random()")
	notes := `{"main": {"range": "1", "level": "safe", "impure": "it cannot be loaded: Error: import a path"},
		"random": {"range": "1", "level": "safe", "impure": "it draws random numbers while it loads"}}`
	if err := os.WriteFile(filepath.Join(folder, "airlock.json"), []byte(notes), 0o600); err != nil {
		t.Fatal(err)
	}
	in := process.LoadPackages(func(name string) string {
		return map[string]string{process.PackagesVariable: folder}[name]
	})
	impure := map[string]string{}
	for _, p := range in.Packages {
		impure[p.Name] = p.Impure
	}
	want := map[string]string{"main": "", "random": "it draws random numbers while it loads"}
	if diff := cmp.Diff(want, impure); diff != "" || in.Damage != nil {
		t.Error(diff, in.Damage)
	}
}

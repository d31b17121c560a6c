package sandbox_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// testBuild is the engine build that newEngine makes; "" is the default.
var testBuild string

// buildVariable passes testBuild to the processes that tests start.
const buildVariable = "AIRLOCK_TEST_ENGINE_BUILD"

// TestMain runs the tests on every engine build. Benchmarks and fuzzing, which take a single build, run on the default.
func TestMain(m *testing.M) {
	flag.Parse()
	testBuild = os.Getenv(buildVariable)
	if flag.Lookup("test.bench").Value.String() != "" || flag.Lookup("test.fuzz").Value.String() != "" ||
		flag.Lookup("test.fuzzworker").Value.String() == "true" {
		os.Exit(m.Run())
	}
	if testBuild != "" { // a process that a test has started
		os.Exit(m.Run())
	}
	code := 0
	for _, testBuild = range sandbox.EngineBuilds() {
		fmt.Fprintln(os.Stderr, "engine build", testBuild)
		if err := os.Setenv(buildVariable, testBuild); err != nil {
			panic(err)
		}
		code = max(code, m.Run())
	}
	os.Exit(code)
}

func engineOf(t testing.TB, build string) *sandbox.Engine {
	t.Helper()
	e, err := sandbox.New(t.Context(),
		sandbox.Config{EngineBuild: build, CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// oldBuild reports whether the tests run on quickjs-ng 0.10.1, some of whose results differ.
func oldBuild() bool { return testBuild == "quickjs-ng-0.10.1" }

// TestUnknownBuild checks that a build that does not exist is refused by its name.
func TestUnknownBuild(t *testing.T) {
	if _, err := sandbox.New(t.Context(), sandbox.Config{EngineBuild: "v8"}); err == nil ||
		!strings.Contains(err.Error(), `"v8"`) {
		t.Errorf("%v", err)
	}
}

// TestEngineVersion checks that a guest sees the version of the build that runs it, and that the first build is 0.15.1.
func TestEngineVersion(t *testing.T) {
	if first := sandbox.EngineBuilds()[0]; first != "quickjs-ng-0.15.1" {
		t.Errorf("the default build is %s", first)
	}
	e := newEngine(t)
	r := run(t, e, sandbox.Script{Code: "process.versions.quickjs"}, sandbox.Grants{Modules: []string{"*"}})
	if want := fmt.Sprintf("%q", strings.TrimPrefix(e.EngineBuild(), "quickjs-ng-")); string(r.Value) != want {
		t.Errorf("process.versions.quickjs is %s, want %s (%v)", r.Value, want, r.Error)
	}
}

// TestLongStrings checks that the default build appends to strings in constant time.
func TestLongStrings(t *testing.T) {
	if oldBuild() {
		return // its appends copy the whole string: the loop takes minutes
	}
	code := "let s = ''; for (let i = 0; i < 3e5; i++) s += 'line ' + i + '\\n'; return s.length"
	r := run(t, newEngine(t), sandbox.Script{Code: code}, sandbox.Grants{Limits: sandbox.Limits{Wall: time.Minute}})
	if string(r.Value) != "3488890" {
		t.Errorf("value %s, error %v", r.Value, r.Error)
	}
}

// explained are texts of programs on which the builds differ, and why they differ.
var explained = []struct{ text, why string }{
	{"asUintN", "0.10.1 returns negative values"},
	{"asIntN", "0.10.1 returns wrong values"},
	{"fromAsync", "0.10.1 makes elements that are not enumerable"},
	{"for await", "0.10.1 calls return on normal completion"},
	{".take(", "0.10.1 closes the iterator too early"},
	{"fromBase64", "0.10.1 does not have it"},
	{"fromHex", "0.10.1 does not have it"},
	{"toBase64", "0.10.1 does not have it"},
	{"toHex", "0.10.1 does not have it"},
	{"rawJSON", "0.10.1 does not have it"},
	{".zip", "0.10.1 does not have it"},
	{"getOwnPropertyNames", "0.15.1 has more properties"},
	{"globalThis", "0.15.1 has more properties"},
	{"stack", "the builds word positions in their own ways"},
}

// FuzzBuilds runs programs on two builds. If both return a value, the values must be equal.
func FuzzBuilds(f *testing.F) {
	programs, err := filepath.Glob("testdata/programs/*.js")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range programs {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	for _, code := range []string{
		"[1, 2, 3].map((n) => n * 2)", "'ab'.repeat(4000).slice(100, 7000).length",
		"btoa('ab'.repeat(4000).slice(100, 7000))",
		"new TextEncoder().encode('ab'.repeat(4000).slice(101, 7000) + 'x').slice(0, 9)",
		"let s = ''; for (let i = 0; i < 3000; i++) s += i; s.length + s.slice(2000, 2010)",
		"class A { #x = 1; get x() { return this.#x } } new A().x", "[..'x'.matchAll(/x/g)]",
		"/(?<y>\\d+)/.exec('a12').groups.y",
		"JSON.stringify({ a: [1, { b: 2n.toString() }] })", "new Date(0).toISOString()", "[3, 1, 2].toSorted()",
		"Object.groupBy([1, 2], (n) => n % 2)",
		"(function* () { yield* [1, 2] })().next()", "await Promise.allSettled([1, Promise.reject(2)])", "0.1 + 0.2",
		"(25).toString(36)", "1e21 + ''", "parseFloat('1e-7')",
	} {
		f.Add(code)
	}
	var engines []*sandbox.Engine
	for _, b := range sandbox.EngineBuilds() {
		engines = append(engines, engineOf(f, b))
	}
	f.Fuzz(func(t *testing.T, code string) {
		for _, e := range explained {
			if strings.Contains(code, e.text) {
				return
			}
		}
		seed := int64(1)
		var results []sandbox.Result
		for _, e := range engines {
			results = append(results,
				run(t, e, sandbox.Script{Code: code, Seed: &seed},
					sandbox.Grants{Limits: sandbox.Limits{Wall: 2 * time.Second}, Modules: []string{"*"}}))
		}
		a, b := results[0], results[1]
		if cmp.Or(a.Error, b.Error, string(a.Limit), string(b.Limit)) != "" {
			return // builds differ in the text of errors and in what they count against limits
		}
		if string(a.Value) != string(b.Value) || a.Output != b.Output {
			t.Errorf("%q\n%s: %s %q\n%s: %s %q", code, sandbox.EngineBuilds()[0], a.Value, a.Output, sandbox.EngineBuilds()[1],
				b.Value, b.Output)
		}
	})
}

// TestStringsOfEveryMake checks that the host reads strings in all their representations: slices, ropes, wide ones.
func TestStringsOfEveryMake(t *testing.T) {
	e := newEngine(t)
	ab := strings.Repeat("ab", 4000)
	for make, want := range map[string]string{
		"'ab'.repeat(4000)":                                                            ab,
		"'ab'.repeat(4000).slice(100, 7000)":                                           ab[100:7000],
		"'ab'.repeat(4000).slice(100).slice(1, 5000)":                                  ab[101:5100],
		"('é' + 'ab'.repeat(4000)).substring(101, 7001)":                               ab[100:7000],
		"('Ω' + 'ab'.repeat(4000)).substring(101, 7001)":                               ab[100:7000],
		"'ab'.repeat(2000) + 'ab'.repeat(2000)":                                        ab,
		"(() => { let s = ''; for (let i = 0; i < 4000; i++) s += 'ab'; return s })()": ab,
		"('ab'.repeat(3000) + 'ab'.repeat(3000)).slice(10, 8010)":                      ab,
	} {
		for read, want := range map[string]string{
			"atob(btoa(s))": want,
			"new TextDecoder().decode(new TextEncoder().encode(s))": want,
			"decodeURIComponent(encodeURIComponent(s))":             want,
			"new URL('http://a/?' + s).search.slice(1)":             want,
			"JSON.parse(JSON.stringify(s))":                         want,
			"console.log(s), s":                                     want,
		} {
			r := run(t, e, sandbox.Script{Code: "const s = " + make + ";\nreturn (" + read + ")"}, sandbox.Grants{})
			if got := strings.Trim(string(r.Value), `"`); got != want {
				t.Errorf("%s of %s: %.60s (%d), %s", read, make, got, len(got), r.Error)
			}
			if strings.HasPrefix(read, "console") && strings.TrimSpace(r.Output) != want {
				t.Errorf("%s printed %.60q", make, r.Output)
			}
		}
	}
}

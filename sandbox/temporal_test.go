package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestTemporal covers what test262 does not: printing, comparing, Intl, and guests without eval.
func TestTemporal(t *testing.T) {
	e := newEngine(t)
	const day = "Temporal.PlainDate.from('2026-11-23')"
	for _, c := range []struct{ name, code, want string }{
		{"months", day + ".add({ months: 3 })", `"2027-02-23"`},
		{"a clock change", "Temporal.ZonedDateTime.from('2026-03-29T01:30[Europe/Berlin]').add({ hours: 1 })",
			`"2026-03-29T03:30:00+02:00[Europe/Berlin]"`},
		{"a total", "Temporal.Duration.from('PT1H30M').total('minutes')", "90"},
		{"the clock", "Math.abs(Temporal.Now.instant().epochMilliseconds - Date.now()) < 5000", "true"},
		{"a date", "new Date(0).toTemporalInstant()", `"1970-01-01T00:00:00Z"`},
		{"printed", "require('util').inspect({ day: " + day + ", d: [Temporal.Duration.from('PT5M')] })",
			`"{ day: Temporal.PlainDate 2026-11-23, d: [ Temporal.Duration PT5M ] }"`},
		{"printed without a value", "require('util').inspect(Object.create(Temporal.PlainDate.prototype))",
			`"PlainDate [Temporal.PlainDate] {}"`},
		{"compared", "require('util').isDeepStrictEqual(" + day + ", " + day + ".add({ days: 1 }))", "false"},
		{"equal", "require('util').isDeepStrictEqual({ a: " + day + " }, { a: " + day + " })", "true"},
		{"formatted", "new Intl.DateTimeFormat('en-US', { dateStyle: 'long' }).format(" + day + ")", `"November 23, 2026"`},
		{"its descriptor", "Temporal; const { writable, enumerable, configurable } = " +
			"Object.getOwnPropertyDescriptor(globalThis, 'Temporal'); return [writable, enumerable, configurable]",
			"[true,false,true]"},
		{"once", "const first = Temporal; return first === globalThis.Temporal", "true"},
		{"replaced", "globalThis.Temporal = 1; return Temporal", "1"},
		{"a method that was kept", "const { toTemporalInstant } = Date.prototype, { Instant } = Temporal\n" +
			"const made = toTemporalInstant.call(new Date(0)); return [made instanceof Instant, Temporal.Instant === Instant]",
			"[true,true]"},
		{"a method beside a replacement", "globalThis.Temporal = 1\n" +
			"return [String(new Date(0).toTemporalInstant()), Temporal]", `["1970-01-01T00:00:00Z",1]`},
		{"its source", "Temporal.PlainDate.toString()", `"function PlainDate() { [native code] }"`},
		{"a format of what a value lacks", "new Intl.DateTimeFormat('en-US').format(Temporal.PlainTime.from('10:20'))",
			`"10:20:00 AM"`},
		{"a range", "new Intl.DateTimeFormat('en-US').formatRange(" + day + ", " + day + ".add({ days: 1 }))",
			"\"11/23/2026\u2009–\u200911/24/2026\""},
		{"a wrong mixture", "try { new Intl.DateTimeFormat().formatRange(" + day + ", new Date(0)) } catch (e) " +
			"{ return e.name }", `"TypeError"`},
		{"a wrong object", "try { Temporal.PlainDate.prototype.toString.call({}) } catch (e) { return e.name }",
			`"TypeError"`},
		{"a wrong value", "try { Temporal.PlainDate.from('2026-02-30') } catch (e) { return e.name }", `"RangeError"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{Modules: []string{"*"}})
			if canonical(string(r.Value)) != c.want {
				t.Errorf("%s gave %s (%s), want %s", c.code, r.Value, r.Error, c.want)
			}
		})
	}
}

// TestBundlesAreOfTheLock checks that the bundles were made again after a change of the lock.
func TestBundlesAreOfTheLock(t *testing.T) {
	lock, err := os.ReadFile(filepath.Join("stdlib", "bundle", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	for file, name := range map[string]string{
		"temporal_bundle.js": "temporal-polyfill", "streams_bundle.js": "readable-stream",
	} {
		bundle, err := os.ReadFile(filepath.Join("stdlib", file))
		if err != nil {
			t.Fatal(err)
		}
		_, pinned, _ := strings.Cut(string(bundle), "// "+name+" ")
		pinned, _, _ = strings.Cut(pinned, "\n")
		version, integrity, ok := strings.Cut(pinned, " ")
		if !ok || !strings.Contains(string(lock), `"version": "`+version+`"`) ||
			!strings.Contains(string(lock), `"integrity": "`+integrity+`"`) {
			t.Errorf("%s is of %q, which the lock does not pin; run go run ./sandbox/stdlib/bundle", file, pinned)
		}
	}
}

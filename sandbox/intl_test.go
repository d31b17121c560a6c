package sandbox_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox"
)

// TestIntlAsNode compares Intl with what Node 20 printed. testdata/intl.txt has statements, each after ">>> ", and
// their output through p.
func TestIntlAsNode(t *testing.T) {
	b, err := os.ReadFile("testdata/intl.txt")
	if err != nil {
		t.Fatal(err)
	}
	const before = "const p = (...a) => console.log(...a), d = new Date(Date.UTC(2024, 0, 5, 14, 3, 9, 45)); "
	e := newEngine(t)
	for block := range strings.SplitSeq(strings.TrimPrefix(string(b), ">>> "), "\n>>> ") {
		code, want, _ := strings.Cut(block, "\n")
		r := run(t, e, sandbox.Script{Code: before + code}, sandbox.Grants{})
		if got := strings.TrimSuffix(r.Output, "\n"); r.Error != "" || got != strings.TrimSuffix(want, "\n") {
			t.Errorf("%s printed\n%s\n(%s) and Node\n%s", code, got, r.Error, want)
		}
	}
}

// TestLocalesAsNode compares what Intl prints in some 80 locales with what Node 20 printed for testdata/locales.js.
func TestLocalesAsNode(t *testing.T) { compareWithNode(t, "testdata/locales") }

// TestIntlNamesAsNode does so with names of currencies, units and zones, ranges of dates, and what Intl.Locale tells.
func TestIntlNamesAsNode(t *testing.T) { compareWithNode(t, "testdata/intlnames") }

// compareWithNode compares what a script prints with what Node 20 printed, in the file of the same name with .txt.
func compareWithNode(t *testing.T, name string) {
	t.Helper()
	code, err := os.ReadFile(name + ".js")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	g := sandbox.Grants{Limits: sandbox.Limits{Wall: time.Minute}}
	r := run(t, newEngine(t), sandbox.Script{Code: string(code)}, g)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(r.Output, "\n")); diff != "" || r.Error != "" {
		t.Errorf("%s (-want +got):\n%s", r.Error, diff)
	}
}

func TestIntlSaysWhatItLacks(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ code, want string }{
		{"new Intl.DateTimeFormat('fr', {month: 'narrow'}).resolvedOptions().locale", `"en-US"`},
		{"new Intl.DateTimeFormat('fr').resolvedOptions().locale", `"fr"`},
		{"new Intl.NumberFormat('de', {notation: 'compact'}).resolvedOptions().locale", `"de"`},
		{"new Intl.NumberFormat('de', {notation: 'compact', style: 'percent'}).resolvedOptions().locale", `"en-US"`},
		{"new Intl.NumberFormat('ja', {notation: 'compact'}).format(1e16)", `"1京"`},
		{"new Intl.NumberFormat('ar-EG').resolvedOptions().numberingSystem", `"arab"`},
		{"new Intl.DateTimeFormat('th').resolvedOptions().locale", `"en-US"`},
		{"new Intl.NumberFormat('de', {style: 'unit', unit: 'liter', unitDisplay: 'long'}).format(2)", `"2 Liter"`},
		{"['es-MX', 'yi', 'fr-CA', 'zh-TW', 'quz'].map((l) => " +
			"new Intl.NumberFormat(l).resolvedOptions().locale + new Intl.DateTimeFormat(l).resolvedOptions().locale)",
			`["es-MXes-MX","en-USen-US","fr-CAfr-CA","zh-TWzh-TW","en-USen-US"]`},
		{"['de-DE', 'fr-FR', 'zh-Hans-CN', 'en', 'pt-BR'].map((l) => new Intl.NumberFormat(l).resolvedOptions().locale)",
			`["de-DE","fr-FR","zh-Hans-CN","en","pt-BR"]`},
		{"Intl.PluralRules.supportedLocalesOf(['pl', 'yi', 'en-GB'])", `["pl","en-GB"]`},
		{"try { new Intl.NumberFormat('x') } catch (e) { return e.name }", `"RangeError"`},
		{"try { new Intl.DateTimeFormat('en', {timeZone: 'Mars/Base'}) } catch (e) { return e.message }",
			`"Invalid time zone specified: Mars/Base"`},
		{"try { new Date(0).toLocaleString('en', {timeZone: '../../etc/passwd'}) } catch (e) { return e.name }",
			`"RangeError"`},
		{"(1.005).toLocaleString('en', {maximumFractionDigits: 2})", `"1.01"`},
		{"['de-u-kn-true', 'de-u-kn', 'de-u-kn-false', 'de'].map((l) => new Intl.Collator(l).resolvedOptions())" +
			".map((o) => o.locale + o.numeric).join()",
			`"de-u-kntrue,de-u-kntrue,de-u-kn-falsefalse,defalse"`},
		{"['a10', 'a9'].sort(new Intl.Collator('en-u-kn').compare).join()", `"a9,a10"`},
		{"[{}, {hour12: true}, {hourCycle: 'h11'}, {hourCycle: 'h23'}]" +
			".map((o) => new Intl.DateTimeFormat('en-u-hc-h23-nu-latn-x-u-hc-h12', {hour: 'numeric', ...o}))" +
			".map((f) => f.resolvedOptions()).map((o) => o.locale + ' ' + o.hourCycle).join()",
			`"en-u-hc-h23-nu-latn h23,en-u-nu-latn h12,en-u-nu-latn h11,en-u-hc-h23-nu-latn h23"`},
		{"new Intl.DateTimeFormat('en-u-hc-h23', {timeZone: 'EUROPE/BERLIN', hour: 'numeric', minute: 'numeric'})" +
			".format(new Date('2026-03-29T11:30Z'))",
			`"13:30"`},
		{"[true, false, 0, '', null, 'true', 'false', 'always']" +
			".map((useGrouping) => (1234).toLocaleString('en', {useGrouping})).join(' ')",
			`"1,234 1234 1234 1234 1234 1,234 1,234 1,234"`},
		{"(12345678901234567890n).toLocaleString('fullwide', {useGrouping: false}) + (1e21).toLocaleString('fullwide')",
			`"123456789012345678901,000,000,000,000,000,000,000"`},
		{"Intl.getCanonicalLocales(['FullWide-x-A', 'abcdefgh-latn-us']).join()", `"fullwide-x-a,abcdefgh-Latn-US"`},
		{"['abcdefghi', 'abcd-e', 'fullwide-', 'fullwide-!']" +
			".filter((t) => { try { Intl.getCanonicalLocales(t); return 1 } catch {} }).length",
			"0"},
		{"new Intl.NumberFormat('en').format('123456789012345678901234567890.125')",
			`"123,456,789,012,345,678,901,234,567,890.125"`},
	} {
		r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{})
		if string(r.Value) != c.want {
			t.Errorf("%s gave %s (%s), want %s", c.code, r.Value, r.Error, c.want)
		}
	}
}

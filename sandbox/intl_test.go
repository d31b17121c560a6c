package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestIntlAsNode compares Intl with what Node 20 printed. testdata/intl.txt has statements, each after ">>> ", and
// what they print with p.
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

func TestIntlSaysWhatItLacks(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ code, want string }{
		{"new Intl.DateTimeFormat('fr', {month: 'long'}).resolvedOptions().locale", `"en-US"`},
		{"new Intl.DateTimeFormat('fr').resolvedOptions().locale", `"fr"`},
		{"new Intl.NumberFormat('de', {notation: 'compact'}).resolvedOptions().locale", `"en-US"`},
		{"new Intl.NumberFormat('ja', {notation: 'compact'}).format(12345)", `"12K"`},
		{"new Intl.NumberFormat('tr', {style: 'percent'}).resolvedOptions().locale", `"en-US"`},
		{"new Intl.NumberFormat('de', {style: 'unit', unit: 'liter', unitDisplay: 'long'}).format(2)", `"2 liters"`},
		{"['es-MX', 'es-US', 'es-419', 'en-ZA', 'fr-CA', 'zh-TW', 'nl-BE'].map((l) => " +
			"new Intl.NumberFormat(l).resolvedOptions().locale + new Intl.DateTimeFormat(l).resolvedOptions().locale)",
			`["en-USen-US","en-USen-US","en-USen-US","en-USen-US","en-USen-US","en-USen-US","en-USen-US"]`},
		{"['de-DE', 'fr-FR', 'zh-Hans-CN', 'en', 'pt-BR'].map((l) => new Intl.NumberFormat(l).resolvedOptions().locale)",
			`["de-DE","fr-FR","zh-Hans-CN","en","pt-BR"]`},
		{"Intl.PluralRules.supportedLocalesOf(['pl', 'en-GB'])", `["en-GB"]`},
		{"try { new Intl.NumberFormat('x') } catch (e) { return e.name }", `"RangeError"`},
		{"try { new Intl.DateTimeFormat('en', {timeZone: 'Mars/Base'}) } catch (e) { return e.message }",
			`"Invalid time zone specified: Mars/Base"`},
		{"try { new Date(0).toLocaleString('en', {timeZone: '../../etc/passwd'}) } catch (e) { return e.name }",
			`"RangeError"`},
		{"(1.005).toLocaleString('en', {maximumFractionDigits: 2})", `"1.01"`},
		{"new Intl.NumberFormat('en').format('123456789012345678901234567890.125')",
			`"123,456,789,012,345,678,901,234,567,890.125"`},
	} {
		r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{})
		if string(r.Value) != c.want {
			t.Errorf("%s gave %s (%s), want %s", c.code, r.Value, r.Error, c.want)
		}
	}
}

package sandbox_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestWebPlatform has cases that the official suites found, and cases that they do not cover.
func TestWebPlatform(t *testing.T) {
	e := newEngine(t)
	host := func(name string) string {
		return "(() => { try { return new URL('http://" + name + "/').host } catch (e) { return e.name } })()"
	}
	decode := func(label, bytes string) string {
		return "new TextDecoder('" + label + "').decode(new Uint8Array([" + bytes + "]))"
	}
	for _, c := range []struct{ code, want string }{
		{host("EXAMPLE.com"), `"example.com"`},
		{host("faß.de"), `"xn--fa-hia.de"`},
		{host("≠.com"), `"xn--1ch.com"`},
		{host("Ⴀ.com"), `"xn--rkj.com"`},
		{host("xn--1ch.com"), `"xn--1ch.com"`},
		{host("xn--xn---epa"), `"TypeError"`},
		{host("xn--"), `"TypeError"`},
		{host("%C3%A9.com"), `"xn--9ca.com"`},
		{host("％４１.com"), `"TypeError"`},
		{host("-.xn--6vj"), `"-.xn--6vj"`},
		{host("xx"), `"xx"`},
		{host("123456789012345678901234567890c"), `"123456789012345678901234567890c"`},
		{host("0x7f.1"), `"127.0.0.1"`},
		{host("256.256.256.256"), `"TypeError"`},
		{host("a.1"), `"TypeError"`},
		{host("[::1]"), `"[::1]"`},
		{host("a%00b"), `"TypeError"`},
		{decode("gb18030", "0x84, 0x31, 0xa4, 0x39"), `"` + "\uffff" + `"`},
		{decode("gb18030", "0xe3, 0x32, 0x9a, 0x35"), `"` + "\U0010ffff" + `"`},
		{decode("gb18030", "0xa6, 0xd9, 0x82, 0x35, 0x90, 0x37"), `"` + "\ufe10\u9fb4" + `"`},
		{decode("gbk", "0x81, 0x30, 0x41"), `"` + "\ufffd0A" + `"`},
		{decode("gbk", "0x81, 0x30"), `"` + "\ufffd" + `"`},
		{
			"(() => { const d = new TextDecoder('gb18030'); return [0x81, 0x30, 0x81, 0x30].map((b) => d.decode(new " +
				"Uint8Array([b]), {stream: true})).join('|') })()", `"|||` + "\u0080" + `"`,
		},
		{"[String(URL), `${setTimeout}`, String((x) => x)]",
			`["function URL() { [native code] }","function setTimeout() { [native code] }","(x) => x"]`},
		{"try { Function.prototype.toString.call({}) } catch (e) { return e.name }", `"TypeError"`},
		{"String(new Date(0))", `"Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"`},
		{"Intl.NumberFormat.supportedLocalesOf(['xx', 'de'])", `["de"]`},
		{"try { structuredClone(() => 1) } catch (e) { return e.message }", `"() => 1 could not be cloned."`},
		{`let reads = 0; const once = (list) => ({ get [Symbol.iterator]() { reads++; return () => list.values() } })
new Blob(once(['a'])); new URLSearchParams(once([once(['a', '1'])])); reads`, `3`},
		{`Object.prototype.type = 'a/b'; [new Blob([]).type, new Blob([], null).type, new Blob([], {}).type]`,
			`["","","a/b"]`},
	} {
		r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{})
		if canonical(string(r.Value)) != canonical(c.want) {
			t.Errorf("%s gave %s (%s), want %s", c.code, r.Value, r.Error, c.want)
		}
	}
}

package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// webReads passes text to all parsers that the host has for the web platform, and lists violated properties.
const webReads = `
const bytes = Uint8Array.from(input.text, (c) => c.charCodeAt(0)), wrong = [];
const quietly = async (f) => {
	try { return await f(); } catch (e) { if (!(e instanceof Error)) wrong.push(String(e)); }
};
await quietly(() => {
	const u = new URL(input.text, 'http://base.example/a/b');
	if (new URL(u.href).href !== u.href) wrong.push(['the URL of a URL differs', u.href, new URL(u.href).href]);
	const parts = ['username', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'protocol'];
	for (const part of parts) u[part] = input.text;
});
const labels = ['utf-8', 'utf-16le', 'gb18030', 'gbk', 'big5', 'shift_jis', 'euc-jp', 'euc-kr',
	'iso-2022-jp', 'windows-1252'];
for (const label of labels) {
	const whole = new TextDecoder(label).decode(bytes), d = new TextDecoder(label);
	let pieces = '';
	for (const b of bytes) pieces += d.decode(Uint8Array.of(b), { stream: true });
	pieces += d.decode();
	if (whole !== pieces) wrong.push([label, 'decodes pieces otherwise', whole, pieces]);
}
new URLSearchParams(input.text).toString();
for (const granularity of ['grapheme', 'word', 'sentence']) {
	const all = [...new Intl.Segmenter('en', { granularity }).segment(input.text)].map((s) => s.segment).join('');
	if (all !== input.text) wrong.push([granularity, 'loses text', all]);
}
await quietly(() => new Blob([], { type: input.text }).type);
await quietly(() => new Response(bytes, { headers: { 'content-type': 'multipart/form-data; boundary=b' } }).formData());
await quietly(() => new Headers({ x: input.text }));
await quietly(() => new Intl.Locale(input.text).maximize());
await quietly(() => atob(input.text));
return wrong;`

// FuzzWeb checks that the host's parsers for the web platform read any input whole or refuse it with an error.
func FuzzWeb(f *testing.F) {
	for _, text := range []string{
		"", "http://é.example:80/a b?c#d", "//xn--", "x:y", "http://1.2.3/", "file:///C|/../", "a=1&b=%zz",
		"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n",
		"\x810\x81\x30", "\x84\x31\xa4\x39\xfe", "\x1b$B!!\x1b(B", "en-Latn-US-u-ca-buddhist", "a\u0300👩\u200d👧. Two!",
		"text/plain;charset=\"x", "YQ==", "http://a@b@c:1/\\..\\", "http://[::1%25]/",
	} {
		f.Add(text)
	}
	e := newEngine(f)
	grants := sandbox.Grants{Limits: sandbox.Limits{Wall: 10 * time.Second}}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		input, err := json.Marshal(map[string]string{"text": strings.ToValidUTF8(text, "\ufffd")})
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Run(t.Context(), sandbox.Script{Code: webReads, Input: input}, grants)
		if err != nil || r.Error != "" || string(r.Value) != "[]" {
			t.Fatalf("%q: %s %s %v", text, r.Value, r.Error, err)
		}
	})
}

package web_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/hostops/opstest"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/web"
)

// URLs, encodings, forms and media types follow their standards, and forged arguments harm nothing.
func TestOps(t *testing.T) {
	for _, c := range []struct{ name, expression, want string }{
		{"encode UTF-8", `list(op('utf8.encode', 'é'))`, `[195,169]`},
		{"decode by the label's encoding", `op('text.decode', 'windows-1252', 3, '', bytes(0x80))`, `"€"`},
		{"label of an encoding", `op('text.label', ' Latin1 ')`, `"windows-1252"`},
		{"unknown label", `op('text.label', 'nope')`, `RangeError: The encoding label provided ('nope') is invalid.`},
		{"base64", `op('base64.btoa', 'a\u00ff')`, `"Yf8="`},
		{"base64 of a wide character", `op('base64.btoa', '\u0100')`,
			`InvalidCharacterError: Invalid character`},
		{"base64 without padding", `op('base64.atob', 'YQ')`, `"a"`},
		{"URL with a base", `op('url.parse', '../b?q#f', 'https://Example.COM:443/a/c/')`,
			`["https://example.com/a/b?q#f","https://example.com","https:","","","example.com","example.com","","/a/b",` +
				`"?q","#f"]`},
		{"invalid URL", `op('url.parse', 'https://a b/', null)`, `null`},
		{"mapped IPv4 address of a URL", `op('url.parse', 'http://0x7f.1/', null)`,
			`["http://127.0.0.1/","http://127.0.0.1","http:","","","127.0.0.1","127.0.0.1","","/","",""]`},
		{"form", `op('form.parse', 'a=1+2&b=%26')`, `["a","1 2","b","&"]`},
		{"media type", `op('mime.parse', 'Text/HTML;charset=UTF-8')`,
			`{"boundary":"","charset":"UTF-8","essence":"text/html","text":"text/html;charset=UTF-8"}`},
		{"random bytes", `list(op('random', 3))`, `[0,0,0]`},
		{"too many random bytes", `op('random', 65537)`, `TypeError: invalid arguments`},
		{"forged arguments", `op('url.parse', {}, 1)`, `null`},
		{"host name for people", `op('host.unicode', 'xn--bcher-kva.example')`, `"bücher.example"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := opstest.Eval(t, web.Ops, c.expression); got != c.want {
				t.Errorf("%s is %s, want %s", c.expression, got, c.want)
			}
		})
	}
}

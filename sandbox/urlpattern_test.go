package sandbox_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestURLPattern covers what the web platform tests of URLPattern do not: words of errors, printing, custom groups,
// and a guest that has changed the built-ins.
func TestURLPattern(t *testing.T) {
	e := newEngine(t)
	failed := func(args string) string {
		return "try { new URLPattern(" + args + ") } catch (e) { return [e.code, e.message] }"
	}
	const changed = `RegExp.prototype.exec = () => null; String.prototype.slice = () => 'no';
String.prototype.codePointAt = () => 1; Set.prototype.has = () => true; Array.prototype[Symbol.iterator] = null;
Object.defineProperty(Array.prototype, 0, { set() { throw 1 } });
Object.defineProperty(Object.prototype, 'groups', { set() { throw 2 } });
`
	for _, c := range []struct{ name, code, want string }{
		{"a route", "new URLPattern({ pathname: '/users/:id/:rest*' }).exec('https://a.b/users/7/x/y').pathname.groups",
			`{"id":"7","rest":"x/y"}`},
		{"a string", "const p = new URLPattern('https://*.example.com/:file.:ext?'); " +
			"return [p.hostname, p.port, p.test('https://a.example.com/x.js'), p.test('http://a.example.com/x.js')]",
			`["*.example.com","",true,false]`},
		{"a base", "new URLPattern('/a/*', 'https://e.com:8443').test('b', 'https://e.com:8443/a/')", "true"},
		{"letters of any case", "new URLPattern({ pathname: '/A' }, { ignoreCase: true }).test({ pathname: '/a' })", "true"},
		{"custom groups", "[{ pathname: '/:a' }, { pathname: '/*' }, { hash: '(\\\\d+)' }]" +
			".map((init) => new URLPattern(init).hasRegExpGroups)", "[false,false,true]"},
		{"a URL as pattern", "new URLPattern(new URL('https://e.com/a?b#c')).hash", `"c"`},
		{"printed", "require('util').inspect(new URLPattern({ pathname: '/a' })).split('\\n')[7]", `"  search: '*',"`},
		{"changed built-ins", changed + "new URLPattern({ pathname: '/a/:b' }).exec('https://e.com/a/c').pathname.groups.b",
			`"c"`},
		{"a group twice", failed("{ pathname: '/:a/:a' }"),
			`["ERR_INVALID_URL_PATTERN","Invalid URL pattern: it has two groups called a"]`},
		{"no end", failed("{ pathname: '/{a' }"),
			`["ERR_INVALID_URL_PATTERN","Invalid URL pattern: it has an unexpected end"]`},
		{"relative", failed("'/a'"),
			`["ERR_INVALID_URL_PATTERN","Invalid URL pattern: it is relative, and there is no base URL"]`},
		{"a set operation", failed("{ pathname: '/([[a-z]--a])' }"),
			`["ERR_INVALID_URL_PATTERN","Invalid URL pattern: syntax error"]`},
		{"a long literal", failed("{ pathname: '/' + 'a'.repeat(20000) }"),
			`["ERR_INVALID_URL_PATTERN","Invalid URL pattern: its pathname is too long"]`},
		{"another object", "try { URLPattern.prototype.test.call({}) } catch (e) { return e.name }", `"TypeError"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{Modules: []string{"*"}})
			if canonical(string(r.Value)) != c.want {
				t.Errorf("%s gave %s (%s), want %s", c.code, r.Value, r.Error, c.want)
			}
		})
	}
}

package sandbox_test

import (
	"encoding/json"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// Names that callers choose (of files, exports, specifiers, globals) remain data in the code that the host generates.
func TestNamesDoNotInject(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		name, code, value string
		files             map[string]string
	}{
		{"a string as export name", `import { "a b" as x } from './m.js'; x`, "1",
			map[string]string{"m.js": `const y = 1; export { y as "a b" }`}},
		{"an export name of code", "import { \"'); globalThis.hit = 1; ('\" as x } from './m.js'; [x, typeof hit]",
			`[1,"undefined"]`, map[string]string{"m.js": "const y = 1; export { y as \"'); globalThis.hit = 1; ('\" }"}},
		{"__proto__ as export", `import * as m from './m.js'; [m.__proto__, Object.keys(m).length]`, "[1,1]",
			map[string]string{"m.js": `const y = 1; export { y as "__proto__" }`}},
		{"a file named as code", "const name = ['./x\");hit=1;(\"', '.js'].join(''); [require(name), typeof hit]",
			`[{"a":1},"undefined"]`, map[string]string{`x");hit=1;(".js`: "module.exports = {a: 1}"}},
		{"a file with separators", "const name = ['./x`${hit}\u2028', '.js'].join(''); require(name)", `2`,
			map[string]string{"x`${hit}\u2028.js": "module.exports = 2"}},
		{"a file named __proto__", "const name = ['./__proto__', '.js'].join(''); require(name)", `3`,
			map[string]string{"__proto__.js": "module.exports = 3"}},
	} {
		s := sandbox.Script{Code: c.code, Files: map[string][]byte{}}
		for name, text := range c.files {
			s.Files[name] = []byte(text)
		}
		if r := run(t, e, s, sandbox.Grants{}); string(r.Value) != c.value {
			t.Errorf("%s: %s, %s", c.name, r.Value, r.Error)
		}
	}
	r := run(t, e,
		sandbox.Script{Code: "[Object.getPrototypeOf(globalThis) === Object.prototype, typeof hit, " +
			"globalThis['a\"];hit=1;//']]", Context: map[string]json.RawMessage{
			`a"];hit=1;//`: json.RawMessage("5"), "then": json.RawMessage("1"), "__proto__": json.RawMessage(`{"hit": 1}`),
		}}, sandbox.Grants{})
	if string(r.Value) != `[true,"undefined",5]` {
		t.Errorf("names of context: %s, %s", r.Value, r.Error)
	}
}

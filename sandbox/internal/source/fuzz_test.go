package source

import (
	"strings"
	"testing"
)

// FuzzSource checks that any code is shaped or refused, and that positions lead somewhere.
func FuzzSource(f *testing.F) {
	for _, s := range []string{
		"import {a} from './a.js'; a", "export default 1", "import('./' + x + '.js')", "require(`./${x}`)",
		"import.meta.url", "module.exports = 1", "import x = require('y')",
		"if (1) /'/.test(''); import('./' + n); '/'", "```js\nimport './a.js'\n```",
		"import a from 'a' with {type: 'json'}\na", "export {", "import \"", "}); import './a.js'; (async () => {",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, code string, typescript bool) {
		if len(code) > 2000 {
			return
		}
		in := Input{Code: code, TypeScript: typescript,
			Files: map[string][]byte{"a.js": []byte("export const a = 1"), "y.ts": []byte("export default 2")}}
		s, ex := Of(in)
		if ex != nil {
			if strings.Contains(ex.Message, "airlock-") {
				t.Errorf("%q: the message shows our names: %s", code, ex.Message)
			}
			return
		}
		for line := range 20 {
			s.origin(line, line)
		}
		withSteps(code, typescript, 1)
	})
}

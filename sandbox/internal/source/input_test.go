package source

import "testing"

// A source says what its code mentions, whether it is a script or a bundle.
func TestMentions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		want       mentions
	}{
		{"nothing", "new RegExp('v1').exec('vv ')", mentions{}},
		{"a group of the last match", "/(a)/.test('a'); RegExp.$1", mentions{matches: true}},
		{"the last match", "RegExp.lastMatch", mentions{matches: true}},
		{"another property", "RegExp.lastIndex", mentions{}},
		{"the flag v", "RegExp('a', 'v')", mentions{sets: true}},
		{"the flag among others", "RegExp('a', `givs`)", mentions{sets: true}},
		{"the flag at the end", "const flags = \"gv\"; new RegExp('a', flags)", mentions{sets: true}},
		{"a string behind a string", "RegExp(a+'v')", mentions{sets: true, named: true}},
		{"a computed pattern", "new RegExp( pattern, 'g')", mentions{named: true}},
		{"a string of flags that goes on", "RegExp('vx', 'gs')", mentions{}},
		{"a string of flags without a regular expression", "['v']", mentions{}},
		{"the path", "RegExp; __dirname", mentions{path: true}},
	} {
		for form, code := range map[string]string{"script": c.code, "bundle": "import 'path';\n" + c.code} {
			s, ex := Of(Input{Code: code})
			if ex != nil {
				t.Fatalf("%s, as a %s: %s", c.name, form, ex.Message)
			}
			if s.mentions != c.want {
				t.Errorf("%s, as a %s: %+v, want %+v", c.name, form, s.mentions, c.want)
			}
		}
	}
}

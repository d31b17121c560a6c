package browser_test

import (
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

// hostile is markup, whose scripts set window.stung, and characters that reorder or hide the text around them. Pages
// show it as hostileShown.
const (
	scripts = `<img src=x onerror="window.stung=1"><script>window.stung=1</script><svg ` +
		`onload="window.stung=1">'"</script></style>&lt;b&gt;${window.stung=1}`
	hostile      = scripts + "\u202e\u2066\u200b\u00ad\U000e0041\x1b[2J\x07\u0085\u2028\u3164end"
	hostileShown = scripts + `\u{202e}\u{2066}\u{200b}\u{ad}\u{e0041}\u{1b}[2J\u{7}\u{85}\u{2028}\u{3164}end`
)

// seeded runs one execution of each kind that the pages distinguish, and returns their IDs by name.
func (s *server) seeded(t *testing.T) map[string]execution.Result {
	t.Helper()
	all := map[string]execution.Result{}
	for name, request := range map[string]map[string]any{
		"fast": {"code": "const sum = input.reduce((a, b) => a + b, 0);\nconsole.log('sum', sum);\nreturn { sum };",
			"input": []int{1, 2, 3}, "policy": "strict"},
		"slow":    {"code": "await new Promise(r => setTimeout(r, 120)); return 'late'"},
		"thrown":  {"code": "const user = undefined;\nconsole.warn('about to fail');\nreturn user.name;"},
		"endless": {"code": "for (;;);", "timeout": 60, "policy": "extended"},
		"greedy":  {"code": "const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));", "memory": "16mb"},
		"blocked": {"code": "// innocent\nconst run = eval;\nreturn run('process.exit()');", "policy": "strict"},
		"wary":    {"code": "const f = new Function('return this');\nreturn typeof f();", "policy": "agent"},
	} {
		all[name] = s.execute(t, request)
	}
	return all
}

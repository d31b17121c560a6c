package browser_test

import (
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

// hostile is markup that would show itself if it ever became some: it sets window.stung, and its elements can be found.
const hostile = `<img src=x onerror="window.stung=1"><script>window.stung=1</script><svg ` +
	`onload="window.stung=1">'"</script></style>&lt;b&gt;${window.stung=1}`

// seeded runs one execution of each kind that the pages tell apart, and gives them by name.
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

package sandbox_test

import (
	"testing"
	"time"
)

// FuzzPreparationTime searches for code that takes long to prepare for its length: a few tokens repeated between a
// head and a tail. Run must return in time, and the process must live.
func FuzzPreparationTime(f *testing.F) {
	for _, s := range shapes {
		f.Add(s[0], s[1], s[2], s[3], uint16(20_000), true)
	}
	f.Add("import a from './a.ts';", "export * from './a.ts';", "a", "", uint16(4_000), true)
	f.Add("", "import('./' + ", "a", ")", uint16(4_000), false)
	var c preparer
	f.Fuzz(func(t *testing.T, head, unit, middle, tail string, size uint16, typescript bool) {
		p := preparation{Code: repeated(int(size), head, unit, middle, tail), TypeScript: typescript,
			Wall: 100 * time.Millisecond}
		p.Files = map[string]string{"a.ts": p.Code}
		if r := c.run(t, p); r.Used > p.Wall+prepareGrace || r.Spent && r.Result.Limit == "" {
			t.Fatalf("%v (%s): limit %q, spent %v", r.Used, p, r.Result.Limit, r.Spent)
		}
	})
}

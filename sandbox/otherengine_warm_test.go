package sandbox_test

import (
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/otherengine"
)

// reachable returns all that a guest can reach, one line for each property: its path, its attributes and its value.
const reachable = `const lines = [], seen = new Map();
const walk = (path, v) => {
  if (v === null || typeof v !== 'object' && typeof v !== 'function') return String(v);
  if (seen.has(v)) return seen.get(v);
  seen.set(v, path);
  const prototype = walk(path + '.[[Prototype]]', Object.getPrototypeOf(v));
  lines.push(path + ' extends ' + prototype + ' ' + Object.isExtensible(v));
  for (const key of Reflect.ownKeys(v)) {
    const d = Object.getOwnPropertyDescriptor(v, key), at = path + '.' + String(key);
    const values = [walk(at, d.value), walk(at + '.get', d.get), walk(at + '.set', d.set)];
    lines.push(at + ' ' + [d.writable, d.enumerable, d.configurable, values]);
  }
  return path;
};
walk('', globalThis);
lines.push('sum ' + [1, 2, 3].reduce((a, b) => a + b), 'stack ' + new Error('e').stack, 'name ' + (() => {}).name);
return lines.join('\n');`

// A guest cannot tell whether its process did a job's work before its job.
func TestOtherEngineWarmLeavesNothing(t *testing.T) {
	if oldBuild() {
		return
	}
	for _, k := range otherengine.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			var looks [2]string
			for i, warm := range []bool{false, true} {
				e, _ := otherEngineWith(t, k, false, warm)
				r := run(t, e, sandbox.Script{Engine: k.Name, Code: reachable}, sandbox.Grants{
					Limits: sandbox.Limits{OutputBytes: 8 << 20},
				})
				if r.Error != "" || len(r.Value) < 10_000 {
					t.Fatalf("%s %.200s", r.Error, r.Value)
				}
				looks[i] = strings.ReplaceAll(string(r.Value), `\n`, "\n")
			}
			if looks[0] != looks[1] {
				t.Error(firstDifference(looks[1], looks[0]))
			}
		})
	}
}

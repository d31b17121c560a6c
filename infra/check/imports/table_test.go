package imports

import "testing"

func TestViolations(t *testing.T) {
	for _, c := range []struct {
		name, path, pkg, imported string
		violations                int
	}{
		{"a subpackage", "policy/scan", "scan", Module + "policy/scan/internal/flow", 0},
		{"a leaf", "sandbox", "sandbox", Module + "policy/depth", 0},
		{"another top folder", "sandbox/internal/vfs", "vfs", Module + "gateway", 1},
		{"below an entry with dots", "sandbox/conformance", "conformance", Module + "sandbox/internal/raw", 0},
		{"against the direction", "sandbox/internal/hostops/web", "web", Module + "sandbox", 1},
		{"a sibling that no entry names", "sandbox/internal/vfs", "vfs", Module + "sandbox/internal/journal", 1},
		{"below an entry without", "functions/events", "events", Module + "functions/execution/x", 1},
		{"the record, from the decision", "policy", "policy", Module + "policy/audit", 1},
		{"a main package", "gateway/cmd/airlock", "main", Module + "sandbox", 0},
		{"a root", "functions/process", "process", Module + "sandbox", 0},
		{"a root, imported", "gateway/mcp", "mcp", Module + "gateway/wiring", 1},
		{"an external module in its folder", "sandbox/internal/quickjs", "quickjs", "github.com/tetratelabs/wazero/api", 0},
		{"an external module elsewhere", "functions/runner", "runner", "github.com/tetratelabs/wazero", 1},
		{"a package of another module", "other", "other", "fmt", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Violations(Package{ImportPath: Module + c.path, Name: c.pkg, Imports: []string{c.imported}})
			if len(got) != c.violations {
				t.Errorf("got %q, want %d", got, c.violations)
			}
		})
	}
}

package imports_test

import (
	"testing"

	"github.com/airlock-run/airlock/infra/check/imports"
)

// A package below gateway imports lower layers, and neither its own layer nor package gateway.
func TestLayers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, target string
		allowed            bool
	}{
		{"downwards", "gateway/mcp", "gateway/registry", true},
		{"upwards", "gateway/registry", "gateway/mcp", false},
		{"its own layer", "gateway/jobs", "gateway/stream", false},
		{"package gateway", "gateway/hooks", "gateway", false},
		{"from package gateway", "gateway", "gateway/mcp", true},
		{"its own subpackage", "gateway/console", "gateway/console/playground", true},
		{"into a subpackage", "gateway/dashboard", "gateway/console/playground", true},
		{"a package without a layer", "gateway/unknown", "gateway/api", false},
		{"a package outside", "gateway/api", "functions/execution", true},
	} {
		p := imports.Package{ImportPath: imports.Module + c.path, Name: "p", Imports: []string{imports.Module + c.target}}
		if got := imports.Violations(p); (len(got) == 0) != c.allowed {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

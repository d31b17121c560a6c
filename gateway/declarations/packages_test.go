package declarations_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/gateway/declarations"
)

// TestPackages checks the declarations of packages, with names that are reserved and texts that are none.
func TestPackages(t *testing.T) {
	t.Parallel()
	got := declarations.Packages([]declarations.Package{
		{Name: "@scope/a", Exports: []string{"default(x)", "chunk(array, size)", "VERSION", "enum(x)", "class",
			"x(this, x, x, 1)", "x: any; } hostile {", "*/", ""},
			Default: []string{"(date, c)", "chunk(array)", "VERSION", "} hostile"}},
		{Name: "empty"},
	})
	want := `declare module "@scope/a" {
  const $default: {
    (date?: any, c?: any, ...more: any[]): any;
    chunk(array?: any, ...more: any[]): any;
    VERSION: any;
  };
  export default $default;
  export function chunk(array?: any, size?: any, ...more: any[]): any;
  export const VERSION: any;
  const $1: any; export { $1 as enum };
  const $2: any; export { $2 as class };
  export function x(x?: any, ...more: any[]): any;
}
declare module "empty" {
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPackagesAreBounded checks that the declarations of very many exports are cut between two packages.
func TestPackagesAreBounded(t *testing.T) {
	t.Parallel()
	var all []declarations.Package
	for i := range 40 {
		p := declarations.Package{Name: fmt.Sprint("p", i)}
		for j := range 1000 {
			p.Exports = append(p.Exports, fmt.Sprintf("%s%d", strings.Repeat("x", 40), j))
		}
		all = append(all, p)
	}
	got := declarations.Packages(all)
	if len(got) > 1<<20+200 || !strings.HasSuffix(got, "bytes.\n") ||
		strings.Count(got, "{\n") != strings.Count(got, "}\n") {
		t.Errorf("%d bytes", len(got))
	}
}

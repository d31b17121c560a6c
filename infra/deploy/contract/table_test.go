package contract_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy/audit"
)

// The table of Athena has the members of a record that queries need, with their types.
func TestTableHasTheMembersOfARecord(t *testing.T) {
	template, err := os.ReadFile(root)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(template), "  RecordsTable:\n")
	table, _, _ = strings.Cut(table, "\n\n")
	// Free-form and large members are not in the table.
	skipped := []string{"code", "grants", "reasons", "astTelemetry", "custody", "seed", "request", "journal"}
	want := columns(reflect.TypeFor[audit.Record](), skipped)
	var got []string
	for _, m := range regexp.MustCompile(`- \{Name: (\w+), Type: '?([^'}]+)'?\}`).FindAllStringSubmatch(table, -1) {
		got = append(got, m[1]+":"+m[2])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the template has\n%s\na record has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// columns returns the members of a struct as columns.
func columns(of reflect.Type, skipped []string) (all []string) {
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if slices.Contains(skipped, name) {
			continue
		}
		all = append(all, strings.ToLower(name)+":"+typeOf(name, f.Type))
	}
	return all
}

func typeOf(name string, t reflect.Type) string {
	switch {
	case name == "dangerAnalysis":
		return "struct<score:int,level:string>"
	case t.Kind() == reflect.Slice:
		return "array<" + typeOf(name, t.Elem()) + ">"
	case t.Kind() == reflect.Pointer:
		return typeOf(name, t.Elem())
	case t.Kind() == reflect.Struct && t.Name() != "Time":
		return "struct<" + strings.Join(columns(t, []string{"mac"}), ",") + ">"
	case t.Kind() == reflect.Float64:
		return "double"
	case t.Kind() == reflect.Int64 || name == "codeBytes":
		return "bigint"
	case t.Kind() == reflect.Int:
		return "int"
	}
	return "string"
}

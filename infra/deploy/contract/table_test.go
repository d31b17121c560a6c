package contract_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/airlock-run/airlock/infra/state/dynamostate"
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

// The table of the state is the one that package dynamostate needs, with the TTL by its attribute.
func TestStateTableHasItsSchema(t *testing.T) {
	type indexOf struct {
		IndexName  string
		KeySchema  []map[string]string
		Projection map[string]any
	}
	var table struct {
		Properties struct {
			BillingMode             string
			AttributeDefinitions    []map[string]string
			KeySchema               []map[string]string
			GlobalSecondaryIndexes  []indexOf
			TimeToLiveSpecification struct {
				AttributeName string
				Enabled       bool
			}
		}
	}
	if err := json.Unmarshal(stateTable(t), &table); err != nil {
		t.Fatal(err)
	}
	got, want := table.Properties, dynamostate.Schema("")
	keys := func(keys []types.KeySchemaElement) (out []map[string]string) {
		for _, k := range keys {
			out = append(out, map[string]string{"AttributeName": *k.AttributeName, "KeyType": string(k.KeyType)})
		}
		return out
	}
	var attributes []map[string]string
	for _, a := range want.AttributeDefinitions {
		attributes = append(attributes,
			map[string]string{"AttributeName": *a.AttributeName, "AttributeType": string(a.AttributeType)})
	}
	var indexes []indexOf
	for _, index := range want.GlobalSecondaryIndexes {
		has := map[string]any{"ProjectionType": string(index.Projection.ProjectionType)}
		if names := index.Projection.NonKeyAttributes; len(names) > 0 {
			var all []any
			for _, name := range names {
				all = append(all, name)
			}
			has["NonKeyAttributes"] = all
		}
		indexes = append(indexes, indexOf{*index.IndexName, keys(index.KeySchema), has})
	}
	for name, pair := range map[string][2]any{
		"billing":        {got.BillingMode, string(want.BillingMode)},
		"attributes":     {got.AttributeDefinitions, attributes},
		"keys":           {got.KeySchema, keys(want.KeySchema)},
		"indexes":        {got.GlobalSecondaryIndexes, indexes},
		"TTL":            {got.TimeToLiveSpecification.AttributeName, dynamostate.TTLAttribute},
		"TTL is enabled": {got.TimeToLiveSpecification.Enabled, true},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// stateTable returns the resource StateTable as JSON.
func stateTable(t *testing.T) []byte {
	t.Helper()
	_, text, _ := strings.Cut(string(read(t, root)), "  StateTable:\n")
	text, _, _ = strings.Cut(text, "\n\n")
	var table map[string]any
	if err := yaml.Unmarshal([]byte(text), &table); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// columns returns the members of a struct as columns.
func columns(of reflect.Type, skipped []string) (all []string) {
	for f := range of.Fields() {
		if f.Anonymous {
			all = append(all, columns(f.Type, skipped)...)
			continue
		}
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
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.Int:
		return "int"
	}
	return "string"
}

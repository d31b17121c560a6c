package openapi_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/openapi"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/threat"
)

func document(t *testing.T) *openapi.Document {
	t.Helper()
	d, err := openapi.New("test")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(document(t).JSON())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(
		t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaDefaultsValidation(),
	); err != nil {
		t.Error(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "test" {
		t.Errorf("%s, version %s", doc.OpenAPI, doc.Info.Version)
	}
	seen := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if other, twice := seen[op.OperationID]; twice || op.OperationID == "" {
				t.Errorf("%s %s: the operationId %q is also that of %s", method, path, op.OperationID, other)
			}
			seen[op.OperationID] = method + " " + path
			if op.Summary == "" || len(op.Tags) != 1 || doc.Tags.Get(op.Tags[0]) == nil {
				t.Errorf("%s %s: needs a summary and one of the tags", method, path)
			}
			if keyed := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil; keyed != (method == "POST") {
				t.Errorf("%s %s: every POST takes an Idempotency-Key, and nothing else does", method, path)
			} else if keyed && (op.Responses.Value("409") == nil || op.Responses.Value("422") == nil) {
				t.Errorf("%s %s: the key may be answered with 409 and 422", method, path)
			}
		}
	}
}

// The schemas have the members that the types have, at every level.
func TestSchemasFollowTheTypes(t *testing.T) {
	t.Parallel()
	d := document(t)
	for _, c := range []struct {
		name string
		of   reflect.Type
	}{
		{"ExecutionRequest", reflect.TypeFor[execution.Request]()},
		{"ExecutionResult", reflect.TypeFor[execution.Result]()},
		{"Finding", reflect.TypeFor[threat.Finding]()},
		{"DangerAnalysis", reflect.TypeFor[threat.Analysis]()},
		{"Record", reflect.TypeFor[audit.Record]()},
	} {
		schema, err := d.Schema(c.name)
		if err != nil {
			t.Fatal(err)
		}
		follow(t, c.name, schema, c.of)
	}
}

func follow(t *testing.T, at string, schema map[string]any, of reflect.Type) {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct {
		if of.Kind() == reflect.Slice {
			schema, _ = schema["items"].(map[string]any)
		}
		of = of.Elem()
	}
	for _, options := range []string{"anyOf", "oneOf"} {
		if list, ok := schema[options].([]any); ok && schema["properties"] == nil {
			schema, _ = list[0].(map[string]any)
		}
	}
	members, ok := schema["properties"].(map[string]any)
	if of.Kind() != reflect.Struct || of.PkgPath() == "time" || !ok {
		return
	}
	var have []string
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || name == "" || field.Name == "Snapshot" { // a snapshot goes to the gateway and no further
			continue
		}
		have = append(have, name)
		member, ok := members[name].(map[string]any)
		if !ok {
			t.Errorf("%s.%s is not described", at, name)
			continue
		}
		follow(t, at+"."+name, member, field.Type)
	}
	for name := range members {
		if !slices.Contains(have, name) {
			t.Errorf("%s.%s is described, and not there", at, name)
		}
	}
}

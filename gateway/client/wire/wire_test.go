package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The types of the clients are those of the document.
func TestTypesFollowTheDocument(t *testing.T) {
	text, line, err := document()
	if err != nil {
		t.Fatal(err)
	}
	const again = "the OpenAPI document has changed: npm ci in gateway/client/typescript, go run ./gateway/client/wire"
	want, err := pythonTypes(text, line)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join("..", pythonFile)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %s (%v)", pythonFile, again, err)
	}
	got, err := os.ReadFile(filepath.Join("..", typeScriptFile))
	if err != nil || !strings.HasPrefix(string(got), "// "+line+"\n") {
		t.Fatalf("%s: %s (%v)", typeScriptFile, again, err)
	}
	if _, err := os.Stat("../typescript/node_modules/openapi-typescript"); err != nil {
		return // the hash has to do
	}
	types, err := typeScriptTypes(text, "../typescript")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != "// "+line+"\n"+string(types) {
		t.Errorf("%s: %s", typeScriptFile, again)
	}
}

// A schema that joins others becomes one class with the members of all.
func TestJoinedSchemas(t *testing.T) {
	t.Parallel()
	got, err := pythonTypes([]byte(`{"components": {"schemas": {
		"Named": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
		"Saved": {"description": "A name with code.", "allOf": [{"$ref": "#/components/schemas/Named"},
			{"type": "object", "properties": {"code": {"type": "string"}}}]}}}}`), "generated")
	if err != nil {
		t.Fatal(err)
	}
	const want = `class _Saved(TypedDict):
    name: str


class Saved(_Saved, total=False):
    """A name with code."""

    code: str
`
	if !strings.HasSuffix(string(got), want) {
		t.Errorf("got\n%s\nwant at its end\n%s", got, want)
	}
}

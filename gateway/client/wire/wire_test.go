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

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tooling returns the folder of the protocol's own tools, which make conformance-mcp installs from npm.
func tooling(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MCP_TOOLS")
	if dir == "" {
		t.Skip("MCP_TOOLS is not set; make conformance-mcp installs the protocol's tools from npm and runs this test with " +
			"them")
	}
	return filepath.Join(dir, "node_modules", "@modelcontextprotocol")
}

func node(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// The protocol's conformance suite has these scenarios for servers of any tools; the others ask for tools, prompts and
// resources of its own.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	suite := filepath.Join(tooling(t), "conformance", "dist", "index.js")
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=10000")
	for _, scenario := range []string{
		"server-initialize", "ping", "tools-list", "logging-set-level", "server-sse-polling", "server-sse-multiple-streams",
		"resources-list", "prompts-list", "dns-rebinding-protection",
	} {
		if out := node(t, suite, "server", "--url", p.url+"/mcp", "--scenario", scenario); !strings.Contains(out,
			", 0 failed") {
			t.Errorf("%s:\n%s", scenario, out)
		}
	}
}

// The inspector, without its pages, uses the tools over HTTP and over stdio.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	var about struct {
		Bin map[string]string
	}
	dir := filepath.Join(tooling(t), "inspector")
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = json.Unmarshal(b, &about)
	}
	if err != nil {
		t.Fatal(err)
	}
	inspector := filepath.Join(dir, about.Bin["mcp-inspector"])
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=10000")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	// The inspector passes on only the variables that it is given.
	program := []string{"-e", "AIRLOCK_TEST_AS_PROGRAM=1", "-e", "FUNCTION_PROCESSES=1", "-e",
		"AIRLOCK_CACHE_DIR=" + filepath.Join(cache, "airlock"), os.Args[0], "mcp"}
	for name, target := range map[string][]string{"http": {p.url + "/mcp", "--transport", "http"}, "stdio": program} {
		inspect := func(args ...string) string {
			return node(t, append(append([]string{inspector, "--cli"}, target...), args...)...)
		}
		list := inspect("--method", "tools/list")
		for _, tool := range []string{"execute_code", "analyze_code", "get_execution"} {
			if !strings.Contains(list, `"name": "`+tool+`"`) {
				t.Errorf("%s: no %s:\n%s", name, tool, list)
			}
		}
		if out := inspect("--method", "tools/call", "--tool-name", "execute_code", "--tool-arg",
			"code=6*7"); !strings.Contains(out, `"result": 42`) {
			t.Errorf("%s: %s", name, out)
		}
	}
}

package browser_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented writes the files of the document about agents into a folder that has the SDK, with replacements.
func documented(t *testing.T, replacements ...string) (dir string) {
	t.Helper()
	modules := os.Getenv("MCP_SDK")
	if modules == "" {
		t.Skip("MCP_SDK is not set; `make test-browser` installs the protocol's SDK from npm and runs this test with it")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "mcp", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile("(?ms)^```js [^\\n]*file=(\\S+)\\n(.*?)^```$")
	for _, m := range file.FindAllStringSubmatch(string(text), -1) {
		content := strings.NewReplacer(replacements...).Replace(m[2])
		if err := os.WriteFile(filepath.Join(dir, m[1]), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// node starts a program in a folder and returns a func that returns the next line that it prints.
func node(t *testing.T, dir, file string) (next func() string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", file)
	cmd.Dir, cmd.Stderr = dir, t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	return func() string {
		if !lines.Scan() {
			t.Fatalf("%s ended: %v", file, lines.Err())
		}
		return lines.Text()
	}
}

// The document's agent runs code that calls a tool, a person approves that in the browser, and the agent gets the
// result. The agent uses the protocol's official SDK.
func TestAgentWaitsForApproval(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	for _, c := range []struct{ name, button, told, result string }{
		{"approved", "#paused button.primary", "Approved", "refunded 1250 cents"},
		{"rejected", "#paused button.danger", "Rejected", "RejectedError: the request was rejected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			shop := node(t, documented(t, "4000", "0"), "shop.mjs")
			port := strings.TrimPrefix(shop(), "the shop listens on ")
			s := serve(t, "EGRESS_ALLOW=127.0.0.1:"+port)
			agent := node(t, documented(t, "4000", port, "http://127.0.0.1:3000", s.url), "agent.mjs")
			if got := agent(); got != "the execution is paused" {
				t.Fatal(got)
			}
			b := s.open(t, "/approvals")
			b.wait(`document.querySelector("#paused h3")?.textContent.includes("payments")`)
			b.click(c.button)
			b.wait(`document.querySelector("#told").textContent.includes("` + c.told + `")`)
			if c.name == "approved" {
				if got := shop(); !strings.HasPrefix(got, "refund exec_") {
					t.Errorf("the shop printed %q", got)
				}
			}
			if got := agent(); !strings.Contains(got, c.result) {
				t.Errorf("the agent printed %q", got)
			}
		})
	}
}

// A server asks for input while code calls its tool. A person completes the answer that the page outlines, or rejects.
func TestPersonAnswersServer(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	modules := os.Getenv("MCP_SDK")
	if modules == "" {
		t.Skip("MCP_SDK is not set; `make test-browser` installs the protocol's SDK from npm and runs this test with it")
	}
	shop, err := filepath.Abs(filepath.Join("..", "..", "..", "client", "published", "mcp-shop.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, `MCP_SERVERS=[{"namespace":"shop","command":"node","args":[`+quote(shop)+`],"env":["MCP_MODULES"]}]`,
		"MCP_MODULES="+filepath.Join(modules, "node_modules"), "PATH="+os.Getenv("PATH"))
	b := s.open(t, "/approvals")
	b.expect("status of 400") // for an answer that does not fit
	asked := func(question string) {
		b.click("#refresh")
		b.wait(`document.querySelector("#paused .operation p")?.textContent.includes(` + quote(question) + `)`)
	}
	answer := func(text string) {
		eval[bool](b, `(() => {
			const area = document.querySelector("#paused textarea");
			area.value = `+quote(text)+`;
			return area.dispatchEvent(new Event("input"));
		})()`)
		b.click("#paused button.primary")
	}
	const order = "return await shop.order({})"
	id := s.pause(t, order)
	asked("Which color?")
	if got := eval[string](b, `document.querySelector("#paused textarea").value`); got != "{\n  \"color\": …\n}" {
		t.Errorf("the page outlines %q", got)
	}
	b.click("#paused details summary")
	b.wait(`document.querySelector("#paused details pre")?.textContent.includes("\"type\": \"string\"")`)
	b.click("#paused button.primary")
	b.wait(`document.querySelector("#paused textarea:invalid")?.validationMessage.includes("not JSON")`)
	answer(`{"color": null}`)
	b.wait(`document.querySelector("#paused .refused")?.textContent.includes("color")`)
	answer(`{"color": "red"}`)
	asked("Which size?")
	answer(`{"size": "XL"}`)
	if r := b.ended(id); !strings.Contains(r, `: red, XL"`) {
		t.Error(r)
	}
	id = s.pause(t, order)
	asked("Which color?")
	b.click("#paused button.danger")
	if r := b.ended(id); !strings.Contains(r, `"result":"not ordered: decline, decline"`) {
		t.Error(r)
	}
}

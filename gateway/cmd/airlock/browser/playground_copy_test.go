package browser_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// odd is code that breaks if it is not quoted correctly.
const odd = "// it's \"odd\": $HOME $(id) `id` \\ %s !1 \ufeff é 😀\nJSON\nEOF = '</script>'\n;[`it's " +
	"\"${input.name}\" $HOME \\\\\u2028`, '\ufeff'.length, EOF, '\\ud800'.length]"

// asked fills in the page with a request that runs odd.
func (b bench) asked() {
	b.t.Helper()
	b.write(odd)
	b.pick("#policy", "strict")
	b.click("#tab-input")
	b.typed("#input", `{"name": "O'Neil \\ \"x\""}`)
	b.click("#tab-limits")
	b.typed("#timeout", "4000")
	b.typed("#memory", "16")
	b.typed("#logEntries", "7")
}

var oddResult = []any{"it's \"O'Neil \\ \"x\"\" $HOME \\\u2028", 1.0, "</script>", 1.0}

// Copied text runs unchanged in a shell, as a Go program and in an MCP session, with a credential from the environment.
func TestPlaygroundCopy(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	b := bench{s.open(t, "/playground?editor=plain")}
	b.expect("401") // the login page asks whether there is a session
	b.wait(`location.pathname === "/login"`)
	b.typed("#token", s.token(t, "acme", "execute")+"\r")
	b.wait(`location.pathname === "/playground"`)
	b.ready()
	b.asked()
	b.click("#copy")
	copied := func(kind string) string {
		b.click("input[value=" + kind + "]")
		b.wait(`document.querySelector("#copied").textContent.includes(` +
			quote(map[string]string{"curl": "curl -sS", "go": "package main", "mcp": "tools/call"}[kind]) + `)`)
		return eval[string](b.tab, `document.querySelector("#copied").textContent`)
	}
	dir := t.TempDir()
	save := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := func(name string, args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Stderr, cmd.Env = dir, t.Output(), append(os.Environ(), "API_KEY="+key, "GOFLAGS=", "GOWORK=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return out
	}
	check := func(kind string, answer []byte) {
		var result struct {
			Status, Policy string
			Result         []any
		}
		if err := json.Unmarshal(answer, &result); err != nil {
			t.Fatalf("%s: %v\n%s", kind, err, answer)
		}
		if result.Status != "completed" || result.Policy != "strict" {
			t.Errorf("%s: %s under %s, want completed under strict\n%s", kind, result.Status, result.Policy, answer)
		}
		if !slices.Equal(result.Result, oddResult) {
			t.Errorf("%s: %q, want %q", kind, result.Result, oddResult)
		}
	}
	check("curl", run("sh", save("ask.sh", copied("curl"))))
	program := save("main.go", copied("go"))
	if unformatted := run("gofmt", "-l", program); len(unformatted) > 0 {
		t.Error("the Go program is not formatted")
	}
	check("go", run("go", "run", program))
	var call struct {
		JSONRPC, Method string
		Params          *sdk.CallToolParams
	}
	if err := json.Unmarshal([]byte(copied("mcp")), &call); err != nil || call.JSONRPC != "2.0" ||
		call.Method != "tools/call" {
		t.Fatalf("%+v, %v", call, err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{
			Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: authorized(key)},
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	answer, err := session.CallTool(t.Context(), call.Params)
	if err != nil {
		t.Fatal(err)
	}
	structured, err := json.Marshal(answer.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	check("mcp", structured)
	if text := eval[string](b.tab, `document.querySelector("#copied").textContent`); strings.Contains(text, key) {
		t.Error("a credential was copied")
	}
}

type authorized string

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(a))
	return http.DefaultTransport.RoundTrip(r)
}

// A link holds the whole request, and the page shows it when the link is opened. Nothing runs by itself, and the
// server does not see the request.
func TestPlaygroundShare(t *testing.T) {
	t.Parallel()
	s := serve(t)
	editors(t, func(t *testing.T, query string) {
		b := s.playground(t, query)
		b.asked()
		b.pick("#language", "typescript")
		b.click("#share")
		b.wait(`location.hash.startsWith("#r=")`)
		fragment := eval[string](b.tab, `location.hash`)
		if !strings.Contains(b.text("#note"), "link") {
			t.Errorf("it says %q", b.text("#note"))
		}
		fields := `JSON.stringify(["language", "policy", "input", "timeout", "memory", "cpuMs", ` +
			`"logEntries"].map(id => document.querySelector("#" + id).value))`
		want, code := eval[string](b.tab, fields), b.code()
		c := s.playground(t, query+fragment)
		if got := eval[string](c.tab, fields); c.code() != code || !sameJSON(got, want) {
			t.Errorf("got %s and %q,\nwant %s and %q", got, c.code(), want, code)
		}
		if state := c.text("#state"); state != "Not run yet" {
			t.Errorf("a link began a run: %q", state)
		}
		c.click("#run")
		c.ended("completed")
		if got := eval[[]any](c.tab, `JSON.parse(document.querySelector("#result").textContent)`); !slices.Equal(got,
			oddResult) {
			t.Errorf("got %q, want %q", got, oddResult)
		}
		// Another link in the same window.
		eval[bool](c.tab,
			`(async () => { const { encode } = await import("/assets/playground/share.js"); `+
				`location.hash = await encode({ code: "'another'" }); return true; })()`)
		c.wait(strings.Replace(`CODE.includes("'another'")`, "CODE", content+`.textContent.concat(`+content+`.value ?? "")`,
			1))
	})
}

// sameJSON compares texts, apart from white space in the JSON in them.
func sameJSON(a, b string) bool {
	plain := func(s string) string { return strings.NewReplacer(" ", "", `\n`, "").Replace(s) }
	return plain(a) == plain(b)
}

// A link that the playground did not make loads nothing and is reported as damaged.
func TestPlaygroundDamagedLinks(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.playground(t, "?editor=plain#r=not-a-link")
	if said := b.text("#note"); said != "The link is damaged: nothing was loaded." {
		t.Errorf("it says %q", said)
	}
	if !strings.Contains(b.code(), "fibonacci") {
		t.Errorf("it loaded %q", b.code())
	}
	wrong := eval[[]string](b.tab, `(async () => {
		const { encode, decode } = await import("/assets/playground/share.js");
		const wrong = [];
		const whole = await encode({ code: "1 + 1", policy: "strict", input: { a: [1, "é"] } });
		if ((await decode(whole)).input.a[1] !== "é") wrong.push("whole");
		if (await decode("#elsewhere") !== null || await decode("") !== null) wrong.push("another fragment");
		let state = 7;
		const random = n => (state = (state * 48271) % 2147483647) % n;
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
		for (let n = 0; n < 400; n++) {
			const text = [...whole];
			for (let m = 0; m <= random(4); m++) text[3 + random(text.length - 3)] = letters[random(64)];
			const cut = text.slice(0, 3 + random(text.length)).join("");
			try {
				const request = await decode(cut);
				if (typeof request.code !== "string") wrong.push(cut);
			} catch (error) {
				if (!/^The link (is damaged|holds no code): nothing was loaded\.$/.test(error.message)) wrong.push(error.message);
			}
		}
		for (const other of [null, 1, [], {}, { code: 1 }, "text"]) {
			try { await decode(await encode(other)); wrong.push(JSON.stringify(other)); } catch {}
		}
		// Two kilobytes that unpack to two megabytes.
		try { await decode(await encode({ code: "0".repeat(2 << 20) })); wrong.push("a bomb"); } catch {}
		return wrong;
	})()`)
	if len(wrong) > 0 {
		t.Errorf("wrong: %q", wrong)
	}
}

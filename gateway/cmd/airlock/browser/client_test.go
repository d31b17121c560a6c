package browser_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// clientPage is a script of a web page that runs code with a tool of the page and follows its output.
const clientPage = `import { Airlock } from "./index.js";
const airlock = Airlock.connect({ url: GATEWAY, token: TOKEN });
const show = (id, textContent) =>
  document.body.append(Object.assign(document.createElement("p"), { id, textContent }));
const lines = [];
const code = "console.log('asked'); const { degrees } = await weather({ city: input }); return degrees * 2";
const result = await airlock.run(code, {
  input: "Rome",
  policy: "strict",
  tools: { weather: async ({ city }) => ({ city, degrees: document.title.length }) },
  onLog: (log) => lines.push(log.message),
});
show("result", result.value() + " " + lines);
const refused = await Airlock.connect({ url: GATEWAY, token: "wrong" }).run("1").catch((e) => e);
show("refused", refused.status + " " + refused.code);
const stopped = new AbortController();
setTimeout(() => stopped.abort(), 100);
const ended = await airlock.run("for (;;);", { policy: "agent", signal: stopped.signal }).catch((e) => e);
show("stopped", ended.name ?? ended.status);
`

// TestTypeScriptClient checks the TypeScript client in a page of another origin than the gateway.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	var script []byte
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<!doctype html><title>21 characters of title</title><link rel="icon" href="data:,">` +
				`<body><script type="module" src="page.js"></script>`))
		case "/page.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(script)
		default:
			http.NotFound(w, r)
		}
	}))
	defer page.Close()
	s := guarded(t, "CORS_ORIGINS="+page.URL)
	sources, err := filepath.Abs("../../../client/typescript/src")
	if err != nil {
		t.Fatal(err)
	}
	built := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{Contents: clientPage, ResolveDir: sources, Sourcefile: "page.js"}, Bundle: true,
		Format: api.FormatESModule, Define: map[string]string{"GATEWAY": `"` + s.url + `"`, "TOKEN": `"` + key + `"`},
	})
	for _, e := range built.Errors {
		t.Fatal(e.Location, e.Text)
	}
	script = built.OutputFiles[0].Contents
	b := (&server{url: page.URL}).open(t, "/")
	b.expect("401")
	b.wait(`document.querySelector("#stopped") !== null`)
	for selector, want := range map[string]string{
		"#result": "44 asked", "#refused": "401 unauthenticated", "#stopped": "AbortError",
	} {
		if got := b.text(selector); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q", selector, got, want)
		}
	}
}

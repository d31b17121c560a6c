package playground_test

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/airlock-run/airlock/functions/examples"
	"github.com/airlock-run/airlock/gateway/console"
	"github.com/airlock-run/airlock/gateway/console/playground"
)

func TestPage(t *testing.T) {
	t.Parallel()
	p, err := playground.New(playground.Config{Examples: examples.Files()})
	if err != nil {
		t.Fatal(err)
	}
	page := p.Page()
	if page.Path != "/playground" || page.Title != "Playground" || len(page.Directives) > 0 {
		t.Errorf("%+v", page)
	}
	main := fmt.Sprint(page.Main)
	for _, forbidden := range []string{"<script", "<style", " style=", "javascript:", "http://", "https://", "ZgotmplZ"} {
		if strings.Contains(main, forbidden) {
			t.Errorf("the page has %s", forbidden)
		}
	}
	if handler := regexp.MustCompile(`\son\w+=`).FindString(main); handler != "" {
		t.Errorf("the page has %s", handler)
	}
	if n := strings.Count(main, "<option value=") - strings.Count(main, `<option value="">`); n != 20+2+1 {
		t.Errorf("%d options, want 20 examples, 2 languages and 1 policy", n)
	}
	if n, m := strings.Count(main, "<optgroup"), strings.Count(main, "</optgroup>"); n != 4 || m != 4 {
		t.Errorf("%d groups begin, %d end", n, m)
	}
	if !strings.Contains(main, `<option value="quick-run" data-tier="strict"`) ||
		!strings.Contains(main, `value="realworld-api-tester" data-tier="`) ||
		!strings.Contains(main, ">API tester</option>") {
		t.Errorf("the examples are\n%s", main)
	}
	for id := range ids(main) {
		if ids(main)[id] > 1 {
			t.Errorf("two elements have the id %s", id)
		}
	}
}

func ids(markup string) map[string]int {
	n := map[string]int{}
	for _, found := range regexp.MustCompile(`\sid="([^"]+)"`).FindAllStringSubmatch(markup, -1) {
		n[found[1]]++
	}
	return n
}

// The modules and styles that the page names exist, and so does what modules import.
func TestAssets(t *testing.T) {
	t.Parallel()
	p, err := playground.New(playground.Config{
		Examples: examples.Files(),
		Editor:   fstest.MapFS{"editor.js": {Data: []byte("export {}")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := console.New(p.Assets())
	if err != nil {
		t.Fatal(err)
	}
	imported := regexp.MustCompile(`(?m)(?:from |import\()"([^"]+)"`)
	seen := map[string]bool{}
	for queue := append(p.Page().Styles, p.Page().Modules...); len(queue) > 0; queue = queue[1:] {
		name, ok := strings.CutPrefix(queue[0], "/assets/")
		if seen[name] {
			continue
		}
		seen[name] = true
		asset, found := c.Asset(name)
		if !ok || !found {
			t.Errorf("%s is not there", queue[0])
			continue
		}
		content, err := asset.Content()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range imported.FindAllSubmatch(content, -1) {
			path := string(m[1])
			if rest, relative := strings.CutPrefix(path, "./"); relative {
				path = "/assets/" + name[:strings.LastIndexByte(name, '/')+1] + rest
			}
			queue = append(queue, path)
		}
	}
	own, err := fs.Glob(p.Assets()["playground"], "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range own {
		if !seen["playground/"+name] {
			t.Errorf("nothing loads %s; the page loads %v", name, slices.Sorted(maps.Keys(seen)))
		}
	}
}

func TestEditorIsOptional(t *testing.T) {
	t.Parallel()
	for want, editor := range map[string]fs.FS{
		`data-bundled="true"`:  fstest.MapFS{"editor.js": {}},
		`data-bundled="false"`: fstest.MapFS{"placeholder.txt": {}},
	} {
		p, err := playground.New(playground.Config{Editor: editor})
		if err != nil {
			t.Fatal(err)
		}
		if main := fmt.Sprint(p.Page().Main); !strings.Contains(main, want) ||
			!strings.Contains(main, `<select id="example" disabled>`) {
			t.Errorf("want %s in\n%s", want, main)
		}
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	hostile := `"><script>alert(1)</script>`
	p, err := playground.New(playground.Config{Examples: fstest.MapFS{
		`moderate-x"><script>.js`: {Data: []byte("// " + hostile + "\n// and more\n// tier: strict\n1")},
		"plain.js":                {Data: []byte("// One.\n// tier: agent\n1")},
		"plain.json":              {Data: []byte("1")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	main := fmt.Sprint(p.Page().Main)
	if strings.Contains(main, "<script") || !strings.Contains(main, "&lt;script&gt;alert(1)&lt;/script&gt; and more") ||
		!strings.Contains(main, `<optgroup label="Moderate">`) {
		t.Error(main)
	}
	if !strings.Contains(main, `<option value="plain" data-tier="agent" data-input title="One.">Plain</option>`) {
		t.Error(main)
	}
	for _, bad := range []string{"", "1", "// One.\n1", "// tier: strict\n1", "// One.\n// tier:\n1"} {
		if _, err := playground.New(playground.Config{Examples: fstest.MapFS{"bad.js": {Data: []byte(bad)}}}); err == nil ||
			!strings.Contains(err.Error(), "bad.js") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

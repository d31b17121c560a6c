package apidocs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/airlock-run/airlock/gateway/console"
	"github.com/airlock-run/airlock/gateway/console/apidocs"
)

// The styles and modules that the page names exist, and so does what modules import.
func TestAssets(t *testing.T) {
	t.Parallel()
	d, err := apidocs.New(fstest.MapFS{"viewer.js": {Data: []byte("export default 0")}, "viewer.css": {}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := console.New(d.Assets())
	if err != nil {
		t.Fatal(err)
	}
	imported := regexp.MustCompile(`(?m)from "([^"]+)"`)
	for queue := append(d.Page().Styles, d.Page().Modules...); len(queue) > 0; queue = queue[1:] {
		name, _ := strings.CutPrefix(queue[0], "/assets/")
		asset, ok := c.Asset(name)
		if !ok {
			t.Errorf("%s is not there", queue[0])
		}
		content, err := asset.Content()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range imported.FindAllSubmatch(content, -1) {
			queue = append(queue, string(m[1]))
		}
	}
}

// A binary that was built without the viewer links to the description.
func TestViewerIsOptional(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		viewer  fstest.MapFS
		modules int
		want    string
	}{
		"bundled": {fstest.MapFS{"viewer.js": {}, "viewer.css": {}}, 1, `<div id="viewer"`},
		"absent":  {fstest.MapFS{"placeholder.txt": {}}, 0, "<code>make build</code>"},
	} {
		d, err := apidocs.New(c.viewer)
		if err != nil {
			t.Fatal(err)
		}
		page := d.Page()
		if len(page.Modules) != c.modules || !strings.Contains(fmt.Sprint(page.Main), c.want) ||
			!strings.Contains(fmt.Sprint(page.Main), `href="/openapi.json"`) {
			t.Errorf("%s: %v\n%s", name, page.Modules, page.Main)
		}
	}
}

package apidocs

import (
	"embed"
	"fmt"
	"io/fs"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/airlock-run/airlock/gateway/console"
)

//go:embed assets
var assets embed.FS

//go:embed bundled
var bundled embed.FS

// Docs is the page and what it loads. It never changes, and is safe for concurrent use.
type Docs struct {
	page   console.Page
	assets map[string]fs.FS
}

// New returns the page. viewer has viewer.js and viewer.css to use in place of the embedded ones; it may be nil.
func New(viewer fs.FS) (*Docs, error) {
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		return nil, fmt.Errorf("apidocs: %w", err)
	}
	if viewer == nil {
		if viewer, err = fs.Sub(bundled, "bundled"); err != nil {
			return nil, fmt.Errorf("apidocs: %w", err)
		}
	}
	present, err := console.Has(viewer, "viewer.js")
	if err != nil {
		return nil, fmt.Errorf("apidocs: %w", err)
	}
	d := &Docs{assets: map[string]fs.FS{"docs": own, "viewer": viewer}, page: console.Page{
		Path: "/docs", Title: "API", Main: page(present),
		Styles: []string{"/assets/docs/docs.css"},
	}}
	if present {
		d.page.Styles = []string{"/assets/viewer/viewer.css", "/assets/docs/docs.css"}
		d.page.Modules = []string{"/assets/docs/docs.js"}
		// DOMPurify, which the viewer contains, has a policy for what it cleans; docs.js has the other one.
		d.page.Directives = []string{"trusted-types default dompurify"}
	}
	return d, nil
}

func page(bundled bool) g.Node {
	viewer := h.Div(h.ID("viewer"), h.Data("source", "/openapi.json"), h.P(g.Text("Loading…")))
	if !bundled {
		viewer = h.P(g.Text("This binary was built without the viewer of the description. "), h.Code(g.Text("make build")),
			g.Text(" adds it where an npm registry can be reached."))
	}
	return h.Div(h.Class("docs"),
		h.P(h.Class("docs-lead"), g.Text("The description as a file: "),
			h.A(h.Href("/openapi.json"), g.Text("openapi.json"))),
		viewer,
	)
}

// Page returns the page for the console's frame.
func (d *Docs) Page() console.Page { return d.page }

// Assets returns the files that the page loads, by the folder under /assets where it looks for them.
func (d *Docs) Assets() map[string]fs.FS { return d.assets }

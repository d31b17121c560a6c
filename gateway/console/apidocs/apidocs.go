package apidocs

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"

	"github.com/airlock-run/airlock/gateway/console"
)

//go:embed assets
var assets embed.FS

//go:embed bundled
var bundled embed.FS

//go:embed page.html
var pageSource string

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
	_, absent := fs.Stat(viewer, "viewer.js")
	if absent != nil && !errors.Is(absent, fs.ErrNotExist) {
		return nil, fmt.Errorf("apidocs: %w", absent)
	}
	main, err := template.New("page").Parse(pageSource)
	if err != nil {
		return nil, fmt.Errorf("apidocs: %w", err)
	}
	var b bytes.Buffer
	if err := main.Execute(&b, struct{ Bundled bool }{absent == nil}); err != nil {
		return nil, fmt.Errorf("apidocs: %w", err)
	}
	d := &Docs{assets: map[string]fs.FS{"docs": own, "viewer": viewer}, page: console.Page{
		Path: "/docs", Title: "API", Main: template.HTML(b.String()), // rendered by html/template
		Styles: []string{"/assets/docs/docs.css"},
	}}
	if absent == nil {
		d.page.Styles = []string{"/assets/viewer/viewer.css", "/assets/docs/docs.css"}
		d.page.Modules = []string{"/assets/docs/docs.js"}
		// DOMPurify, which the viewer contains, has a policy for what it cleans; docs.js has the other one.
		d.page.Directives = []string{"trusted-types default dompurify"}
	}
	return d, nil
}

// Page returns the page for the console's frame.
func (d *Docs) Page() console.Page { return d.page }

// Assets returns the files that the page loads, by the folder under /assets where it looks for them.
func (d *Docs) Assets() map[string]fs.FS { return d.assets }

package console

import (
	"embed"
	"fmt"
	"io/fs"

	g "maragu.dev/gomponents"
)

//go:embed pages
var pages embed.FS

//go:embed assets
var ownAssets embed.FS

// Console renders pages and has the assets that they load. It is safe for concurrent use.
type Console struct {
	assets map[string]Asset
}

// A Page is one page inside the frame.
type Page struct {
	// Path is where the page is served. The navigation marks the entry that it begins with as current.
	Path  string
	Title string
	// Main is the markup inside <main>.
	Main g.Node
	// Styles and Modules are paths of style sheets and ES modules, loaded after those of the frame.
	Styles, Modules []string
	// Directives are added to the Content-Security-Policy, such as "worker-src 'self'". They replace those of the same
	// name.
	Directives []string
}

// Visitor is the user who views a page.
type Visitor struct {
	Subject, Tenant string
	Scopes          []string
	// Open is true if no credential is configured, so that there is nothing to log out of.
	Open bool
}

// Anonymous reports whether nobody is logged in where one could be.
func (v Visitor) Anonymous() bool { return !v.Open && v.Subject == "" }

// New returns a console with its own assets and those of others under a folder for each name: main.js of "playground"
// is served as /assets/playground/main.js.
func New(others map[string]fs.FS) (*Console, error) {
	c := &Console{assets: map[string]Asset{}}
	own, err := fs.Sub(ownAssets, "assets")
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	if err := c.collect("", own); err != nil {
		return nil, err
	}
	for name, files := range others {
		if err := c.collect(name+"/", files); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// ownPages are the pages of this package by name, with the styles that they need besides those of all.
var ownPages = map[string]Page{
	"dashboard": {Path: "/dashboard", Title: "Dashboard"},
	"security":  {Path: "/security", Title: "Security"},
	"execution": {Path: "/dashboard", Title: "Execution"},
	"approvals": {Path: "/approvals", Title: "Approvals", Styles: []string{"/assets/approvals.css"}},
	"functions": {Path: "/functions", Title: "Functions", Styles: []string{"/assets/functions.css"}},
	"jobs":      {Path: "/jobs", Title: "Jobs", Styles: []string{"/assets/functions.css"}},
	"sessions":  {Path: "/sessions", Title: "Sessions", Styles: []string{"/assets/functions.css"}},
	"packages":  {Path: "/packages", Title: "Packages", Styles: []string{"/assets/functions.css"}},
	"function":  {Path: "/functions", Title: "Function", Styles: []string{"/assets/functions.css"}},
}

// Own returns a page of this package, such as "dashboard" or "functions".
func Own(name string) (Page, error) {
	p, ok := ownPages[name]
	if !ok {
		return Page{}, fmt.Errorf("console: there is no page %s", name)
	}
	main, err := pages.ReadFile("pages/" + name + ".html")
	if err != nil {
		return Page{}, fmt.Errorf("console: %w", err)
	}
	p.Main = g.Raw(string(main)) // embedded, and written by us
	p.Styles = append([]string{"/assets/pages.css", "/assets/details.css"}, p.Styles...)
	p.Modules = []string{"/assets/" + name + ".js"}
	return p, nil
}

type entry struct{ Path, Title string }

func navigation() []entry {
	return []entry{
		{"/dashboard", "Dashboard"}, {"/security", "Security"}, {"/approvals", "Approvals"},
		{"/functions", "Functions"}, {"/jobs", "Jobs"}, {"/sessions", "Sessions"}, {"/packages", "Packages"},
		{"/playground", "Playground"}, {"/docs", "API"},
	}
}

// Paths returns the paths of the pages that the navigation leads to.
func Paths() []string {
	var paths []string
	for _, e := range navigation() {
		paths = append(paths, e.Path)
	}
	return paths
}

package playground

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/airlock-run/airlock/gateway/console"
)

//go:embed assets
var assets embed.FS

//go:embed bundled
var bundled embed.FS

// pageSource is what the page contains. A comment in it marks the place of the examples.
//
//go:embed page.html
var pageSource string

// Playground is the page and what it loads. It never changes, and is safe for concurrent use.
type Playground struct {
	page   console.Page
	assets map[string]fs.FS
}

// Config says what a playground offers. Its zero value is the embedded editor and no examples.
type Config struct {
	// Examples are scripts to choose from: NAME.js, whose first lines are "// what it shows" and, last, "// tier: NAME",
	// and NAME.json, its input, if it has one.
	Examples fs.FS
	// Editor has the bundled editor.js to use in place of the embedded one.
	Editor fs.FS
}

// New returns the playground. It refuses examples without their first lines.
func New(cfg Config) (*Playground, error) {
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		return nil, fmt.Errorf("playground: %w", err)
	}
	editor := cfg.Editor
	if editor == nil {
		if editor, err = fs.Sub(bundled, "bundled"); err != nil {
			return nil, fmt.Errorf("playground: %w", err)
		}
	}
	p := &Playground{assets: map[string]fs.FS{"playground": own, "editor": editor}}
	var examples []example
	if cfg.Examples != nil {
		if examples, err = read(cfg.Examples); err != nil {
			return nil, err
		}
		p.assets["examples"] = cfg.Examples
	}
	present, err := console.Has(editor, "editor.js")
	if err != nil {
		return nil, fmt.Errorf("playground: %w", err)
	}
	p.page = console.Page{
		Path: "/playground", Title: "Playground", Main: page(examples, present),
		Styles: []string{"/assets/playground/playground.css"}, Modules: []string{"/assets/playground/main.js"},
	}
	return p, nil
}

func page(examples []example, bundled bool) g.Node {
	before, after, _ := strings.Cut(pageSource, "<!-- examples -->")
	var choices g.Group
	for len(examples) > 0 {
		group := examples[0].Group
		end := slices.IndexFunc(examples, func(e example) bool { return e.Group != group })
		if end < 0 {
			end = len(examples)
		}
		choices = append(choices, h.OptGroup(g.Attr("label", group), g.Map(examples[:end], example.option)))
		examples = examples[end:]
	}
	return h.Div(h.ID("playground"), h.Class("pg"), h.Data("bundled", strconv.FormatBool(bundled)),
		g.Raw(before),
		h.Select(h.ID("example"), g.If(len(choices) == 0, h.Disabled()), h.Option(h.Value(""), g.Text("Select…")), choices),
		g.Raw(after),
	)
}

// Page returns the page for the console's frame.
func (p *Playground) Page() console.Page { return p.page }

// Assets returns the files that the page loads, by the folder under /assets where it looks for them.
func (p *Playground) Assets() map[string]fs.FS { return p.assets }

type example struct {
	Name, Group, Title, About, Tier string
	Input                           bool
}

func (e example) option() g.Node {
	return h.Option(h.Value(e.Name), h.Data("tier", e.Tier), g.If(e.Input, g.Attr("data-input")),
		h.Title(e.About), g.Text(e.Title))
}

// head is the comment that an example begins with.
var head = regexp.MustCompile(`^((?:// .+\n)+?)// tier: (\w+)\n`)

// read returns the examples by group and name. The first word of a name is its group, as in realworld-code-runner.
func read(files fs.FS) ([]example, error) {
	names, err := fs.Glob(files, "*.js")
	if err != nil {
		return nil, fmt.Errorf("playground: %w", err)
	}
	var examples []example
	for _, file := range names {
		code, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, fmt.Errorf("playground: %w", err)
		}
		first := head.FindSubmatch(code)
		if first == nil {
			return nil, fmt.Errorf("playground: the example %s does not begin with what it shows and its tier", file)
		}
		e := example{Name: strings.TrimSuffix(file, path.Ext(file)), About: about(first[1]), Tier: string(first[2])}
		e.Group, e.Title = titled(e.Name)
		_, err = fs.Stat(files, e.Name+".json")
		e.Input = err == nil
		examples = append(examples, e)
	}
	slices.SortStableFunc(examples, func(a, b example) int {
		return slices.Index(groups(), a.Group) - slices.Index(groups(), b.Group)
	})
	return examples, nil
}

// about joins the lines of a comment.
func about(comment []byte) string {
	return strings.TrimSpace(strings.ReplaceAll("\n"+string(comment), "\n// ", " "))
}

func groups() []string { return []string{"First steps", "Moderate", "Advanced", "Real world"} }

// titled returns a name as people read it, and its group.
func titled(name string) (group, title string) {
	group = "First steps"
	for prefix, g := range map[string]string{
		"moderate-": "Moderate", "advanced-": "Advanced", "complex-": "Advanced", "realworld-": "Real world",
	} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			group, name = g, rest
			break
		}
	}
	title = strings.ReplaceAll(name, "-", " ")
	title = strings.NewReplacer("api", "API", "ai ", "AI ").Replace(title)
	return group, strings.ToUpper(title[:1]) + title[1:]
}

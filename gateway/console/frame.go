package console

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// The markup of the frame and of the login is Go: package html/template calls methods by names that only its texts
// know, for which the linker would keep every exported method of every type in the program, a quarter of it.

// Render returns the whole page as the visitor sees it.
func (c *Console) Render(p Page, v Visitor) ([]byte, error) {
	head := g.Group{style("/assets/base.css"), style("/assets/frame.css"), g.Map(p.Styles, style),
		module("/assets/frame.js"), g.Map(p.Modules, module)}
	return document(p.Title, head, h.Body(
		h.Data("subject", v.Subject), h.Data("tenant", v.Tenant), h.Data("scopes", strings.Join(v.Scopes, " ")),
		h.Data("open", strconv.FormatBool(v.Open)),
		h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to the content")),
		h.Header(h.Class("frame"),
			h.A(h.Class("brand"), h.Href("/dashboard"), icon("22"), g.Text("Airlock")),
			h.Nav(h.Aria("label", "Pages"), h.Ul(g.Map(navigation(), func(e entry) g.Node {
				current := g.If(e.Path == p.Path, h.Aria("current", "page"))
				return h.Li(h.A(h.Href(e.Path), current, g.Text(e.Title)))
			}))),
			h.Div(h.Class("frame-end"),
				h.Span(h.ID("live"), h.Class("live"), h.Role("status"), g.Attr("hidden")),
				h.Button(h.ID("theme"), h.Type("button"), h.Class("quiet icon"), h.Aria("label", "Theme: as the system"),
					g.Raw(themeIcon)),
				who(p, v),
			),
		),
		h.NoScript(h.P(h.Class("notice"), h.Role("alert"),
			g.Text("These pages need JavaScript. The same figures are at "),
			h.A(h.Href("/openapi.json"), g.Text("the API")), g.Text("."))),
		h.Main(h.ID("main"), h.TabIndex("-1"), p.Main),
	))
}

// who returns what the header says about the visitor.
func who(p Page, v Visitor) g.Node {
	switch {
	case v.Open:
		return h.Span(h.Class("who"), h.Title("No credential is configured: this machine only"),
			h.Span(h.Class("who-name"), g.Text("local")))
	case v.Anonymous():
		return h.A(h.Class("button"), h.Href("/login?next="+url.QueryEscape(p.Path)), g.Text("Log in"))
	}
	return g.Group{
		h.Span(h.Class("who"), h.Span(h.Class("who-name"), g.Text(v.Subject)),
			h.Span(h.Class("who-tenant"), g.Text(v.Tenant))),
		h.Form(h.Method("post"), h.Action("/logout"),
			h.Button(h.Type("submit"), h.Class("quiet"), g.Text("Log out"))),
	}
}

// Login returns the login page. next is where a successful login leads. refused, if not empty, is why the last one
// failed.
func (c *Console) Login(next, refused string) ([]byte, error) {
	head := g.Group{style("/assets/base.css"), style("/assets/login.css"), module("/assets/login.js")}
	describedBy := "help"
	if refused != "" {
		describedBy += " refused"
	}
	return document("Log in", head, h.Body(h.Data("next", next), h.Main(h.Class("login"),
		h.H1(icon("32"), g.Text("Airlock")),
		h.Form(h.Method("post"), h.Action("/login"), h.Class("card"),
			h.Input(h.Type("hidden"), h.Name("next"), h.Value(next)),
			h.Input(h.Type("hidden"), h.Name("request_token"), h.Value("")),
			h.Label(h.For("token"), g.Text("Token or API key")),
			h.Input(h.ID("token"), h.Name("token"), h.Type("password"), h.AutoComplete("current-password"),
				g.Attr("autocapitalize", "none"), g.Attr("spellcheck", "false"), h.MaxLength("8192"), h.Required(),
				h.AutoFocus(), h.Aria("describedby", describedBy), g.If(refused != "", h.Aria("invalid", "true"))),
			g.If(refused != "", h.P(h.ID("refused"), h.Class("refused"), h.Role("alert"), g.Text(refused))),
			h.P(h.ID("storage"), h.Class("refused"), h.Role("alert"), g.Attr("hidden"),
				g.Text("This browser blocks site data for this page. Allow it, and log in again.")),
			h.Button(h.Type("submit"), h.Class("primary"), g.Text("Log in")),
			h.P(h.ID("help"), h.Class("hint"), g.Text("A token of your identity provider, one of "),
				h.Code(g.Text("airlock token")), g.Text(", or the gateway's "), h.Code(g.Text("API_KEY")),
				g.Text(". The pages show what it may read.")),
		),
	)))
}

func document(title string, head, body g.Node) ([]byte, error) {
	var b bytes.Buffer
	err := h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.TitleEl(g.Text(title+" · Airlock")),
			h.Link(h.Rel("icon"), h.Href("/assets/icon.svg"), h.Type("image/svg+xml")),
			h.Script(h.Src("/assets/theme.js")),
			head,
		),
		body,
	)).Render(&b)
	if err != nil {
		return nil, fmt.Errorf("console: render: %w", err)
	}
	return b.Bytes(), nil
}

func style(path string) g.Node { return h.Link(h.Rel("stylesheet"), h.Href(path)) }

func module(path string) g.Node { return h.Script(h.Type("module"), h.Src(path)) }

func icon(size string) g.Node {
	return h.Img(h.Src("/assets/icon.svg"), h.Alt(""), h.Width(size), h.Height(size))
}

const themeIcon = `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">` +
	`<circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" stroke-width="1.5"/>` +
	`<path d="M8 1.75a6.25 6.25 0 0 1 0 12.5z" fill="currentColor"/></svg>`

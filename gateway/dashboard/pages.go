package gateway

import (
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/console"
	"github.com/airlock-run/airlock/gateway/console/playground"
)

// web is what the pages need.
type web struct {
	*console.Console
	playground console.Page
	sessions   *console.Sessions
	reports    console.Reports
}

func (s *Server) newWeb() error {
	play, err := playground.New(playground.Config{Examples: s.deps.Examples})
	if err != nil {
		return err
	}
	pages, err := console.New(play.Assets())
	if err != nil {
		return err
	}
	s.web = &web{Console: pages, playground: play.Page(), sessions: console.NewSessions(s.deps.Now)}
	return nil
}

// ofPages names the routes that people's browsers use; the API description has the others.
const ofPages = "page"

// pages are the routes of the web pages.
func (s *Server) pages() {
	page := func(path string, handlers ...fiber.Handler) { s.app.Get(path, handlers...).Name(ofPages) }
	page("/assets/*", s.asset)
	page("/login", s.loginPage)
	s.app.Post("/login", s.login).Name(ofPages)
	s.app.Post("/logout", s.logout).Name(ofPages)
	page("/session", s.session, s.authenticate, s.sessionState)
	s.app.Post(console.ReportPath, s.cspReport).Name(ofPages)
	page("/", func(c *fiber.Ctx) error { return c.Redirect("/dashboard", fiber.StatusSeeOther) })
	page("/playground", s.visitor, s.page(s.web.playground))
	for path, name := range map[string]string{
		"/dashboard": "dashboard", "/dashboard/execution/:id": "execution", "/security": "security",
	} {
		page(path, s.visitor, s.ownPage(name))
	}
}

// ownPage serves a page of package console.
func (s *Server) ownPage(name string) fiber.Handler {
	p, err := console.Own(name)
	if err != nil {
		return func(*fiber.Ctx) error { return err }
	}
	return s.page(p)
}

// page serves a page inside the frame; visitor stands before it.
func (s *Server) page(p console.Page) fiber.Handler {
	policy := p.Policy()
	return func(c *fiber.Ctx) error {
		who, ok := c.Locals(visitorKey{}).(console.Visitor)
		if !ok {
			who = visitorOf(callerOf(c))
			who.Open = s.deps.Auth.Open()
		}
		body, err := s.web.Render(p, who)
		if err != nil {
			return err
		}
		return html(c, policy, body)
	}
}

func html(c *fiber.Ctx, policy string, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, policy)
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	return c.Send(body)
}

// asset is GET /assets/{name}. Browsers keep assets and ask whether they are still the same.
func (s *Server) asset(c *fiber.Ctx) error {
	a, ok := s.web.Asset(utils.CopyString(c.Params("*")))
	if !ok {
		return &problem{status: 404}
	}
	content, coding, tag := a.Content, "", a.ETag
	if c.Get(fiber.HeaderAcceptEncoding) != "" && c.AcceptsEncodings("gzip") != "" && a.Packed() != nil {
		content, coding, tag = a.Packed(), "gzip", strings.TrimSuffix(tag, `"`)+`-gzip"`
	}
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if held(c, tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	if coding != "" {
		c.Set(fiber.HeaderContentEncoding, coding)
	}
	c.Set(fiber.HeaderContentType, a.Type)
	return c.Send(content)
}

// cspReport is POST /csp-report: a browser stopped something that a page of ours was made to do.
func (s *Server) cspReport(c *fiber.Ctx) error {
	directive, ok := s.web.reports.Take(c.Body())
	if !ok {
		return bad("", "this is not a report of a Content-Security-Policy")
	}
	s.deps.Logger.Debug("a page was stopped by its policy", "directive", directive)
	return c.SendStatus(fiber.StatusNoContent)
}

// sessionState is GET /session: who is logged in, and what they may do.
func (s *Server) sessionState(c *fiber.Ctx) error {
	caller := callerOf(c)
	scopes := caller.Scopes
	if scopes == nil {
		scopes = []string{}
	}
	return s.send(c, struct {
		Subject string   `json:"subject"`
		Tenant  string   `json:"tenant"`
		Scopes  []string `json:"scopes"`
		Open    bool     `json:"open"`
		// Audit says whether the pages have anything to show.
		Audit bool `json:"audit"`
	}{caller.Subject, caller.Tenant, scopes, s.deps.Auth.Open(), caller.May(authn.AuditRead)})
}

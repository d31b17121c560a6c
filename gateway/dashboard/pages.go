package dashboard

import (
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/console"
	"github.com/airlock-run/airlock/gateway/console/apidocs"
	"github.com/airlock-run/airlock/gateway/console/playground"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/records"
	"github.com/airlock-run/airlock/policy"
)

// Config configures Handlers. Fleet and Examples may be nil.
type Config struct {
	Access   *access.Control
	Records  records.Store
	Verifier *records.Verifier
	Activity *Activity
	// Load returns the load of the queue, as it is encoded.
	Load func() any
	// Fleet returns the state of the function processes of this machine.
	Fleet func() *meter.Fleet
	Tiers func() []policy.Tier
	// Places bounds the live streams.
	Places *bounds.Pool
	// Examples are the scripts that the playground offers.
	Examples fs.FS
	// Detail returns the sentence that a problem document would have for an error.
	Detail       func(error) string
	WriteTimeout time.Duration // for one event
	Now          func() time.Time
	Logger       *slog.Logger
}

// Handlers serve the web pages, their login and GET /api/live.
type Handlers struct {
	cfg        Config
	started    time.Time
	console    *console.Console
	playground console.Page
	docs       console.Page
	sessions   *console.Sessions
	reports    console.Reports
	pages      openPages
}

// New returns Handlers.
func New(cfg Config) (*Handlers, error) {
	play, err := playground.New(playground.Config{Examples: cfg.Examples})
	if err != nil {
		return nil, err
	}
	docs, err := apidocs.New(nil)
	if err != nil {
		return nil, err
	}
	assets := play.Assets()
	maps.Copy(assets, docs.Assets())
	pages, err := console.New(assets)
	if err != nil {
		return nil, err
	}
	return &Handlers{
		cfg: cfg, started: cfg.Now(), console: pages, playground: play.Page(), docs: docs.Page(),
		sessions: console.NewSessions(cfg.Now),
	}, nil
}

// RouteName names the routes that only browsers use. The description of the API does not have them.
const RouteName = "page"

// Route adds the routes of the pages.
func (h *Handlers) Route(app *fiber.App) {
	page := func(path string, handlers ...fiber.Handler) { app.Get(path, handlers...).Name(RouteName) }
	page("/assets/*", h.asset)
	page("/login", h.loginPage)
	app.Post("/login", h.login).Name(RouteName)
	app.Post("/logout", h.logout).Name(RouteName)
	page("/session", h.Session, h.cfg.Access.Authenticate, h.sessionState)
	app.Post(console.ReportPath, h.policyReport).Name(RouteName)
	page("/", func(c *fiber.Ctx) error { return c.Redirect("/dashboard", fiber.StatusSeeOther) })
	page("/playground", h.visitor, h.page(h.playground))
	page("/docs", h.anyVisitor, h.page(h.docs))
	for path, name := range map[string]string{
		"/dashboard": "dashboard", "/dashboard/execution/:id": "execution", "/security": "security",
		"/approvals": "approvals", "/functions": "functions", "/functions/:name": "function",
		"/jobs": "jobs", "/sessions": "sessions", "/packages": "packages",
	} {
		page(path, h.visitor, h.ownPage(name))
	}
}

// PolicyReports returns how many violations of the pages' Content-Security-Policy browsers reported.
func (h *Handlers) PolicyReports() int64 { return h.reports.Count() }

// ownPage serves a page of package console.
func (h *Handlers) ownPage(name string) fiber.Handler {
	p, err := console.Own(name)
	if err != nil {
		return func(*fiber.Ctx) error { return err }
	}
	return h.page(p)
}

// page serves a page inside the frame. It runs behind visitor.
func (h *Handlers) page(p console.Page) fiber.Handler {
	contentPolicy := p.Policy()
	return func(c *fiber.Ctx) error {
		who, ok := c.Locals(visitorKey{}).(console.Visitor)
		if !ok {
			who = visitorOf(api.CallerOf(c))
			who.Open = h.cfg.Access.Open()
		}
		body, err := h.console.Render(p, who)
		if err != nil {
			return err
		}
		return sendHTML(c, contentPolicy, body)
	}
}

func sendHTML(c *fiber.Ctx, contentPolicy string, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, contentPolicy)
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	return c.Send(body)
}

// asset serves GET /assets/{name}. Browsers keep assets and revalidate them.
func (h *Handlers) asset(c *fiber.Ctx) error {
	a, ok := h.console.Asset(utils.CopyString(c.Params("*")))
	if !ok {
		return &api.Problem{Status: 404}
	}
	var content []byte
	coding, tag := "", a.ETag
	if c.Get(fiber.HeaderAcceptEncoding) != "" && c.AcceptsEncodings("gzip") != "" && a.Packed() != nil {
		content, coding, tag = a.Packed(), "gzip", strings.TrimSuffix(tag, `"`)+`-gzip"`
	}
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if api.NotModified(c, tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	if coding != "" {
		c.Set(fiber.HeaderContentEncoding, coding)
	} else {
		var err error
		if content, err = a.Content(); err != nil {
			return err
		}
	}
	c.Set(fiber.HeaderContentType, a.Type)
	return c.Send(content)
}

// maxReport is more than browsers report at once, in bytes. Anybody can send reports, as often as they like.
const maxReport = 64 << 10

// policyReport serves POST /csp-report: a browser reports a violation of a page's Content-Security-Policy.
func (h *Handlers) policyReport(c *fiber.Ctx) error {
	if len(c.Body()) > maxReport {
		return &api.Problem{
			Status: fiber.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("a report has at most %d bytes", maxReport),
		}
	}
	directive, ok := h.reports.Take(c.Body())
	if !ok {
		return api.Invalid("", "this is not a report of a Content-Security-Policy")
	}
	h.cfg.Logger.Debug("a browser reported a violation of a page's policy", "directive", directive)
	return c.SendStatus(fiber.StatusNoContent)
}

// sessionState serves GET /session: who is logged in and what they may do.
func (h *Handlers) sessionState(c *fiber.Ctx) error {
	caller := api.CallerOf(c)
	scopes := caller.Scopes
	if scopes == nil {
		scopes = []string{}
	}
	return api.Send(c, struct {
		Subject string   `json:"subject"`
		Tenant  string   `json:"tenant"`
		Scopes  []string `json:"scopes"`
		Open    bool     `json:"open"`
		// Audit says whether the caller may read records, which the pages show.
		Audit bool `json:"audit"`
	}{caller.Subject, caller.Tenant, scopes, h.cfg.Access.Open(), caller.May(authn.AuditRead)})
}

// stillValid returns a func that reports whether the credential of a stream is still valid.
func (h *Handlers) stillValid(c *fiber.Ctx) func() bool {
	authorization, apiKey := access.Credentials(c)
	held, bySession := c.Locals(sessionKey{}).(heldSession)
	return func() bool {
		if bySession {
			if _, ok := h.sessions.Credential(held.name, held.requestToken); !ok {
				return false
			}
		}
		err := h.cfg.Access.Valid(authorization, apiKey)
		if bySession && rejected(err) {
			h.sessions.End(held.name)
		}
		return err == nil
	}
}

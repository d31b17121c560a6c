package gateway

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/valyala/fasthttp"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/console"
)

// The cookie's name where the page came by https, and elsewhere. Browsers take the first from this very host alone.
const (
	secureCookie = "__Host-airlock"
	plainCookie  = "airlock"
)

// requestToken is the header in which scripts of our pages send the second secret of their session. No page of another
// origin can set it: it is not among the headers that CORS allows.
const requestToken = "X-Airlock-Request-Token"

// sessionKey is where a request that a session made has its session.
type sessionKey struct{}

// heldSession is the two secrets of a session.
type heldSession struct{ name, requestToken string }

// session replaces the two secrets of a session by the credential that its owner logged in with; what follows sees
// no difference. The cookie alone is nobody's credential. A session counts for requests of our own pages alone,
// and only where no credential is sent otherwise. It ends when its credential is refused.
func (s *Server) session(c *fiber.Ctx) error {
	h := &c.Request().Header
	held := heldSession{sessionOf(c), utils.CopyString(c.Get(requestToken))}
	if held.name == "" || s.deps.Auth.Open() || showsCredential(h) {
		return c.Next()
	}
	attempt := sessionAttempt(c, held.name)
	if err := s.admit(c, attempt); err != nil {
		return err
	}
	if _, ok := s.web.sessions.Visitor(held.name); !ok {
		return c.Next()
	}
	s.deps.Logins.Succeeded(attempt)
	if !askedBy(c).SameOrigin() {
		return foreign()
	}
	credential, ok := s.web.sessions.Credential(held.name, held.requestToken)
	if !ok {
		return c.Next()
	}
	h.Set(fiber.HeaderAuthorization, "Bearer "+credential)
	c.Locals(sessionKey{}, held)
	err := c.Next()
	if refusal := (*authn.Refusal)(nil); errors.As(err, &refusal) && !refusal.Unavailable {
		s.web.sessions.End(held.name)
	}
	return err
}

func showsCredential(h *fasthttp.RequestHeader) bool {
	return len(h.Peek(fiber.HeaderAuthorization)) > 0 || len(h.Peek("X-Api-Key")) > 0
}

func sessionOf(c *fiber.Ctx) string {
	if name := c.Cookies(secureCookie); name != "" {
		return utils.CopyString(name)
	}
	return utils.CopyString(c.Cookies(plainCookie))
}

func askedBy(c *fiber.Ctx) console.Asked {
	return console.Asked{
		Method: c.Method(), Host: string(c.Request().Host()), Origin: c.Get(fiber.HeaderOrigin),
		Site: c.Get("Sec-Fetch-Site"),
	}
}

// visitorKey is where a page finds for whom it is rendered.
type visitorKey struct{}

// visitor recognises who opens a page, by a credential or by the cookie of a session. A page says who is logged in
// and holds no data: its scripts ask the API for that, with the second secret of the session. A browser that shows
// nothing is sent to the login.
func (s *Server) visitor(c *fiber.Ctx) error {
	if s.deps.Auth.Open() || showsCredential(&c.Request().Header) {
		return s.authenticatedVisitor(c)
	}
	name := sessionOf(c)
	if name != "" {
		if err := s.admit(c, sessionAttempt(c, name)); err != nil {
			return err
		}
	}
	who, ok := s.web.sessions.Visitor(name)
	switch {
	case ok && !askedBy(c).SameOrigin():
		return foreign()
	case ok:
		c.Locals(visitorKey{}, who)
		return c.Next()
	case wantsPage(c):
		return toLogin(c)
	}
	return s.authenticate(c)
}

func (s *Server) authenticatedVisitor(c *fiber.Ctx) error {
	err := s.authenticate(c)
	refusal := (*authn.Refusal)(nil)
	if errors.As(err, &refusal) && wantsPage(c) {
		return toLogin(c)
	}
	return err
}

func wantsPage(c *fiber.Ctx) bool {
	return strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
}

func toLogin(c *fiber.Ctx) error {
	return c.Redirect("/login?next="+url.QueryEscape(c.OriginalURL()), fiber.StatusSeeOther)
}

// loginPage is GET /login.
func (s *Server) loginPage(c *fiber.Ctx) error {
	next := console.Next(c.Query("next"))
	if s.deps.Auth.Open() {
		return c.Redirect(next, fiber.StatusSeeOther)
	}
	return s.askToLogIn(c, next, "")
}

func (s *Server) askToLogIn(c *fiber.Ctx, next, refused string) error {
	body, err := s.web.Login(next, refused)
	if err != nil {
		return err
	}
	return html(c, console.Page{}.Policy(), body)
}

// login is POST /login: token, next and request_token, as a form. A good token begins a session under a new name.
// Without a request token, which the login page draws, the session opens pages and nothing else.
func (s *Server) login(c *fiber.Ctx) error {
	if from := askedBy(c); (from.Site != "" || from.Origin != "") && !from.SameOrigin() {
		return foreign()
	}
	if !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEApplicationForm) {
		return &problem{status: 415, detail: "send the login as a form (application/x-www-form-urlencoded) with the field token"}
	}
	form, err := url.ParseQuery(string(c.Body()))
	if err != nil {
		return bad("", "the form does not parse")
	}
	next, token := console.Next(form.Get("next")), strings.TrimSpace(form.Get("token"))
	if s.deps.Auth.Open() {
		return c.Redirect(next, fiber.StatusSeeOther)
	}
	second := form.Get("request_token")
	if second != "" && !console.ValidRequestToken(second) {
		return bad("request_token", "must be 43 to 128 letters, digits, - and _, drawn at random by the login page")
	}
	who, err := s.recognise(c, "Bearer "+token, "")
	if refusal := (*authn.Refusal)(nil); errors.As(err, &refusal) {
		reason := refusal.Reason
		if token == "" {
			reason = "a token or the API key is required"
		}
		c.Status(fiber.StatusUnauthorized)
		return s.askToLogIn(c, next, strings.ToUpper(reason[:1])+reason[1:]+".")
	}
	if err != nil {
		return err
	}
	s.web.sessions.End(sessionOf(c)) // a login never goes on with an old session
	name, err := s.web.sessions.Begin(visitorOf(who), token, second)
	if err != nil {
		return err
	}
	s.setCookie(c, name, s.deps.Now().Add(console.SessionLifetime))
	return c.Redirect(next, fiber.StatusSeeOther)
}

// visitorOf is an identity as pages show it.
func visitorOf(id authn.Identity) console.Visitor {
	return console.Visitor{Subject: id.Subject, Tenant: id.Tenant, Scopes: id.Scopes}
}

// logout is POST /logout. It ends every session of the one who logs out, also those on other machines.
func (s *Server) logout(c *fiber.Ctx) error {
	if !askedBy(c).SameOrigin() {
		return foreign()
	}
	s.web.sessions.EndAll(sessionOf(c))
	s.setCookie(c, "", time.Unix(1, 0))
	return c.Redirect("/login", fiber.StatusSeeOther)
}

// setCookie keeps the session from scripts, from other sites and, where the page came by https, from plain
// connections. The page's own origin tells that behind a proxy too. The path is /, as the prefix __Host- demands
// and because pages and API have no path in common that leaves /hooks out: the entrance drops cookies there, and a
// cookie alone may do nothing.
func (s *Server) setCookie(c *fiber.Ctx, value string, ends time.Time) {
	secure := c.Protocol() == "https" || strings.HasPrefix(c.Get(fiber.HeaderOrigin), "https://")
	name := plainCookie
	if secure {
		name = secureCookie
	}
	c.Cookie(&fiber.Cookie{Name: name, Value: value, Path: "/", Expires: ends, Secure: secure, HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode})
}

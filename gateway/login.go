package gateway

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/console"
)

// The cookie's name where the page came by https, and elsewhere. Browsers take the first from this very host alone.
const (
	secureCookie = "__Host-airlock"
	plainCookie  = "airlock"
)

// sessionKey is where a request that a session made has its name.
type sessionKey struct{}

// session takes the cookie of somebody who logged in for the credential it stands for; what follows sees no difference.
// It counts for requests of our own pages alone, and where no credential is sent otherwise.
func (s *Server) session(c *fiber.Ctx) error {
	h := &c.Request().Header
	name := sessionOf(c)
	if name == "" || s.deps.Auth.Open() || len(h.Peek(fiber.HeaderAuthorization)) > 0 || len(h.Peek("X-Api-Key")) > 0 {
		return c.Next()
	}
	credential, ok := s.web.sessions.Credential(name)
	if !ok {
		return c.Next()
	}
	if !askedBy(c).SameOrigin() {
		return foreign()
	}
	h.Set(fiber.HeaderAuthorization, "Bearer "+credential)
	c.Locals(sessionKey{}, name)
	return c.Next()
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

// visitor recognises who opens a page; a browser that shows no credential is sent to the login.
func (s *Server) visitor(c *fiber.Ctx) error {
	if h := &c.Request().Header; !s.deps.Auth.Open() && len(h.Peek(fiber.HeaderAuthorization)) == 0 && len(h.Peek("X-Api-Key")) == 0 && wantsPage(c) {
		return toLogin(c)
	}
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

// login is POST /login: token and next, as a form. A good token begins a session; whoever holds the session holds what
// the token may do, on our own pages.
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
	_, err = s.recognise(c, "Bearer "+token, "")
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
	s.web.sessions.End(sessionOf(c))
	s.setCookie(c, s.web.sessions.Begin(token), s.deps.Now().Add(console.SessionLifetime))
	return c.Redirect(next, fiber.StatusSeeOther)
}

// logout is POST /logout.
func (s *Server) logout(c *fiber.Ctx) error {
	if !askedBy(c).SameOrigin() {
		return foreign()
	}
	s.web.sessions.End(sessionOf(c))
	s.setCookie(c, "", time.Unix(1, 0))
	return c.Redirect("/login", fiber.StatusSeeOther)
}

// setCookie keeps the session from scripts, from other sites and, where the page came by https, from plain connections.
// The page's own origin tells that behind a proxy too.
func (s *Server) setCookie(c *fiber.Ctx, value string, ends time.Time) {
	secure := c.Protocol() == "https" || strings.HasPrefix(c.Get(fiber.HeaderOrigin), "https://")
	name := plainCookie
	if secure {
		name = secureCookie
	}
	c.Cookie(&fiber.Cookie{Name: name, Value: value, Path: "/", Expires: ends, Secure: secure, HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode})
}

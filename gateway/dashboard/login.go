package dashboard

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/valyala/fasthttp"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/console"
	"github.com/airlock-run/airlock/gateway/ratelimit"
)

// The names of the cookie: for pages over https, and for others. Browsers accept the prefix __Host- only from the host
// itself.
const (
	secureCookie = "__Host-airlock"
	plainCookie  = "airlock"
)

// requestToken is the header in which scripts of our pages send the second secret of their session. Pages of other
// origins cannot set it, because CORS does not allow it.
const requestToken = "X-Airlock-Request-Token"

// sessionKey is the local with the session of a request.
type sessionKey struct{}

// heldSession is the two secrets of a session.
type heldSession struct{ name, requestToken string }

// Session replaces the two secrets of a session by the credential that its owner logged in with, so that later
// handlers see no difference. It is middleware. The cookie alone is not a credential. A session counts only for
// requests of our own pages that send no other credential. It ends when its credential is refused.
func (h *Handlers) Session(c *fiber.Ctx) error {
	header := &c.Request().Header
	held := heldSession{sessionOf(c), utils.CopyString(c.Get(requestToken))}
	if held.name == "" || h.cfg.Access.Open() || hasCredential(header) {
		return c.Next()
	}
	attempt := sessionAttempt(c, held.name)
	if err := h.cfg.Access.Admit(c, attempt); err != nil {
		return err
	}
	if _, ok := h.sessions.Visitor(held.name); !ok {
		return c.Next()
	}
	h.cfg.Access.Succeeded(attempt)
	if !originOf(c).SameOrigin() {
		return api.ForeignOrigin()
	}
	credential, ok := h.sessions.Credential(held.name, held.requestToken)
	if !ok {
		return c.Next()
	}
	header.Set(fiber.HeaderAuthorization, "Bearer "+credential)
	c.Locals(sessionKey{}, held)
	err := c.Next()
	if rejected(err) {
		h.sessions.End(held.name)
	}
	return err
}

// rejected reports whether err says that a credential is not accepted, and not only that it cannot be checked now.
func rejected(err error) bool {
	refusal := (*authn.Refusal)(nil)
	return errors.As(err, &refusal) && !refusal.Unavailable
}

// sessionAttempt returns the attempt to use the name of a session.
func sessionAttempt(c *fiber.Ctx, name string) ratelimit.Attempt {
	return ratelimit.Attempt{
		Address: utils.CopyString(c.IP()), Credential: name, Name: func() string { return "session" },
	}
}

func hasCredential(h *fasthttp.RequestHeader) bool {
	return len(h.Peek(fiber.HeaderAuthorization)) > 0 || len(h.Peek("X-Api-Key")) > 0
}

func sessionOf(c *fiber.Ctx) string {
	if name := c.Cookies(secureCookie); name != "" {
		return utils.CopyString(name)
	}
	return utils.CopyString(c.Cookies(plainCookie))
}

func originOf(c *fiber.Ctx) console.Asked {
	return console.Asked{
		Method: c.Method(), Host: string(c.Request().Host()), Origin: c.Get(fiber.HeaderOrigin),
		Site: c.Get("Sec-Fetch-Site"),
	}
}

// visitorKey is the key under which a request holds the identity for whom a page is rendered.
type visitorKey struct{}

// visitor recognizes who opens a page, by a credential or by the cookie of a session. A page says who is logged in and
// holds no data: its scripts ask the API for that, with the second secret of the session. A browser without a session
// is sent to the login.
func (h *Handlers) visitor(c *fiber.Ctx) error {
	if h.cfg.Access.Open() || hasCredential(&c.Request().Header) {
		return h.authenticatedVisitor(c)
	}
	who, ok, err := h.sessionVisitor(c)
	switch {
	case err != nil:
		return err
	case ok && !originOf(c).SameOrigin():
		return api.ForeignOrigin()
	case ok:
		c.Locals(visitorKey{}, who)
		return c.Next()
	case wantsPage(c):
		return redirectToLogin(c)
	}
	return h.cfg.Access.Authenticate(c)
}

// anyVisitor recognizes who opens a page that everybody may read.
func (h *Handlers) anyVisitor(c *fiber.Ctx) error {
	if h.cfg.Access.Open() {
		return h.authenticatedVisitor(c)
	}
	who, ok, err := h.sessionVisitor(c)
	if err != nil {
		return err
	}
	if !ok || !originOf(c).SameOrigin() {
		who = console.Visitor{}
	}
	c.Locals(visitorKey{}, who)
	return c.Next()
}

// sessionVisitor returns the owner of the session that the cookie names.
func (h *Handlers) sessionVisitor(c *fiber.Ctx) (who console.Visitor, ok bool, err error) {
	name := sessionOf(c)
	if name == "" {
		return who, false, nil
	}
	if err := h.cfg.Access.Admit(c, sessionAttempt(c, name)); err != nil {
		return who, false, err
	}
	who, ok = h.sessions.Visitor(name)
	return who, ok, nil
}

func (h *Handlers) authenticatedVisitor(c *fiber.Ctx) error {
	err := h.cfg.Access.Authenticate(c)
	refusal := (*authn.Refusal)(nil)
	if errors.As(err, &refusal) && wantsPage(c) {
		return redirectToLogin(c)
	}
	return err
}

func wantsPage(c *fiber.Ctx) bool {
	return strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
}

func redirectToLogin(c *fiber.Ctx) error {
	return c.Redirect("/login?next="+url.QueryEscape(c.OriginalURL()), fiber.StatusSeeOther)
}

// loginPage serves GET /login.
func (h *Handlers) loginPage(c *fiber.Ctx) error {
	next := console.Next(c.Query("next"))
	if h.cfg.Access.Open() {
		return c.Redirect(next, fiber.StatusSeeOther)
	}
	return h.sendLogin(c, next, "")
}

func (h *Handlers) sendLogin(c *fiber.Ctx, next, refused string) error {
	body, err := h.console.Login(next, refused)
	if err != nil {
		return err
	}
	return sendHTML(c, console.Page{}.Policy(), body)
}

// login serves POST /login with the form fields token, next and request_token. A valid token begins a session under a
// new name. Without a request token, which the login page generates, the session opens pages and does nothing else.
func (h *Handlers) login(c *fiber.Ctx) error {
	if from := originOf(c); (from.Site != "" || from.Origin != "") && !from.SameOrigin() {
		return api.ForeignOrigin()
	}
	if !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEApplicationForm) {
		return &api.Problem{
			Status: 415, Detail: "send the login as a form (application/x-www-form-urlencoded) with the field token",
		}
	}
	form, err := url.ParseQuery(string(c.Body()))
	if err != nil {
		return api.Invalid("", "the form does not parse")
	}
	next, token := console.Next(form.Get("next")), strings.TrimSpace(form.Get("token"))
	if h.cfg.Access.Open() {
		return c.Redirect(next, fiber.StatusSeeOther)
	}
	second := form.Get("request_token")
	if second != "" && !console.ValidRequestToken(second) {
		return api.Invalid("request_token",
			"must be 43 to 128 letters, digits, - and _, which the login page generates at random")
	}
	who, err := h.cfg.Access.Recognize(c, "Bearer "+token, "")
	if refusal := (*authn.Refusal)(nil); errors.As(err, &refusal) {
		reason := refusal.Reason
		if token == "" {
			reason = "a token or the API key is required"
		}
		c.Status(fiber.StatusUnauthorized)
		return h.sendLogin(c, next, strings.ToUpper(reason[:1])+reason[1:]+".")
	}
	if err != nil {
		return err
	}
	h.sessions.End(sessionOf(c)) // a login never continues an old session
	name, err := h.sessions.Begin(visitorOf(who), token, second)
	if err != nil {
		return err
	}
	setCookie(c, name, h.cfg.Now().Add(console.SessionLifetime))
	return c.Redirect(next, fiber.StatusSeeOther)
}

// visitorOf returns an identity as pages show it.
func visitorOf(id authn.Identity) console.Visitor {
	return console.Visitor{Subject: id.Subject, Tenant: id.Tenant, Scopes: id.Scopes}
}

// logout serves POST /logout. It ends all sessions of the visitor, also those on other machines.
func (h *Handlers) logout(c *fiber.Ctx) error {
	if !originOf(c).SameOrigin() {
		return api.ForeignOrigin()
	}
	h.sessions.EndAll(sessionOf(c))
	setCookie(c, "", time.Unix(1, 0))
	return c.Redirect("/login", fiber.StatusSeeOther)
}

// setCookie hides the session from scripts, from other sites and, if the page came by https, from plain connections.
// Behind a proxy, the Origin header says how the page came. The path is / because the prefix __Host- requires it, and
// because no other path covers both pages and API. The gateway drops the cookies of requests to /hooks, and a cookie
// alone grants nothing.
func setCookie(c *fiber.Ctx, value string, ends time.Time) {
	secure := c.Protocol() == "https" || strings.HasPrefix(c.Get(fiber.HeaderOrigin), "https://")
	name := plainCookie
	if secure {
		name = secureCookie
	}
	c.Cookie(&fiber.Cookie{
		Name: name, Value: value, Path: "/", Expires: ends, Secure: secure, HTTPOnly: true,
		SameSite: fiber.CookieSameSiteStrictMode,
	})
}

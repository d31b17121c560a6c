package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/openapi"
)

// describe makes what tells people and agents how to use this server.
func (s *Server) describe() error {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	var err error
	if s.api, err = openapi.New(version); err != nil {
		return err
	}
	s.tags.api, s.tags.docs = tagOf(s.api.JSON()), tagOf(s.api.Page())
	var saved mcp.Functions
	if s.deps.State != nil {
		saved = agents{s}
	}
	var attached mcp.Tools
	if s.deps.Attached != nil {
		attached = agents{s}
	}
	s.mcp, err = mcp.New(mcp.Config{
		Executor: agents{s}, Functions: saved, Tools: attached, Explain: s.explain, Schemas: s.api, Version: version, MaxBodyBytes: s.cfg.MaxBodyBytes, Logger: s.deps.Logger,
	})
	return err
}

// openAPI is GET /openapi.json.
func (s *Server) openAPI(c *fiber.Ctx) error {
	if held(c, s.tags.api) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(s.api.JSON())
}

// held tells the caller the tag of what it asked for, and reports whether it has that already.
func held(c *fiber.Ctx, tag string) bool {
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set(fiber.HeaderETag, tag)
	return strings.Contains(c.Get(fiber.HeaderIfNoneMatch), tag)
}

func tagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// docs is GET /docs: the same for people, in one page that loads nothing and runs nothing.
func (s *Server) docs(c *fiber.Ctx) error {
	if held(c, s.tags.docs) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, s.api.PagePolicy())
	return c.Send(s.api.Page())
}

var parameter = regexp.MustCompile(`:(\w+)`)

// Routes lists the API that is served, as "GET /api/result/{id}", in order. HEAD goes with every GET, and is not listed;
// neither is what serves the web pages to browsers (pages.go).
func (s *Server) Routes() []string {
	var routes []string
	for _, r := range s.app.GetRoutes(true) {
		if r.Method != fiber.MethodHead && r.Name != ofPages {
			routes = append(routes, r.Method+" "+parameter.ReplaceAllString(r.Path, "{$1}"))
		}
	}
	slices.Sort(routes)
	return slices.Compact(routes)
}

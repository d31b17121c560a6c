package gateway

import (
	"errors"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/gofiber/fiber/v2"
)

// longestAstray bounds the paths for which something near is looked for.
const longestAstray = 48

// astray words the errors of requests that no route takes: where the documentation is, which methods there are, and which
// path was probably meant. Any other error is left as it is.
func (s *Server) astray(c *fiber.Ctx, err error) error {
	var framed *fiber.Error
	if !errors.As(err, &framed) {
		return err
	}
	switch framed.Code {
	case fiber.StatusNotFound:
		detail := "there is nothing at this path; GET /docs lists what there is"
		if meant := s.nearest(c.Path()); meant != "" {
			detail = "there is nothing at this path; did you mean " + meant + "? GET /docs lists what there is"
		}
		return &problem{status: framed.Code, detail: detail}
	case fiber.StatusMethodNotAllowed:
		if allowed := c.GetRespHeader(fiber.HeaderAllow); allowed != "" {
			return &problem{status: framed.Code, detail: "the method " + word(c.Method()) + " is not supported at this path; it takes " + allowed}
		}
	}
	return err
}

// options answers OPTIONS where no other origin is meant: with the methods there are (RFC 9110 §9.3.7).
func options(c *fiber.Ctx, err error) bool {
	framed, allowed := (*fiber.Error)(nil), c.GetRespHeader(fiber.HeaderAllow)
	if c.Method() != fiber.MethodOptions || !errors.As(err, &framed) || framed.Code != fiber.StatusMethodNotAllowed || allowed == "" {
		return false
	}
	c.Set(fiber.HeaderAllow, allowed+", "+fiber.MethodOptions)
	c.Status(fiber.StatusNoContent)
	return true
}

// word keeps what a caller made up as a method from being repeated.
func word(method string) string {
	if len(method) > 16 || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "of this request"
	}
	return method
}

// nearest gives the route that differs from a path by a slip or by its first folder, "" when there is none.
func (s *Server) nearest(path string) string {
	if len(path) > longestAstray {
		return ""
	}
	path = strings.ToLower(strings.TrimSuffix(path, "/"))
	best, closest := "", 3
	for _, route := range s.Routes() {
		_, route, _ = strings.Cut(route, " ")
		if strings.Contains(route, "{") {
			continue
		}
		switch d := levenshtein.ComputeDistance(path, route); {
		case d > 0 && "/api"+path == route:
			return route
		case d < closest:
			best, closest = route, d
		}
	}
	return best
}

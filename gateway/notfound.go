package gateway

import (
	"errors"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
)

// longestMiss bounds the paths for which a similar route is searched.
const longestMiss = 48

// explainMiss words the error of a request that no route matches: where the documentation is, which methods the path
// has, and which path was probably meant. It returns any other error as it is.
func (p *problems) explainMiss(c *fiber.Ctx, err error) error {
	var missed *fiber.Error
	if !errors.As(err, &missed) {
		return err
	}
	switch missed.Code {
	case fiber.StatusNotFound:
		detail := "there is nothing at this path; GET /docs lists the routes"
		if meant := p.nearest(c.Path()); meant != "" {
			detail = "there is nothing at this path; did you mean " + meant + "? GET /docs lists the routes"
		}
		return &api.Problem{Status: missed.Code, Detail: detail}
	case fiber.StatusMethodNotAllowed:
		if allowed := c.GetRespHeader(fiber.HeaderAllow); allowed != "" {
			return &api.Problem{
				Status: missed.Code,
				Detail: "the method " + safeMethod(c.Method()) + " is not supported at this path, which accepts " + allowed,
			}
		}
	}
	return err
}

// answeredOptions responds to an OPTIONS request that is not a CORS preflight with the methods of its path (RFC 9110
// §9.3.7). It reports whether the request was one.
func answeredOptions(c *fiber.Ctx, err error) bool {
	missed, allowed := (*fiber.Error)(nil), c.GetRespHeader(fiber.HeaderAllow)
	if c.Method() != fiber.MethodOptions || allowed == "" {
		return false
	}
	if !errors.As(err, &missed) || missed.Code != fiber.StatusMethodNotAllowed {
		return false
	}
	c.Set(fiber.HeaderAllow, allowed+", "+fiber.MethodOptions)
	c.Status(fiber.StatusNoContent)
	return true
}

// safeMethod returns a method for an error message. It does not repeat what a caller made up.
func safeMethod(method string) string {
	if len(method) > 16 || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "of this request"
	}
	return method
}

// nearest returns the route that differs from a path by a typo or by the prefix /api, or "".
func (p *problems) nearest(path string) string {
	if len(path) > longestMiss {
		return ""
	}
	path = strings.ToLower(strings.TrimSuffix(path, "/"))
	best, closest := "", 3
	for _, route := range p.routes() {
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

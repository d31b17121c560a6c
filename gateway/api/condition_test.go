package api

import (
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// If-None-Match is a list of entity tags, not a text to search: a tag inside another, or none, matches nothing.
func TestNotModified(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	const tag = `"abc"`
	for name, c := range map[string]struct {
		tag   string
		lines []string
		want  bool
	}{
		"the tag":               {tag, []string{tag}, true},
		"weak":                  {tag, []string{"W/" + tag}, true},
		"one of a list":         {tag, []string{`"x", W/"y" ,` + tag}, true},
		"in the second line":    {tag, []string{`"x"`, tag}, true},
		"any":                   {tag, []string{"*"}, true},
		"another":               {tag, []string{`"abcd"`}, false},
		"inside another":        {tag, []string{`"x"abc"y"`}, false},
		"no quotation marks":    {tag, []string{"abc"}, false},
		"no field":              {tag, nil, false},
		"an empty field":        {tag, []string{""}, false},
		"no tag and no field":   {"", nil, false},
		"no tag, an empty list": {"", []string{", ,"}, false},
	} {
		ctx := app.AcquireCtx(&fasthttp.RequestCtx{})
		for _, line := range c.lines {
			ctx.Request().Header.Add(fiber.HeaderIfNoneMatch, line)
		}
		if got := NotModified(ctx, c.tag); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		app.ReleaseCtx(ctx)
	}
}

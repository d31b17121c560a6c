package piston

import (
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
)

// A runtime is an entry of GET /api/v2/runtimes.
type runtime struct {
	Language string   `json:"language"`
	Version  string   `json:"version"`
	Aliases  []string `json:"aliases"`
	Runtime  string   `json:"runtime"`
}

// runtimes have the version of Node.js that process.version names, and that of TypeScript whose syntax is accepted.
var runtimes = []runtime{
	{"javascript", "22.0.0", []string{"node-javascript", "node-js", "js"}, "airlock"},
	{"typescript", "5.9.0", []string{"node-ts", "ts", "typescript5", "ts5"}, "airlock"},
}

// Runtimes serves GET /api/v2/runtimes.
func (h *Handlers) Runtimes(c *fiber.Ctx) error { return api.Send(c, runtimes) }

// maxSelector bounds a version selector, in bytes.
const maxSelector = 100

// find returns the runtime of a language, or of an alias, whose version satisfies a selector.
func find(language, version string) (runtime, bool) {
	if len(version) > maxSelector {
		return runtime{}, false
	}
	selector, err := semver.NewConstraint(version)
	if err != nil {
		return runtime{}, false
	}
	for _, r := range runtimes {
		if r.Language == language || slices.Contains(r.Aliases, language) {
			return r, selector.Check(semver.MustParse(r.Version))
		}
	}
	return runtime{}, false
}

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
	// earlier are the versions that the public instance of Piston had. Programs name them, and run here as well.
	earlier []string
}

// runtimes have the version of Node.js that process.version names, and that of TypeScript whose syntax is accepted.
var runtimes = []runtime{
	{"javascript", "22.0.0", []string{"node-javascript", "node-js", "js"}, "airlock",
		[]string{"15.10.0", "16.3.0", "18.15.0", "20.11.1"}},
	{"typescript", "5.9.0", []string{"node-ts", "ts", "typescript5", "ts5"}, "airlock",
		[]string{"4.2.3", "5.0.3"}},
}

// Runtimes serves GET /api/v2/runtimes.
func (h *Handlers) Runtimes(c *fiber.Ctx) error { return api.Send(c, runtimes) }

// maxSelector bounds a version selector, in bytes.
const maxSelector = 100

// find returns the runtime of a language, or of an alias, if its version or an earlier one satisfies a selector.
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
			return r, slices.ContainsFunc(append(r.earlier, r.Version), func(version string) bool {
				return selector.Check(semver.MustParse(version))
			})
		}
	}
	return runtime{}, false
}

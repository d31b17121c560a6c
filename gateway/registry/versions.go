package gateway

import (
	"maps"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/functions"
)

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

type versionView struct {
	Version    int      `json:"version"`
	CodeSHA256 string   `json:"codeSha256"`
	CodeBytes  int      `json:"codeBytes"`
	CreatedAt  string   `json:"createdAt"`
	CreatedBy  string   `json:"createdBy"`
	Aliases    []string `json:"aliases"`
	Warm       *bool    `json:"warm"`
	ColdReason string   `json:"coldReason,omitempty"`
}

// listVersions is GET /api/functions/{name}/versions, newest first. There are never more than a thousand.
func (s *Server) listVersions(c *fiber.Ctx) error {
	f, err := s.found(c)
	if err != nil {
		return err
	}
	answer := list[versionView]{Items: []versionView{}}
	for _, v := range slices.Backward(f.Versions) {
		view := versionView{v.Version, v.CodeSHA256, v.CodeBytes, stamp(v.CreatedAt), v.CreatedBy, []string{}, v.Warm, v.ColdReason}
		for _, name := range slices.Sorted(maps.Keys(f.Aliases)) {
			if f.Aliases[name].Version == v.Version {
				view.Aliases = append(view.Aliases, name)
			}
		}
		answer.Items = append(answer.Items, view)
	}
	return s.send(c, answer)
}

// getVersion is GET /api/functions/{name}/versions/{version}.
func (s *Server) getVersion(c *fiber.Ctx) error {
	f, err := s.found(c)
	if err != nil {
		return err
	}
	n, err := versionNumber(param(c, "version"))
	if err != nil {
		return err
	}
	if n, err = functions.Resolve(f, n, ""); err != nil {
		return err
	}
	return s.sendVersion(c, f, n)
}

type aliasView struct {
	Alias    string `json:"alias"`
	Version  int    `json:"version"`
	Previous *int   `json:"previous"`
	MovedAt  string `json:"movedAt"`
}

func aliasOf(name string, a execution.FunctionAlias) aliasView {
	v := aliasView{Alias: name, Version: a.Version, MovedAt: stamp(a.MovedAt)}
	if a.Previous > 0 {
		v.Previous = &a.Previous
	}
	return v
}

// listAliases is GET /api/functions/{name}/aliases.
func (s *Server) listAliases(c *fiber.Ctx) error {
	f, err := s.found(c)
	if err != nil {
		return err
	}
	answer := list[aliasView]{Items: []aliasView{}}
	for _, name := range slices.Sorted(maps.Keys(f.Aliases)) {
		answer.Items = append(answer.Items, aliasOf(name, f.Aliases[name]))
	}
	return s.send(c, answer)
}

// getAlias is GET /api/functions/{name}/aliases/{alias}.
func (s *Server) getAlias(c *fiber.Ctx) error {
	f, err := s.found(c)
	if err != nil {
		return err
	}
	alias := param(c, "alias")
	if _, err := functions.Resolve(f, 0, alias); err != nil {
		return err
	}
	return s.send(c, aliasOf(alias, f.Aliases[alias]))
}

// putAlias is PUT /api/functions/{name}/aliases/{alias} with {version}.
func (s *Server) putAlias(c *fiber.Ctx) error {
	var body struct {
		Version int `json:"version"`
	}
	if err := s.small(c, &body, "an object with the field version, a whole number"); err != nil {
		return err
	}
	if body.Version < 1 {
		return bad("version", "is required: the number of the version that the alias is to point at")
	}
	alias := param(c, "alias")
	a, err := s.state.book.Move(s.base, callerOf(c).Tenant, param(c, "name"), alias, body.Version)
	if err != nil {
		return err
	}
	return s.send(c, aliasOf(alias, a))
}

// rollbackFunction is POST /api/functions/{name}/rollback with {alias}, latest unless another is named: the alias points
// where it pointed before.
func (s *Server) rollbackFunction(c *fiber.Ctx) error {
	body := struct {
		Alias string `json:"alias"`
	}{}
	if len(c.Request().Body()) > 0 {
		if err := s.small(c, &body, "an object with the field alias, a string"); err != nil {
			return err
		}
	}
	if body.Alias == "" {
		body.Alias = functions.Latest
	}
	a, err := s.state.book.Rollback(s.base, callerOf(c).Tenant, param(c, "name"), body.Alias)
	if err != nil {
		return err
	}
	return s.send(c, aliasOf(body.Alias, a))
}

// deleteAlias is DELETE /api/functions/{name}/aliases/{alias}.
func (s *Server) deleteAlias(c *fiber.Ctx) error {
	if err := s.state.book.Drop(s.base, callerOf(c).Tenant, param(c, "name"), param(c, "alias")); err != nil {
		return err
	}
	return c.SendStatus(204)
}

// diffFunction is GET /api/functions/{name}/diff?from&to: to is the latest unless another is named, from the one before.
func (s *Server) diffFunction(c *fiber.Ctx) error {
	f, err := s.found(c)
	if err != nil {
		return err
	}
	given, err := query(c, "from", "to")
	if err != nil {
		return err
	}
	var ends [2]int
	for i, name := range []string{"to", "from"} {
		if ends[i], err = versionNumber(given[name]); err != nil {
			return bad(name, "must be the number of a version")
		}
		if ends[i] == 0 {
			ends[i] = f.Aliases[functions.Latest].Version
			if i == 1 {
				ends[i] = max(ends[0]-1, 1)
			}
		}
	}
	to, from := ends[0], ends[1]
	after, err := s.state.book.Content(s.base, f, to)
	if err != nil {
		return err
	}
	before, err := s.state.book.Content(s.base, f, from)
	if err != nil {
		return err
	}
	d, err := functions.Diff(from, to, before, after)
	if err != nil {
		return err
	}
	return s.send(c, d)
}

// small reads a body of a few fields.
func (s *Server) small(c *fiber.Ctx, into any, what string) error {
	if err := plainJSON(c); err != nil {
		return err
	}
	body := c.Request().Body()
	if _, _, err := execution.TakeMembers(body); err != nil {
		return err
	}
	return execution.DecodeMember("", body, into, what)
}

package registry

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// ListVersions serves GET /api/functions/{name}/versions, newest first. A function has at most MaxVersions.
func (h *Handlers) ListVersions(c *fiber.Ctx) error {
	f, err := h.function(c)
	if err != nil {
		return err
	}
	list := api.List[versionView]{Items: []versionView{}}
	for _, v := range slices.Backward(f.Versions) {
		view := versionView{
			v.Version, v.CodeSHA256, v.CodeBytes, api.Stamp(v.CreatedAt), v.CreatedBy, []string{}, v.Warm, v.ColdReason,
		}
		for _, name := range slices.Sorted(maps.Keys(f.Aliases)) {
			if f.Aliases[name].Version == v.Version {
				view.Aliases = append(view.Aliases, name)
			}
		}
		list.Items = append(list.Items, view)
	}
	return api.Send(c, list)
}

// GetVersion serves GET /api/functions/{name}/versions/{version}.
func (h *Handlers) GetVersion(c *fiber.Ctx) error {
	f, err := h.function(c)
	if err != nil {
		return err
	}
	n, err := versionNumber(api.Param(c, "version"))
	if err != nil {
		return err
	}
	if n, err = Resolve(f, n, ""); err != nil {
		return err
	}
	return h.sendVersion(c, f, n)
}

// versionNumber reads the number of a version; "" is 0.
func versionNumber(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxVersions {
		return 0, api.Invalid("version", "must be a whole number from 1")
	}
	return n, nil
}

func (h *Handlers) sendVersion(c *fiber.Ctx, f execution.SavedFunction, n int) error {
	content, err := h.Registry.Content(c.UserContext(), f, n)
	if err != nil {
		return err
	}
	body, err := execution.EncodeAround(content.Request, func(r execution.Request) any {
		return struct {
			functionView
			execution.Request
			Env map[string]string `json:"env,omitempty"`
		}{viewOf(f, f.Versions[n-1]), r, content.Env}
	})
	if err != nil {
		return fmt.Errorf("encode a version: %w", err)
	}
	return api.SendJSON(c, append(body, '\n'))
}

// ListAliases serves GET /api/functions/{name}/aliases.
func (h *Handlers) ListAliases(c *fiber.Ctx) error {
	f, err := h.function(c)
	if err != nil {
		return err
	}
	list := api.List[aliasView]{Items: []aliasView{}}
	for _, name := range slices.Sorted(maps.Keys(f.Aliases)) {
		list.Items = append(list.Items, aliasViewOf(name, f.Aliases[name]))
	}
	return api.Send(c, list)
}

// GetAlias serves GET /api/functions/{name}/aliases/{alias}.
func (h *Handlers) GetAlias(c *fiber.Ctx) error {
	f, err := h.function(c)
	if err != nil {
		return err
	}
	alias := api.Param(c, "alias")
	if _, err := Resolve(f, 0, alias); err != nil {
		return err
	}
	return api.Send(c, aliasViewOf(alias, f.Aliases[alias]))
}

// PutAlias serves PUT /api/functions/{name}/aliases/{alias} with {version}.
func (h *Handlers) PutAlias(c *fiber.Ctx) error {
	var body struct {
		Version int `json:"version"`
	}
	if err := api.DecodeSmall(c, &body, "an object with the field version, a whole number"); err != nil {
		return err
	}
	if body.Version < 1 {
		return api.Invalid("version", "is required: the number of the version for the alias")
	}
	alias := api.Param(c, "alias")
	a, err := h.Registry.Move(c.UserContext(), api.CallerOf(c).Tenant, api.Param(c, "name"), alias, body.Version)
	if err != nil {
		return err
	}
	return api.Send(c, aliasViewOf(alias, a))
}

// Rollback serves POST /api/functions/{name}/rollback with {alias}, by default latest: the alias points again at the
// version that it pointed at before.
func (h *Handlers) Rollback(c *fiber.Ctx) error {
	body := struct {
		Alias string `json:"alias"`
	}{}
	if len(c.Request().Body()) > 0 {
		if err := api.DecodeSmall(c, &body, "an object with the field alias, a string"); err != nil {
			return err
		}
	}
	if body.Alias == "" {
		body.Alias = Latest
	}
	a, err := h.Registry.Rollback(c.UserContext(), api.CallerOf(c).Tenant, api.Param(c, "name"), body.Alias)
	if err != nil {
		return err
	}
	return api.Send(c, aliasViewOf(body.Alias, a))
}

// DeleteAlias serves DELETE /api/functions/{name}/aliases/{alias}.
func (h *Handlers) DeleteAlias(c *fiber.Ctx) error {
	err := h.Registry.Drop(c.UserContext(), api.CallerOf(c).Tenant, api.Param(c, "name"), api.Param(c, "alias"))
	if err != nil {
		return err
	}
	return c.SendStatus(204)
}

// Diff serves GET /api/functions/{name}/diff?from&to. By default to is the latest version, and from the one before it.
func (h *Handlers) Diff(c *fiber.Ctx) error {
	f, err := h.function(c)
	if err != nil {
		return err
	}
	given, err := api.Query(c, "from", "to")
	if err != nil {
		return err
	}
	var ends [2]int
	for i, name := range []string{"to", "from"} {
		if ends[i], err = versionNumber(given[name]); err != nil {
			return api.Invalid(name, "must be the number of a version")
		}
		if ends[i] == 0 {
			ends[i] = f.Aliases[Latest].Version
			if i == 1 {
				ends[i] = max(ends[0]-1, 1)
			}
		}
	}
	to, from := ends[0], ends[1]
	after, err := h.Registry.Content(c.UserContext(), f, to)
	if err != nil {
		return err
	}
	before, err := h.Registry.Content(c.UserContext(), f, from)
	if err != nil {
		return err
	}
	d, err := Diff(from, to, before, after)
	if err != nil {
		return err
	}
	return api.Send(c, d)
}

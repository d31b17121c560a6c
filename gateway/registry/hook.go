package registry

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/hooks"
)

// hookSettings are the settings of a webhook as they are given, but for the secret.
type hookSettings struct {
	Scheme           string   `json:"scheme"`
	Header           string   `json:"header,omitempty"`
	Headers          []string `json:"headers,omitempty"`
	ToleranceSeconds int      `json:"toleranceSeconds,omitempty"`
	Async            bool     `json:"async"`
	Alias            string   `json:"alias,omitempty"`
	Path             string   `json:"path"`
	SecretSet        bool     `json:"secretSet"`
}

// GetHook serves GET /api/functions/{name}/hook: the settings of the webhook.
func (h *Handlers) GetHook(c *fiber.Ctx) error {
	f, err := h.function(c)
	if err != nil {
		return err
	}
	if f.Hook == nil {
		return noHook(f.Name)
	}
	if api.NotModified(c, tagOf(f)) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	return sendHook(c, f)
}

// PutHook serves PUT /api/functions/{name}/hook: it sets the webhook and makes no version. A hook without a secret
// keeps the one that it has, if its scheme stays the same.
func (h *Handlers) PutHook(c *fiber.Ctx) error {
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	condition, err := conditionOf(c)
	if err != nil {
		return err
	}
	if _, err := execution.Members(c.Request().Body()); err != nil {
		return err
	}
	hook, err := decodeHook(append([]byte(nil), c.Request().Body()...))
	if err != nil {
		return err
	}
	needed, err := h.checkHook(c, *hook)
	if err != nil {
		return err
	}
	f, err := h.Registry.SetHook(c.UserContext(), api.CallerOf(c).Tenant, api.Param(c, "name"), hook, needed, condition)
	if err != nil {
		return err
	}
	return sendHook(c, f)
}

// DeleteHook serves DELETE /api/functions/{name}/hook.
func (h *Handlers) DeleteHook(c *fiber.Ctx) error {
	condition, err := conditionOf(c)
	if err != nil {
		return err
	}
	f, err := h.Registry.SetHook(
		c.UserContext(), api.CallerOf(c).Tenant, api.Param(c, "name"), nil, false, condition)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderETag, tagOf(f))
	return c.SendStatus(fiber.StatusNoContent)
}

// checkHook refuses a hook that could not verify anything. needed reports whether it needs a secret.
func (h *Handlers) checkHook(c *fiber.Ctx, hook execution.FunctionHook) (needed bool, err error) {
	if err := hooks.Check(hook); err != nil {
		return false, err
	}
	needed = hooks.NeedsSecret(hook.Scheme)
	if needed && hook.Secret == "" {
		err = h.checkStoredSecret(c, hook)
	}
	return needed, err
}

// SetHook sets the webhook of a function, or removes it if hook is nil. A hook that needs a secret and has none keeps
// the secret that is stored.
func (r *Registry) SetHook(
	ctx context.Context, tenant, name string, hook *execution.FunctionHook, needsSecret bool, condition Condition,
) (f execution.SavedFunction, err error) {
	err = r.store.Change(ctx, tenant, name, func(have *execution.SavedFunction) (*execution.FunctionContent, error) {
		if have.CreatedAt.IsZero() {
			return nil, missing(name)
		}
		if err := condition.check(*have); err != nil {
			return nil, err
		}
		if hook == nil && have.Hook == nil {
			return nil, noHook(name)
		}
		if err := changeHook(have, hook, needsSecret); err != nil {
			return nil, err
		}
		have.UpdatedAt = r.now().UTC()
		f = *have
		return nil, nil // no new content
	})
	return f, err
}

// changeHook sets the hook of a function.
func changeHook(f *execution.SavedFunction, hook *execution.FunctionHook, needsSecret bool) error {
	if err := keepSecret(hook, f.Hook, needsSecret); err != nil {
		return err
	}
	if hook != nil && hook.Alias != "" && hook.Alias != Latest && f.Aliases[hook.Alias].Version == 0 {
		return api.Invalid("hook.alias", "is not an alias of this function")
	}
	f.Hook = hook
	return nil
}

func noHook(name string) error { return api.NotFound("the function " + name + " has no webhook") }

func sendHook(c *fiber.Ctx, f execution.SavedFunction) error {
	c.Set(fiber.HeaderETag, tagOf(f))
	h := *f.Hook
	return api.Send(c, hookSettings{
		h.Scheme, h.Header, h.Headers, h.ToleranceSeconds, h.Async, h.Alias, hooks.PathOf(f.Tenant, f.Name), h.Secret != "",
	})
}

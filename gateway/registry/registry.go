package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/results"
)

// Latest is the alias that saving moves.
const Latest = "latest"

// A Reader finds saved functions. The error is execution.ErrNotFound if there is none.
type Reader interface {
	Function(ctx context.Context, tenant, name string) (execution.SavedFunction, error)
	// Functions returns at most limit functions whose names come after a name, in the order of names.
	Functions(ctx context.Context, tenant, after string, limit int) ([]execution.SavedFunction, error)
	Content(ctx context.Context, tenant, name string, version int) (execution.FunctionContent, error)
}

// Store keeps saved functions. It is safe for concurrent use.
type Store interface {
	Reader
	// Change passes a function to fn and stores the result in one transaction. A function that does not exist is passed
	// with its tenant and name alone. If fn returns a content, it is stored as that of the last version. If fn fails,
	// nothing changes, and its error is returned.
	Change(
		ctx context.Context, tenant, name string, fn func(*execution.SavedFunction) (*execution.FunctionContent, error),
	) error
	Delete(ctx context.Context, tenant, name string) error
}

// Conflict is the error of a change that the state of a function does not allow. Its text is for the caller.
type Conflict struct{ Reason string }

// Error returns the reason.
func (c *Conflict) Error() string { return c.Reason }

// Missing is the error of a name, version or alias that does not exist. Its text is for the caller.
type Missing struct{ What string }

// Error returns what is missing.
func (m *Missing) Error() string { return m.What }

// Unwrap returns execution.ErrNotFound.
func (m *Missing) Unwrap() error { return execution.ErrNotFound }

// Registry holds the functions of all tenants. It is safe for concurrent use.
type Registry struct {
	store    Store
	now      func() time.Time
	contents *results.Store[execution.FunctionContent] // versions never change
	starts   *results.Store[string]                    // what Learn noted
}

// New returns a Registry over a store.
func New(store Store, now func() time.Time) (*Registry, error) {
	contents, err := results.New[execution.FunctionContent](
		bounds.Of(bounds.Contents).Most, bounds.Of(bounds.Contents).Bytes,
	)
	if err != nil {
		return nil, err
	}
	starts, err := results.New[string](1000, 1<<20)
	return &Registry{store, now, contents, starts}, err
}

// Put saves a definition if the condition holds. It returns the version that has this content; created reports that the
// version is new.
func (r *Registry) Put(
	ctx context.Context, tenant, name, by string, d Definition, needsSecret bool, condition Condition,
) (f execution.SavedFunction, v execution.FunctionVersion, created bool, err error) {
	if !ValidName(name) {
		return f, v, false, api.Invalid("name", "must be 1 to 64 letters, digits, - _ or . with a letter or digit first")
	}
	digest, err := digestOf(d.Content)
	if err != nil {
		return f, v, false, err
	}
	err = r.store.Change(ctx, tenant, name, func(have *execution.SavedFunction) (*execution.FunctionContent, error) {
		if err := condition.check(*have); err != nil {
			return nil, err
		}
		now := r.now().UTC()
		if have.CreatedAt.IsZero() {
			have.CreatedAt, have.Aliases = now, map[string]execution.FunctionAlias{}
		}
		have.UpdatedAt = now
		if err := changeHook(have, d.Hook, needsSecret); err != nil {
			return nil, err
		}
		if old := have.Schedule; old != nil && d.Schedule != nil && old.Cron == d.Schedule.Cron &&
			old.TimeZone == d.Schedule.TimeZone {
			d.Schedule.Next = old.Next // saving again does not skip a scheduled run
		}
		have.Schedule = d.Schedule
		var content *execution.FunctionContent
		if v, created = find(*have, digest); created {
			if len(have.Versions) >= MaxVersions {
				return nil, &Conflict{
					fmt.Sprintf(
						"the function has %d versions, the maximum; save it under another name, or delete it",
						MaxVersions,
					),
				}
			}
			source := sourceOf(d.Content.Request)
			sum := sha256.Sum256(source)
			v = execution.FunctionVersion{
				Version: len(have.Versions) + 1, Digest: digest, CodeSHA256: hex.EncodeToString(sum[:]), CodeBytes: len(source),
				CreatedAt: now, CreatedBy: by,
			}
			have.Versions, content = append(have.Versions, v), &d.Content
		}
		point(have, Latest, v.Version, now)
		f = *have
		return content, nil
	})
	if created {
		r.starts.Put(tenant, startKey(tenant, name, v.Version), "", 0) // a function of this name may have been deleted
	}
	return f, v, created, err
}

// keepSecret keeps the secret of a hook that is saved again without it. Secrets are never shown, so a caller cannot
// repeat them.
func keepSecret(hook, have *execution.FunctionHook, needed bool) error {
	if hook == nil || hook.Secret != "" || !needed {
		return nil
	}
	if have == nil || have.Scheme != hook.Scheme || have.Secret == "" {
		return api.Invalid("hook.secret", "is required with the scheme "+hook.Scheme)
	}
	hook.Secret = have.Secret
	return nil
}

// find returns the version with a content; missing reports that there is none.
func find(f execution.SavedFunction, digest string) (v execution.FunctionVersion, missing bool) {
	for _, v := range f.Versions {
		if v.Digest == digest {
			return v, false
		}
	}
	return v, true
}

func digestOf(c execution.FunctionContent) (string, error) {
	var sources string
	c.Request, sources = c.Request.Condensed(c.Sum)
	raw, err := json.Marshal(c) // maps are written in the order of their keys
	if err != nil {
		return "", fmt.Errorf("hash a function: %w", err)
	}
	sum := sha256.Sum256(append(raw, sources...))
	return hex.EncodeToString(sum[:]), nil
}

func sourceOf(r execution.Request) []byte {
	if r.Entry != "" {
		return r.Files[r.Entry]
	}
	return []byte(r.Code)
}

// Get returns a function.
func (r *Registry) Get(ctx context.Context, tenant, name string) (execution.SavedFunction, error) {
	if !ValidName(name) {
		return execution.SavedFunction{}, missing(name)
	}
	f, err := r.store.Function(ctx, tenant, name)
	if errors.Is(err, execution.ErrNotFound) {
		return f, missing(name)
	}
	return f, err
}

func missing(name string) error {
	if ValidName(name) {
		return &Missing{"there is no function " + name}
	}
	return &Missing{"there is no function with this name"}
}

// List returns at most limit functions after a name.
func (r *Registry) List(ctx context.Context, tenant, after string, limit int) ([]execution.SavedFunction, error) {
	return r.store.Functions(ctx, tenant, after, limit)
}

// Delete deletes a function with its versions, aliases, hook and schedule.
func (r *Registry) Delete(ctx context.Context, tenant, name string) error {
	err := r.store.Delete(ctx, tenant, name)
	if errors.Is(err, execution.ErrNotFound) {
		return missing(name)
	}
	return err
}

// Content returns what a version runs. It must not be changed.
func (r *Registry) Content(
	ctx context.Context, f execution.SavedFunction, version int,
) (execution.FunctionContent, error) {
	if version < 1 || version > len(f.Versions) {
		return execution.FunctionContent{}, noVersion(f, version)
	}
	key := f.Tenant + "\x00" + f.Name + "\x00" + f.Versions[version-1].Digest
	if c, ok := r.contents.Get(key); ok {
		return c, nil
	}
	c, err := r.store.Content(ctx, f.Tenant, f.Name, version)
	if err != nil {
		return c, err
	}
	if c.Sum == "" {
		c.Sum = c.Request.Sources().Sum()
	}
	r.contents.Put(f.Tenant, key, c, c.Request.Sources().Bytes()+1024)
	return c, nil
}

func startKey(tenant, name string, version int) string {
	return fmt.Sprintf("%q %q %d", tenant, name, version)
}

// Learn notes how runs of a version start. Every run reports it; it is stored when it changes.
func (r *Registry) Learn(ctx context.Context, tenant, name string, version int, warm bool, reason string) error {
	key, outcome := startKey(tenant, name, version), fmt.Sprint(warm, reason)
	if noted, ok := r.starts.Get(key); ok && noted == outcome {
		return nil
	}
	r.starts.Put(tenant, key, outcome, len(key)+len(outcome))
	return r.store.Change(ctx, tenant, name, func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		if version < 1 || version > len(f.Versions) {
			return nil, missing(name) // it was deleted meanwhile
		}
		v := &f.Versions[version-1]
		v.Warm, v.ColdReason = &warm, reason
		return nil, nil // no new content
	})
}

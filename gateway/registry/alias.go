package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// Resolve returns the version that a caller names by a number, by an alias, or by neither, which means latest.
func Resolve(f execution.SavedFunction, version int, alias string) (int, error) {
	switch {
	case version != 0 && alias != "":
		return 0, api.Invalid("alias", "cannot be given together with version; leave one of them out")
	case version != 0:
		if version < 1 || version > len(f.Versions) {
			return 0, noVersion(f, version)
		}
		return version, nil
	case alias == "":
		alias = Latest
	}
	a, ok := f.Aliases[alias]
	if !ok {
		return 0, noAlias(f, alias)
	}
	return a.Version, nil
}

func noVersion(f execution.SavedFunction, version int) error {
	return &Missing{fmt.Sprintf("the function %s has no version %d", f.Name, version)}
}

func noAlias(f execution.SavedFunction, alias string) error {
	if !ValidName(alias) {
		return &Missing{"the function " + f.Name + " has no alias with this name"}
	}
	return &Missing{"the function " + f.Name + " has no alias " + alias}
}

// point moves an alias and remembers the version that it pointed at.
func point(f *execution.SavedFunction, alias string, version int, now time.Time) {
	a := f.Aliases[alias]
	if a.Version == version {
		return
	}
	f.Aliases[alias] = execution.FunctionAlias{Version: version, Previous: a.Version, MovedAt: now}
}

// Move points an alias, which may be new, at a version, for all callers at once.
func (r *Registry) Move(ctx context.Context, tenant, name, alias string, version int) (execution.FunctionAlias, error) {
	if !ValidName(alias) {
		return execution.FunctionAlias{}, api.Invalid(
			"alias", "must be 1 to 64 letters, digits, - _ or . with a letter or digit first",
		)
	}
	return r.alter(ctx, tenant, name, alias, func(f *execution.SavedFunction, _ execution.FunctionAlias) error {
		if version < 1 || version > len(f.Versions) {
			return noVersion(*f, version)
		}
		if _, there := f.Aliases[alias]; !there && len(f.Aliases) >= MaxAliases {
			return &Conflict{fmt.Sprintf("the function has %d aliases, the maximum; delete one", MaxAliases)}
		}
		point(f, alias, version, r.now().UTC())
		return nil
	})
}

// Rollback points an alias at the version that it pointed at before.
func (r *Registry) Rollback(ctx context.Context, tenant, name, alias string) (execution.FunctionAlias, error) {
	return r.alter(ctx, tenant, name, alias, func(f *execution.SavedFunction, a execution.FunctionAlias) error {
		switch {
		case a.Version == 0:
			return noAlias(*f, alias)
		case a.Previous == 0:
			return &Conflict{"the alias " + alias + " has no earlier version to roll back to"}
		}
		point(f, alias, a.Previous, r.now().UTC())
		return nil
	})
}

// Drop deletes an alias.
func (r *Registry) Drop(ctx context.Context, tenant, name, alias string) error {
	if alias == Latest {
		return &Conflict{"every function has the alias latest; it cannot be deleted"}
	}
	_, err := r.alter(ctx, tenant, name, alias, func(f *execution.SavedFunction, a execution.FunctionAlias) error {
		if a.Version == 0 {
			return noAlias(*f, alias)
		}
		if f.Hook != nil && f.Hook.Alias == alias {
			return &Conflict{"the hook of the function runs the alias " + alias + "; point it elsewhere first"}
		}
		delete(f.Aliases, alias)
		return nil
	})
	return err
}

func (r *Registry) alter(
	ctx context.Context, tenant, name, alias string, fn func(*execution.SavedFunction, execution.FunctionAlias) error,
) (execution.FunctionAlias, error) {
	var after execution.FunctionAlias
	err := r.store.Change(ctx, tenant, name, func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		if f.CreatedAt.IsZero() {
			return nil, missing(name)
		}
		if err := fn(f, f.Aliases[alias]); err != nil {
			return nil, err
		}
		f.UpdatedAt, after = r.now().UTC(), f.Aliases[alias]
		return nil, nil // no new content
	})
	return after, err
}

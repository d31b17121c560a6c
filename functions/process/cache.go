package process

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

// FillCache compiles an engine build (see EngineBuild) into dir, for function processes of this architecture to load
// from, and keeps the images of the deployment's packages there.
func FillCache(ctx context.Context, dir, build string, getenv func(string) string) error {
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: dir, EngineBuild: build})
	if err != nil {
		return fmt.Errorf("fill the compilation cache %q: %w", dir, err)
	}
	return errors.Join(PreparePackages(ctx, engine, getenv, nil), engine.Close(ctx))
}

// PreparePackages evaluates the deployment's packages as the code of each tier imports them, and keeps the images in
// the cache folder of the engine. It leaves out those that ready names: their images were made, although the folder,
// which has a limit, may have lost them since.
func PreparePackages(
	ctx context.Context, engine *sandbox.Engine, getenv func(string) string, ready map[string]bool,
) error {
	rules, _, err := ReadRules(getenv)
	if err != nil {
		return err
	}
	installed := LoadPackages(getenv)
	if installed.Damage != nil {
		return installed.Damage
	}
	rest := slices.DeleteFunc(installed.Packages, func(p sandbox.Package) bool { return ready[p.Name] })
	for _, grants := range packageGrants(rules, rest) {
		if err := engine.PreparePackages(ctx, grants); err != nil {
			return fmt.Errorf("prepare packages: %w", err)
		}
	}
	return nil
}

// openImages opens the kept images of packages: a process that is locked down opens no files.
func openImages(ctx context.Context, engine *sandbox.Engine, set Settings) error {
	for _, grants := range packageGrants(set.Rules, set.Packages.Packages) {
		if err := engine.OpenPackages(ctx, grants); err != nil {
			return err
		}
	}
	return nil
}

// packageGrants returns what packages can observe of the grants of each tier that has packages.
func packageGrants(rules *policy.Set, packages []sandbox.Package) (all []sandbox.Grants) {
	if len(packages) == 0 {
		return nil
	}
	for _, tier := range rules.Tiers() {
		d := rules.Decide(policy.Request{Code: "0", Tier: tier.Name})
		if len(d.Grants.Packages) > 0 {
			all = append(all, runner.PackageGrants(d.Grants, packages))
		}
	}
	return all
}

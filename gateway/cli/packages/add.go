package packages

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/infra/packages"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

func addCommand(con terminal.Console) *cobra.Command {
	var allowed bool
	cmd := &cobra.Command{Use: "add NAME[@RANGE]…", Short: "Resolve, fetch, check and scan packages, and keep them",
		Long: "Resolve, fetch, check and scan packages, and keep them in the folder. A package in which the scan finds an\n" +
			"attack is refused, and the others are added. With --" + allowFindings + " the packages that are named are added\n" +
			"nevertheless, and list says what was found. They have no more rights than others: what a tier lacks fails when\n" +
			"it is used. The permission ends when the package or anything that it needs has another content.",
		Example: "  airlock packages add lodash@4 zod@3",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, specs []string) error {
			return addPackages(cmd.Context(), con, specs, allowed)
		}}
	cmd.Flags().BoolVar(&allowed, allowFindings, false,
		"add these packages although the scan refuses them, and record why")
	return cmd
}

// allowFindings is the flag that adds packages although the scan refuses them.
const allowFindings = "allow-findings"

func addPackages(ctx context.Context, con terminal.Console, specs []string, allowed bool) error {
	f, err := openPackages(ctx, con)
	if err != nil {
		return err
	}
	registry := &packages.Registry{URL: cmp.Or(con.Getenv("npm_config_registry"), packages.DefaultRegistry)}
	fetched := con.Progress("fetching")
	next, specs, failed := resolved(ctx, f.store, registry, specs)
	fetched()
	if next == nil {
		return failed
	}
	engine, err := openEngine(ctx, con)
	if err != nil {
		return err
	}
	try := func(p sandbox.Package, allowed bool) (packages.Note, error) {
		defer con.Progress("checking " + p.Name)()
		return tryPackage(ctx, engine, p, allowed)
	}
	next, refused, err := accepted(ctx, try, f.store, next, registry, specs, allowed)
	if failed = errors.Join(failed, refused); err != nil || next == nil {
		return errors.Join(cmp.Or(err, failed), engine.Close(ctx))
	}
	err = f.save(ctx, next)
	if err == nil {
		prepared := con.Progress("preparing images")
		err = process.PreparePackages(ctx, engine, f.getenv, unchanged(f.store, next))
		prepared()
	}
	if err := errors.Join(err, engine.Close(ctx)); err != nil {
		return exit.With(exit.Platform, err)
	}
	return errors.Join(printPackages(con, next), failed)
}

// resolved returns the store with all packages that the registry has, their specs, and why it lacks the others. The
// store is nil if none is left.
func resolved(
	ctx context.Context, store *packages.Store, registry *packages.Registry, specs []string,
) (next *packages.Store, found []string, failed error) {
	next, err := store.Add(ctx, registry, specs)
	if err == nil {
		return next, specs, nil
	}
	for _, spec := range specs {
		if len(specs) == 1 || ctx.Err() != nil {
			break
		}
		if _, err := store.Add(ctx, registry, []string{spec}); err != nil {
			failed = errors.Join(failed, exit.With(exit.Platform, err))
			continue
		}
		found = append(found, spec)
	}
	if len(found) == 0 || len(found) == len(specs) {
		return nil, nil, exit.With(exit.Platform, err)
	}
	if next, err = store.Add(ctx, registry, found); err != nil {
		return nil, nil, exit.With(exit.Platform, err)
	}
	return next, found, failed
}

// accepted tries the packages of next that are new. It returns the store without those that are refused, and why they
// are; nil if none of the specs is left, or if a package is refused that was there before.
func accepted(
	ctx context.Context, try func(p sandbox.Package, allowed bool) (packages.Note, error),
	earlier, next *packages.Store, registry *packages.Registry, specs []string, allowed bool,
) (*packages.Store, error, error) {
	var failed error
	notes := map[string]packages.Note{}
	for {
		refusable, tried := keptFindings(earlier, next, allowed), unchanged(earlier, next)
		var refused []string
		for _, p := range process.ImportedPackages(next) {
			note, known := notes[p.Name+" "+p.Integrity]
			if tried[p.Name] {
				continue
			}
			if !known {
				var err error
				if note, err = try(p, refusable[p.Name]); exit.Code(err) == exit.Blocked {
					refused, failed = append(refused, p.Name), errors.Join(failed, err)
					continue
				} else if err != nil {
					return nil, failed, err
				}
				notes[p.Name+" "+p.Integrity] = note
			}
			next.Note(p.Name, note)
		}
		if len(refused) == 0 {
			return next, failed, nil
		}
		all := len(specs)
		specs = slices.DeleteFunc(slices.Clone(specs), func(spec string) bool {
			return slices.Contains(refused, packages.NameOf(spec))
		})
		if len(specs) == 0 || len(specs) == all {
			return nil, failed, nil
		}
		var err error
		if next, err = earlier.Add(ctx, registry, specs); err != nil {
			return nil, failed, exit.With(exit.Platform, err)
		}
	}
}

// keptFindings names the packages of next whose findings do not keep them out: those that are added now, if allowed,
// and those that were allowed earlier and are still the same.
func keptFindings(earlier, next *packages.Store, allowed bool) map[string]bool {
	same, kept := unchanged(earlier, next), map[string]bool{}
	for _, p := range next.List() {
		added := p.Note.Level == "" // the note of a package that is added has no findings yet
		kept[p.Name] = added && allowed || len(p.Note.Findings) > 0 && same[p.Name]
	}
	return kept
}

// unchanged names the packages of next that were tried when they were added, that are not added now, and that have the
// same content as then, with all that they depend on.
func unchanged(earlier, next *packages.Store) map[string]bool {
	integrity, same := map[string]string{}, map[string]bool{}
	for _, p := range earlier.List() {
		integrity[p.Name] = p.Integrity
	}
	for _, p := range next.List() {
		same[p.Name] = p.Note.Level != "" && integrity[p.Name] == p.Integrity
	}
	return same
}

// tryPackage scans a package and finds out whether runs can start from an image of it. The scan judges it under the
// tier agent, so that only attacks are refused: a power that another tier lacks fails when it is used. If the operator
// allows findings, the note has those that would have refused the package.
func tryPackage(
	ctx context.Context, engine *sandbox.Engine, p sandbox.Package, allowed bool,
) (packages.Note, error) {
	const tier = "agent"
	tree, err := p.Tree()
	if err != nil {
		return packages.Note{}, exit.With(exit.Platform, err)
	}
	text, err := sandbox.BundlePackage(p.Name, tree)
	if err != nil {
		return packages.Note{}, exit.With(exit.Blocked, fmt.Errorf("package %s cannot be imported: %w", p.Name, err))
	}
	d := policy.Default().Decide(policy.Request{Code: text, Tier: tier})
	note := packages.Note{Level: d.Analysis.Level}
	if len(text) > maxPackageBytes {
		return packages.Note{}, exit.With(exit.Blocked,
			fmt.Errorf("package %s is refused: it has %d bytes of code; at most %d are accepted", p.Name, len(text),
				maxPackageBytes))
	}
	if denied := denials(d); len(denied) > 0 {
		err := fmt.Errorf("package %s is refused: %s", p.Name, strings.Join(denied, "; "))
		if !onlyFindings(d) {
			return packages.Note{}, exit.With(exit.Blocked, err)
		}
		if !allowed {
			return packages.Note{}, exit.With(exit.Blocked,
				fmt.Errorf("%w; airlock packages add %s --%s adds it nevertheless", err, p.Name, allowFindings))
		}
		note.Findings = denied
	}
	p.Impure = ""
	r, err := engine.Run(ctx, sandbox.Script{Code: fmt.Sprintf("import * as p from %q;\n", p.Name) + listExports},
		sandbox.Grants{
			Packages: []sandbox.Package{p}, Eval: true, Modules: []string{policy.AnyModule}, Files: sandbox.FilesRead,
			Limits: sandbox.Limits{Wall: time.Minute, MemoryBytes: sandbox.DefaultMaxMemoryBytes},
		})
	if err != nil {
		return packages.Note{}, exit.With(exit.Platform, err)
	}
	note.Impure = r.PackagesCold
	if r.Error != "" {
		note.Impure = packages.NotLoaded + r.Error
		return note, nil
	}
	var found [2][]string
	if json.Unmarshal(r.Value, &found) == nil { // the package may have changed what the code returns
		note.Exports, note.Default = found[0], found[1]
	}
	return note, nil
}

// maxPackageBytes bounds the code of a package with all that it depends on.
const maxPackageBytes = 32 << 20

// denials returns why a decision refuses a package. Its code has many sources, so the bound on a source does not count.
func denials(d policy.Decision) (why []string) {
	for _, r := range d.Reasons {
		if r.Effect == policy.Deny && !isOfSize(r) {
			why = append(why, r.Message)
		}
	}
	return why
}

// isOfSize reports whether a reason is that a source is too long.
func isOfSize(r policy.Reason) bool { return r.Rule == "code-size" }

// onlyFindings reports whether a decision refuses a package for nothing but what the scan found in it.
func onlyFindings(d policy.Decision) bool {
	return !slices.ContainsFunc(d.Reasons, func(r policy.Reason) bool {
		return r.Effect == policy.Deny && !r.OfScan() && !isOfSize(r)
	})
}

// listExports returns what the package p exports, and the members of its default export, as packages.Note has them.
//
//go:embed exports.js
var listExports string

// Package packages is the command airlock packages, which fills the folder of npm packages that code may import.
// Package cli imports it; the folder itself is managed by package infra/packages.
package packages

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/infra/packages"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

// Command returns the command that fills the folder of npm packages that code may import.
func Command(con terminal.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "packages",
		Short: "Add npm packages that code may import, list, verify, prepare, push and remove them",
		Long: "Keep npm packages in the folder or the bucket AIRLOCK_PACKAGES (default ./airlock-packages), from which\n" +
			"code imports them. add asks the registry npm_config_registry (default " + packages.DefaultRegistry + ") once;\n" +
			"npm is not needed, no script of a package runs, and every archive is checked against the registry's\n" +
			"SHA-512. Nothing else needs the network. Send SIGHUP to the gateway afterwards.\n\n" +
			"Packages are code of the guest and have no other rights. The tiers of the policy file say with packages:\n" +
			"which of them their code may import; by default strict has none and the others have all.\n\n" +
			"Exit codes: 0 done, 1 verify found a difference, 2 usage, 3 a package was refused, 5 the registry or the\n" +
			"folder failed.",
		Example: "  airlock packages add lodash@4 zod@3 dayjs\n" +
			"  airlock run -e 'import _ from \"lodash\"; _.chunk([1, 2, 3], 2)'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		addCommand(con),
		&cobra.Command{Use: "list", Short: "List the packages, and why some are evaluated by each run",
			Example: "  airlock packages list", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return listPackages(cmd.Context(), con)
			}},
		&cobra.Command{Use: "remove NAME…", Short: "Remove packages and what only they need",
			Example: "  airlock packages remove lodash", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, names []string) error {
				return removePackages(cmd.Context(), con, names)
			}},
		&cobra.Command{Use: "prepare", Short: "Evaluate the packages for the tiers of the policy file, as add does",
			Long: "Evaluate the packages as the code of each tier imports them, and keep the images in the cache folder, so\n" +
				"that no start of the gateway evaluates them. add does so, too. Do it again after an update of airlock and\n" +
				"after a change of the tiers; without it, the first run that imports a package evaluates it.",
			Example: "  airlock packages prepare", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return preparePackages(cmd.Context(), con) }},
		&cobra.Command{Use: "types FOLDER", Short: "Write the packages' type declarations for editors and TypeScript",
			Long: "Write the type declarations that the packages ship to node_modules in FOLDER, where editors and\n" +
				"TypeScript find them for code in FOLDER. No code of a package is written. A folder node_modules that is\n" +
				"there is not changed.",
			Example: "  airlock packages types .", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return writeTypes(cmd.Context(), con, args[0])
			}},
		&cobra.Command{Use: "push s3://BUCKET/PREFIX", Short: "Copy the packages to a bucket",
			Long: "Copy the packages of the folder to a bucket, from which gateways and functions copy them at their start\n" +
				"if AIRLOCK_PACKAGES names the bucket. S3_ENDPOINT names a service other than AWS. Archives of earlier packages\n" +
				"stay in the bucket.",
			Example: "  airlock packages push s3://deployment/packages", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return pushPackages(cmd.Context(), con, args[0])
			}},
		&cobra.Command{Use: "verify", Short: "Check every archive against the lock",
			Example: "  airlock packages verify", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return verifyPackages(cmd.Context(), con)
			}},
	)
	return cmd
}

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

// A folder is an open folder of packages. It is the copy of bucket, if that is not nil.
type folder struct {
	store  *packages.Store
	bucket *s3objects.Store
	getenv func(string) string
}

// openPackages opens the folder of packages. If AIRLOCK_PACKAGES names a bucket, it first copies the bucket.
func openPackages(ctx context.Context, con terminal.Console) (f folder, err error) {
	if process.PackagesDir(con.Getenv) == "" {
		return f, exit.With(exit.Usage, errors.New("AIRLOCK_PACKAGES is none; set it to a folder or a bucket"))
	}
	if f.bucket, err = process.PackagesBucket(ctx, con.Getenv); err != nil {
		return f, exit.With(exit.Usage, err)
	}
	if f.getenv, err = process.PullPackages(ctx, con.Getenv); err == nil {
		f.store, err = process.OpenPackages(f.getenv)
	}
	if err != nil {
		return f, exit.With(exit.Platform, err)
	}
	return f, nil
}

// save writes a changed store to the folder and to the bucket, if there is one. The bucket is first: a change that the
// bucket refuses is not in its copy.
func (f folder) save(ctx context.Context, next *packages.Store) error {
	if f.bucket != nil {
		if err := next.Push(ctx, f.bucket); err != nil {
			return err
		}
	}
	return next.Save()
}

func pushPackages(ctx context.Context, con terminal.Console, url string) error {
	f, err := openPackages(ctx, con)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(url, "s3://") {
		return exit.With(exit.Usage, fmt.Errorf("%q is not a bucket; write s3://bucket/prefix", url))
	}
	bucket, err := process.PackagesBucket(ctx, process.WithPackagesDir(con.Getenv, url))
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if len(f.store.List()) == 0 {
		return exit.With(exit.Usage, errors.New("there are no packages to push"))
	}
	if err := f.store.Push(ctx, bucket); err != nil {
		return exit.With(exit.Platform, err)
	}
	_, err = fmt.Fprintf(con.Stdout, "ok: %s has %d packages; set AIRLOCK_PACKAGES to it\n", url, len(f.store.List()))
	return err
}

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

// openEngine opens the engine that the deployment runs, with its cache folder.
func openEngine(ctx context.Context, con terminal.Console) (*sandbox.Engine, error) {
	build, err := process.EngineBuild(con.Getenv)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, exit.With(exit.Platform, err)
	}
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: process.CacheDir(con.Getenv, executable), EngineBuild: build})
	if err != nil {
		return nil, exit.With(exit.Platform, fmt.Errorf("build the sandbox: %w", err))
	}
	return engine, nil
}

func preparePackages(ctx context.Context, con terminal.Console) error {
	f, err := openPackages(ctx, con)
	if err != nil {
		return err
	}
	engine, err := openEngine(ctx, con)
	if err != nil {
		return err
	}
	prepared := con.Progress("preparing images")
	err = process.PreparePackages(ctx, engine, f.getenv, nil)
	prepared()
	if err := errors.Join(err, engine.Close(ctx)); err != nil {
		return exit.With(exit.Platform, err)
	}
	return printPackages(con, f.store)
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

func listPackages(ctx context.Context, con terminal.Console) error {
	f, err := openPackages(ctx, con)
	if err != nil {
		return err
	}
	return printPackages(con, f.store)
}

func printPackages(con terminal.Console, store *packages.Store) error {
	list := store.List()
	if len(list) == 0 {
		_, err := fmt.Fprintln(con.Stdout, "there are no packages")
		return err
	}
	for _, p := range list {
		how := "runs start after it"
		switch {
		case strings.HasPrefix(p.Note.Impure, packages.NotLoaded):
			how = "its other paths can be imported: " + p.Note.Impure
		case p.Note.Impure != "":
			how = "each run evaluates it: " + p.Note.Impure
		}
		line := fmt.Sprintf("%s@%s  scan %s  %s", p.Name, p.Version, cmp.Or(p.Note.Level, "unknown"), how)
		if p.Needs > 0 {
			line += fmt.Sprintf("; it needs %d more", p.Needs)
		}
		if len(p.Note.Findings) > 0 {
			line += "; added with --" + allowFindings + " despite: " + strings.Join(p.Note.Findings, "; ")
		}
		if len(p.Note.Scripts) > 0 {
			line += "; install scripts did not run: " + strings.Join(p.Note.Scripts, ", ")
		}
		if _, err := fmt.Fprintln(con.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}

func removePackages(ctx context.Context, con terminal.Console, names []string) error {
	f, err := openPackages(ctx, con)
	if err != nil {
		return err
	}
	next, err := f.store.Remove(names)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := f.save(ctx, next); err != nil {
		return exit.With(exit.Platform, err)
	}
	return printPackages(con, next)
}

func writeTypes(ctx context.Context, con terminal.Console, dir string) error {
	f, err := openPackages(ctx, con)
	if err != nil {
		return err
	}
	store := f.store
	without, err := store.WriteTypes(dir)
	if err != nil {
		return exit.With(exit.Platform, err)
	}
	for _, name := range without {
		if _, err := fmt.Fprintf(con.Stdout, "%s declares no types\n", name); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(con.Stdout, "ok: wrote the declarations of %d packages\n", len(store.List())-len(without))
	return err
}

func verifyPackages(ctx context.Context, con terminal.Console) error {
	f, err := openPackages(ctx, con)
	if err != nil {
		return err
	}
	store := f.store
	if err := store.Verify(); err != nil {
		return exit.With(exit.Guest, err)
	}
	_, err = fmt.Fprintf(con.Stdout, "ok: %d packages, every archive is the one that the registry described\n",
		len(store.List()))
	return err
}

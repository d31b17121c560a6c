package packages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/infra/packages"
	"github.com/airlock-run/airlock/infra/s3objects"
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

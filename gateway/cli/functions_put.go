package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/cli/complete"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
)

// putFlags holds the flags of airlock functions put.
type putFlags struct {
	policy, language, entry, memory, schedule, hook, hookSecret, definition string
	timeout                                                                 wallTime
	env                                                                     map[string]string
	hosts, secrets                                                          []string
}

func (f *functionsTool) put() *cobra.Command {
	var p putFlags
	cmd := &cobra.Command{
		Use:   "put NAME FILE | FOLDER | - | --definition FILE",
		Short: "Save a version of a function",
		Long: "Save a version of a function: a file, a folder of files that import one another, or standard input (-).\n" +
			"Saving the same content again returns the same version. --definition reads everything from a JSON\n" +
			"file, like the body of PUT /api/functions/{name}. The secret of a hook is read from a file, so that it\n" +
			"does not appear in process lists.",
		Example: "  airlock functions put greet greet.ts --policy strict\n" +
			"  airlock functions put shop ./shop --entry main.js --env REGION=eu\n" +
			"  airlock functions put report report.js --schedule '0 9 * * 1-5'\n" +
			"  airlock functions put deploys deploys.js --hook github --hook-secret secret.txt",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: p.complete(f),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := p.read(f.con, args[1:])
		if err != nil {
			return err
		}
		return with(&f.gatewayTool, func(ctx context.Context, c *client.Client, args []string) (client.Function, error) {
			return c.SaveFunction(ctx, args[0], d)
		}, func(saved client.Function) error {
			_, err := fmt.Fprintf(f.con.Stdout, "%s version %d\n", terminal.OneLine(saved.Name), saved.Version)
			return err
		})(cmd, args)
	}
	flags := cmd.Flags()
	flags.StringVar(&p.definition, "definition", "", "JSON with every field, in a file or - for standard input")
	flags.StringVar(&p.policy, "policy", "", "the tier (default standard)")
	flags.StringVar(&p.language, "language", "", "javascript or typescript (default by the file's name)")
	flags.StringVar(&p.entry, "entry", "", "the file of a folder that runs (default index.js, main.js, …)")
	flags.Var(&p.timeout, "timeout", "wall-clock limit below the tier's: milliseconds, or a duration such as 2s")
	flags.StringVar(&p.memory, "memory", "", "memory limit below the tier's, such as 16mb")
	flags.StringToStringVar(&p.env, "env", nil, "NAME=VALUE in the global env; may be repeated")
	flags.StringSliceVar(&p.hosts, "hosts", nil, "hosts that the function may access, if the deployment permits them")
	flags.StringSliceVar(&p.secrets, "secrets", nil, "names of the deployment's secrets that the function may use")
	flags.StringVar(&p.schedule, "schedule", "", "schedule of the function: a cron expression of five fields, in UTC")
	flags.StringVar(&p.hook, "hook", "", "the signature scheme of POST /hooks/NAME, such as github or standard")
	flags.StringVar(&p.hookSecret, "hook-secret", "", "the file that holds the hook's secret, or - for standard input")
	complete.Script(cmd, f.con)
	return cmd
}

// complete returns a completion of names, then files.
func (p *putFlags) complete(f *functionsTool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return f.names(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

// read returns the definition that the flags and args describe.
func (p *putFlags) read(con terminal.Console, args []string) (client.Definition, error) {
	if p.definition != "" {
		if len(args) > 0 {
			return client.Definition{}, errors.New("give a file or --definition, not both")
		}
		return p.whole(con)
	}
	d := client.Definition{
		Policy: p.policy, Language: p.language, Entry: p.entry, Memory: p.memory, Env: p.env, Hosts: p.hosts,
		Secrets: p.secrets,
		Timeout: p.timeout.milliseconds(),
	}
	if len(args) == 0 {
		return d, errors.New("give a file, a folder, - for standard input, or --definition FILE")
	}
	if p.schedule != "" {
		d.Schedule = &client.Schedule{Cron: p.schedule}
	}
	if p.hookSecret != "" && p.hook == "" {
		return d, errors.New("--hook-secret: needs --hook, the scheme that it is for")
	}
	if p.hook != "" {
		d.Hook = &client.Hook{Scheme: p.hook}
	}
	if p.hookSecret != "" {
		secret, err := source(con.Stdin, p.hookSecret, 4096)
		if err != nil {
			return d, fmt.Errorf("--hook-secret: %w", err)
		}
		d.Hook.Secret = strings.TrimRight(string(secret), "\r\n")
	}
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
		d.Files, err = folder(args[0])
		return d, err
	}
	if p.entry != "" {
		return d, errors.New("--entry: needs a folder")
	}
	code, err := source(con.Stdin, args[0], execution.MaxCodeBytes)
	if d.Code = string(code); err == nil && p.language == "" && isTypeScript(args[0]) {
		d.Language = "typescript"
	}
	return d, err
}

func (p *putFlags) whole(con terminal.Console) (d client.Definition, err error) {
	text, err := source(con.Stdin, p.definition, execution.MaxRequestBytes)
	if err != nil {
		return d, fmt.Errorf("--definition: %w", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, fmt.Errorf("--definition: %w", err)
	}
	return d, nil
}

// folder reads the files below dir, by their paths within it. Those whose names begin with a dot, and node_modules, are
// left out.
func folder(dir string) (map[string]execution.File, error) {
	files := map[string]execution.File{}
	total := 0
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case path != "." && strings.HasPrefix(name, ".") || name == "node_modules":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		content, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		if total += len(content); total > execution.MaxRequestBytes || len(files) == execution.MaxFiles {
			return fmt.Errorf("%s holds more than %d files or %d bytes", dir, execution.MaxFiles, execution.MaxRequestBytes)
		}
		files[filepath.ToSlash(path)] = content
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s holds no files", dir)
	}
	return files, err
}

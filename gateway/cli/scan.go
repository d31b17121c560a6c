package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/complete"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

// scanFlags holds the flags of airlock scan.
type scanFlags struct {
	policy, language string
	json, sarif      bool
}

// scanned is the policy's decision on one source.
type scanned struct {
	name, text string
	decision   policy.Decision
}

// scanCommand prints the policy's decision on scripts without running them.
func scanCommand(con terminal.Console) *cobra.Command {
	var f scanFlags
	cmd := &cobra.Command{
		Use:   "scan FILE… | -",
		Short: "Scan scripts without running them",
		Long: "Print the policy's findings in scripts without running them: files, folders, or standard input (-). In\n" +
			"folders it reads files that end in " + strings.Join(scriptEndings(), ", ") + ",\n" +
			"except node_modules and names that begin with a dot.\n\n" +
			"Each finding is a line: file:line:column: severity category: message. AIRLOCK_POLICY_FILE applies as for\n" +
			"the gateway.\n" +
			"\n" +
			"Exit codes: 0 every file may run, 3 the tier would block one, 2 usage, or a file cannot be read or\n" +
			"parsed.",
		Example: "  airlock scan --policy strict src/*.js\n" +
			"  airlock scan --sarif src > airlock.sarif\n" +
			"  git show HEAD:job.ts | airlock scan - --language typescript",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error { return f.scan(cmd.Context(), con, names) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.policy, "policy", "", "the tier (default standard)")
	flags.StringVar(&f.language, "language", "", "javascript or typescript (default by the file's name)")
	flags.BoolVar(&f.json, "json", false, "print the analysis of each file as JSON")
	flags.BoolVar(&f.sarif, "sarif", false, "print a SARIF 2.1.0 log for code scanning services")
	cmd.MarkFlagsMutuallyExclusive("json", "sarif")
	complete.Script(cmd, con)
	return cmd
}

func (f *scanFlags) scan(ctx context.Context, con terminal.Console, names []string) error {
	if f.language != "" && f.language != "javascript" && f.language != "typescript" {
		return exit.With(exit.Usage, fmt.Errorf("--language: must be javascript or typescript; got %q", f.language))
	}
	rules, _, err := process.ReadRules(con.Getenv)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	reader, err := wiring.OpenScanReader(1, slog.New(slog.DiscardHandler))
	if err != nil {
		return exit.With(exit.Platform, err)
	}
	defer func() { _ = reader.Close() }() // it never fails
	var all []scanned
	names, unread := scripts(names)
	for _, name := range names {
		text, err := source(con.Stdin, name, execution.MaxCodeBytes)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		d, err := rules.AnalyzeWith(ctx, policy.Request{Code: string(text), Language: f.languageOf(name), Tier: f.policy},
			reader.Scan)
		if err != nil {
			return exit.With(exit.Platform, fmt.Errorf("%s: could not be analysed: %w", name, err))
		}
		bad, ok := d.BadField()
		if ok && bad.Field == "code" {
			unread = append(unread, fmt.Errorf("%s: %s", name, bad.Message))
			continue
		}
		if ok {
			return exit.With(exit.Usage, fmt.Errorf("--%s: %s", bad.Field, bad.Message))
		}
		all = append(all, scanned{name, string(text), d})
	}
	if err := f.print(con.Stdout, all, unread); err != nil {
		return exit.With(exit.Platform, fmt.Errorf("print the findings: %w", err))
	}
	return verdictOf(all, unread)
}

// scriptEndings returns the extensions of the files that are scanned in folders.
func scriptEndings() []string { return []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"} }

// completeScripts completes the names of files that are scripts.
func completeScripts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var endings []string
	for _, ending := range scriptEndings() {
		endings = append(endings, strings.TrimPrefix(ending, "."))
	}
	return endings, cobra.ShellCompDirectiveFilterFileExt
}

// scripts returns the files that names stand for, folders expanded in order. Standard input can be read only once.
func scripts(names []string) (files []string, unread []error) {
	for _, name := range names {
		if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
			if name == "-" && slices.Contains(files, name) {
				unread = append(unread, errors.New("standard input (-) is named twice"))
				continue
			}
			files = append(files, name) // if it cannot be read, reading it reports that
			continue
		}
		before := len(files)
		err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			base := filepath.Base(path)
			switch {
			case err != nil:
				unread = append(unread, fmt.Errorf("read %s: %w", path, errors.Unwrap(err)))
			case path == name:
			case entry.IsDir() && (base == "node_modules" || base[0] == '.'):
				return fs.SkipDir
			case entry.Type().IsRegular() && base[0] != '.' && slices.Contains(scriptEndings(), filepath.Ext(path)):
				files = append(files, path)
			}
			return nil
		})
		if err == nil && len(files) == before {
			err = fmt.Errorf("%s: there are no scripts in this folder", name)
		}
		if err != nil {
			unread = append(unread, err)
		}
	}
	return files, unread
}

// languageOf returns the language by the flag, otherwise by the file's name.
func (f *scanFlags) languageOf(name string) string {
	switch {
	case f.language != "":
		return f.language
	case isTypeScript(name), strings.HasSuffix(name, ".tsx"):
		return "typescript"
	}
	return "javascript"
}

func (f *scanFlags) print(w io.Writer, all []scanned, unread []error) error {
	switch {
	case f.json:
		return printJSON(w, scanReports(all))
	case f.sarif:
		return printJSON(w, sarifOf(all, unread))
	}
	for _, s := range all {
		for _, line := range s.lines() {
			if _, err := fmt.Fprintln(w, strings.ReplaceAll(line, "\n", `\n`)); err != nil {
				return err
			}
		}
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(terminal.JSON(w))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

func (s scanned) blocked() bool { return s.decision.Effect != policy.Allow }

// lines returns the findings for people and for editors, which jump to file:line:column.
func (s scanned) lines() []string {
	var out []string
	name := terminal.OneLine(s.name)
	if e := s.decision.SyntaxError; e != nil {
		out = append(out, fmt.Sprintf("%s:%d:%d: error syntax: %s", name, e.Line, e.Column, e.Message))
	}
	for _, f := range s.decision.Analysis.Findings {
		out = append(out, fmt.Sprintf("%s:%d:%d: %s %s: %s", name, f.Line, f.Column, f.Severity, f.Category, f.Message))
	}
	for _, violation := range s.refusals() {
		out = append(out, fmt.Sprintf("%s: blocked under %s: %s", name, s.decision.Tier, violation))
	}
	return out
}

// refusals returns the violations that do not repeat a finding.
func (s scanned) refusals() []string {
	return slices.DeleteFunc(slices.Clone(s.decision.Violations), func(violation string) bool {
		return slices.ContainsFunc(s.decision.Analysis.Findings, func(f threat.Finding) bool {
			return strings.HasPrefix(violation, f.Category+": "+f.Message+" (")
		})
	})
}

// scanReport is the entry of one file in the output of --json.
type scanReport struct {
	File           string              `json:"file"`
	Policy         string              `json:"policy"`
	Allow          bool                `json:"allow"`
	Violations     []string            `json:"violations"`
	Reasons        []string            `json:"reasons"`
	DangerAnalysis threat.Analysis     `json:"dangerAnalysis"`
	ASTTelemetry   threat.Telemetry    `json:"astTelemetry"`
	SyntaxError    *threat.SyntaxError `json:"syntaxError"`
}

func scanReports(all []scanned) []scanReport {
	out := make([]scanReport, 0, len(all))
	for _, s := range all {
		out = append(out, scanReport{
			File: s.name, Policy: s.decision.Tier, Allow: !s.blocked(), Violations: s.decision.Violations,
			Reasons: s.decision.ReasonLines(), DangerAnalysis: s.decision.Analysis, ASTTelemetry: s.decision.Telemetry,
			SyntaxError: s.decision.SyntaxError,
		})
	}
	return out
}

// verdictOf returns the error of the scan with its exit code. A file that cannot be scanned weighs more than one that
// is blocked.
func verdictOf(all []scanned, unread []error) error {
	for _, s := range all {
		if e := s.decision.SyntaxError; e != nil {
			unread = append(unread, fmt.Errorf("%s:%d:%d: %s", s.name, e.Line, e.Column, e.Message))
		}
	}
	if len(unread) > 0 {
		return exit.With(exit.Usage, errors.Join(unread...))
	}
	refused := slices.DeleteFunc(slices.Clone(all), func(s scanned) bool { return !s.blocked() })
	if len(refused) == 0 {
		return nil
	}
	worst := slices.MaxFunc(refused, func(a, b scanned) int {
		return cmp.Compare(a.decision.Analysis.Score, b.decision.Analysis.Score)
	})
	return exit.With(exit.Blocked, fmt.Errorf("policy %s would block %d of %d; the worst is %s with a score of %d",
		worst.decision.Tier, len(refused), len(all), worst.name, worst.decision.Analysis.Score))
}

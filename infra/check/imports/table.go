package imports

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Module is the prefix of the import paths of this repository.
const Module = "github.com/airlock-run/airlock/"

// permitted maps a folder to the packages of this repository that the packages in it may import, besides the leaves and
// their own subpackages. The longest folder that contains a package counts. An entry that ends in "/..." stands for a
// package and everything below it; any other entry is one package.
//
// Main packages and tests may import anything.
var permitted = map[string][]string{
	"functions/events":     {"functions/execution", "functions/webhook"},
	"functions/execution":  {},
	"functions/governance": {"functions/execution", "policy", "policy/audit"},
	"functions/runner": {
		"functions/execution", "functions/governance", "functions/webhook", "policy", "policy/audit", "sandbox",
	},
	"functions/webhook": {"functions/execution"},
	"gateway": {
		"gateway/...", "functions/execution", "functions/governance", "functions/webhook", "policy", "policy/audit",
		"policy/scan",
	},
	"infra":             {"infra/...", "functions/execution", "policy/audit"},
	"policy":            {},
	"policy/address":    {},
	"policy/audit":      {},
	"policy/deployment": {"policy", "policy/internal/quote", "policy/scan"},
	"policy/depth":      {},
	"policy/mcpguard":   {},
	"policy/outbound":   {},
	"policy/scan":       {"policy/scan/...", "policy/internal/quote"},
	"policy/schema":     {},
	"policy/scripttext": {},
	"policy/threat":     {},
	"policy/toolinput":  {},
	"policy/toolname":   {},
	"sandbox":           {"sandbox/..."},

	// Inside the sandbox imports point one way: the run uses operations, and operations use the engine.
	"sandbox/internal":        {},
	"sandbox/internal/egress": {"sandbox/internal/hostops", "sandbox/internal/quickjs"},
	"sandbox/internal/hostops": {"sandbox/internal/hostops/...", "sandbox/internal/nodemodule",
		"sandbox/internal/quickjs"},
	"sandbox/internal/libm": {"sandbox/internal/wasm"},
	"sandbox/internal/quickjs": {"sandbox/internal/crew", "sandbox/internal/datetext", "sandbox/internal/rewrite",
		"sandbox/internal/wasm"},
	"sandbox/internal/rewrite": {"sandbox/internal/libm", "sandbox/internal/wasm"},
	"sandbox/internal/source": {"sandbox/internal/lazyregexp", "sandbox/internal/nodemodule", "sandbox/internal/quickjs",
		"sandbox/internal/wording"},
	"sandbox/internal/tool":    {"sandbox/internal/egress", "sandbox/internal/hostops"},
	"sandbox/internal/vfs":     {"sandbox/internal/hostops", "sandbox/internal/quickjs"},
	"sandbox/internal/wording": {"sandbox/internal/lazyregexp"},
	"sandbox/stdlib":           {},
}

// leaves are the packages that every package may import, so that no rule is written twice. They import only each other.
var leaves = []string{
	"policy/address", "policy/depth", "policy/mcpguard", "policy/outbound", "policy/schema", "policy/scripttext",
	"policy/threat", "policy/toolinput", "policy/toolname",
}

// roots connect the packages for main packages. They may import anything; only they and main packages import them.
var roots = []string{"functions/process", "gateway/cli", "gateway/wiring"}

// external maps a module to the folders that may import it.
var external = map[string][]string{
	"github.com/aws/aws-lambda-go":  {"functions/events", "functions/lambda"},
	"github.com/aws/aws-sdk-go-v2":  {"infra"},
	"github.com/fastschema/qjs":     {"sandbox"},
	"github.com/gofiber/fiber":      {"gateway", "sandbox/peers"},
	"github.com/jackc/pgx":          {"infra"},
	"github.com/pressly/goose":      {"infra"},
	"github.com/tetratelabs/wazero": {"sandbox"},
	"github.com/valyala/fasthttp":   {"gateway"},
}

// unlinked maps a package to the modules that must not be in its program, directly or not.
var unlinked = map[string][]string{"gateway": {"github.com/tetratelabs/wazero", "github.com/fastschema/qjs"}}

// A Package is the part of the output of "go list -json" that the table judges. Deps may be empty.
type Package struct {
	ImportPath, Name string
	Imports, Deps    []string
}

// Violations returns one line for each import of the package that the table does not allow.
func Violations(p Package) []string {
	path, ours := strings.CutPrefix(p.ImportPath, Module)
	if !ours {
		return nil
	}
	var out []string
	for _, imported := range p.Imports {
		for mod, folders := range external {
			if within(imported, mod) && !withinAny(path, folders) {
				out = append(out, fmt.Sprintf("%s imports %s, which only %v may import", path, imported, folders))
			}
		}
		target, ours := strings.CutPrefix(imported, Module)
		if !ours || p.Name == "main" || withinAny(path, roots) || slices.Contains(leaves, target) {
			continue
		}
		if withinAny(target, roots) {
			out = append(out, fmt.Sprintf("%s imports %s, which only main packages and %v may import", path, target, roots))
		}
		if allowed := allowed(path); !permits(allowed, target, path) {
			out = append(out, fmt.Sprintf("%s imports %s; it may import only %v", path, target, allowed))
		}
		if line := layerViolation(path, target); line != "" {
			out = append(out, line)
		}
	}
	for _, mod := range unlinked[path] {
		if i := slices.IndexFunc(p.Deps, func(dep string) bool { return within(dep, mod) }); i >= 0 {
			out = append(out, fmt.Sprintf("%s links %s", path, p.Deps[i]))
		}
	}
	return out
}

// allowed returns the entry of the longest folder that contains a package.
func allowed(path string) []string {
	longest, out := -1, []string(nil)
	for folder, packages := range permitted {
		if within(path, folder) && len(folder) > longest {
			longest, out = len(folder), packages
		}
	}
	return out
}

// permits reports whether an entry of the table, or the rule about subpackages, allows an import. The record of an
// execution is no part of the decision, so policy itself does not import policy/audit.
func permits(allowed []string, target, self string) bool {
	if within(target, self) {
		return self != "policy" || !within(target, "policy/audit")
	}
	return slices.ContainsFunc(allowed, func(a string) bool {
		folder, below := strings.CutSuffix(a, "/...")
		return target == a || below && within(target, folder)
	})
}

func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

func withinAny(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return within(path, f) })
}

// Markdown returns the table for documents.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| packages in | may import |\n|---|---|\n")
	for _, folder := range slices.Sorted(maps.Keys(permitted)) {
		packages := quoted(permitted[folder])
		switch {
		case slices.Contains(leaves, folder):
			packages = "leaves"
		case packages == "":
			packages = "its subpackages and the leaves"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", folder, packages)
	}
	fmt.Fprintf(&b, "| %s | anything: they connect the packages |\n", quoted(roots)+", main packages and tests")
	fmt.Fprintf(&b, "\nThe leaves, which every package may import, are %s.\n", quoted(leaves))
	b.WriteString("\n| module | only under |\n|---|---|\n")
	for _, mod := range slices.Sorted(maps.Keys(external)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", mod, quoted(external[mod]))
	}
	return b.String()
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + "`"
	}
	return strings.Join(out, ", ")
}

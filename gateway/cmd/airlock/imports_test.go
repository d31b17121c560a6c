package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/airlock-run/airlock/"

// rooms say which of our packages a package may import, by the longest prefix that fits. Main packages and tests may
// import anything.
var rooms = map[string][]string{
	"functions/execution": {},
	"policy":              {},
	"policy/address":      {},
	"policy/audit":        {},
	"policy/depth":        {},
	"policy/deployment":   {"policy", "policy/internal/quote", "policy/scan"},
	"policy/outbound":     {},
	"policy/scan":         {"policy/internal/quote"},
	"policy/scripttext":   {},
	"policy/threat":       {},
	"policy/toolname":     {},
	"sandbox":             {"sandbox"},
	"functions/runner":    {"functions/execution", "functions/webhook", "policy", "policy/audit", "sandbox"},
	"functions/webhook":   {"functions/execution"},
	"functions/events":    {"functions/execution", "functions/webhook"},
	"gateway":             {"gateway", "functions/execution", "functions/webhook", "policy", "policy/audit", "policy/scan"},
	"infra":               {"infra", "functions/execution", "policy/audit"},
}

// leaves are packages that every room may import, because a rule must not be written twice. They import nothing of ours.
var leaves = map[string]bool{
	"policy/address": true, "policy/depth": true, "policy/outbound": true, "policy/scripttext": true, "policy/threat": true,
	"policy/toolname": true,
}

// roots put the rooms together for main packages. They may import anything; only they and main packages import them.
var roots = []string{"functions/process", "gateway/cli", "gateway/wiring"}

// foreign says under which folders a module may be used.
var foreign = map[string][]string{
	"github.com/gofiber/fiber":      {"gateway"},
	"github.com/valyala/fasthttp":   {"gateway"},
	"github.com/aws/aws-sdk-go-v2":  {"infra"},
	"github.com/aws/aws-lambda-go":  {"functions/lambda", "functions/events"},
	"github.com/tetratelabs/wazero": {"sandbox"},
	"github.com/fastschema/qjs":     {"sandbox"},
}

type goPackage struct {
	ImportPath, Name string
	Imports, Deps    []string
}

func TestImportRules(t *testing.T) {
	for _, p := range listPackages(t) {
		path, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		for _, imported := range p.Imports {
			for mod, folders := range foreign {
				if within(imported, mod) && !anyWithin(path, folders) {
					t.Errorf("%s imports %s, which is allowed only under %v", path, imported, folders)
				}
			}
			target, ours := strings.CutPrefix(imported, module)
			if !ours || p.Name == "main" || anyWithin(path, roots) || leaves[target] {
				continue
			}
			if anyWithin(target, roots) {
				t.Errorf("%s imports %s, which only main packages and %v may import", path, target, roots)
			}
			if allowed := rule(path); !anyRoom(target, allowed, path) {
				t.Errorf("%s imports %s; it may import only %v", path, target, allowed)
			}
		}
		if path == "gateway" {
			for _, dep := range p.Deps {
				if within(dep, "github.com/tetratelabs/wazero") || within(dep, "github.com/fastschema/qjs") {
					t.Errorf("gateway links %s", dep)
				}
			}
		}
	}
}

func rule(path string) []string {
	best, allowed := -1, []string(nil)
	for room, a := range rooms {
		if within(path, room) && len(room) > best {
			best, allowed = len(room), a
		}
	}
	return allowed
}

// anyRoom matches whole rooms: "policy" does not stand for "policy/audit", while "gateway", "infra" and "sandbox" stand
// for all that lies below them. A package may import its own subpackages.
func anyRoom(target string, allowed []string, self string) bool {
	if within(target, self) {
		return self != "policy" || !within(target, "policy/audit")
	}
	for _, a := range allowed {
		if target == a || (a == "gateway" || a == "infra" || a == "sandbox") && within(target, a) {
			return true
		}
	}
	return false
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func anyWithin(path string, folders []string) bool {
	for _, f := range folders {
		if within(path, f) {
			return true
		}
	}
	return false
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps=false", "-json=ImportPath,Name,Imports,Deps", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

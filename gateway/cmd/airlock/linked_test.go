package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// largest is how many bytes each program may have: a few percent more than it has.
var largest = map[string]int64{"gateway/cmd/airlock": 66e6, "functions/lambda": 39e6}

// TestUnusedMethodsAreNotLinked links the programs as make build does. If one of them calls a method by a name that is
// only known as it runs, which text/template and net/rpc do, the linker keeps every exported method of every type: a
// quarter of the program. The test names the way from main to the function that does it.
func TestUnusedMethodsAreNotLinked(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" || runtime.GOOS != "linux" {
		t.Skip("the size is that of linux/amd64")
	}
	for name, limit := range largest {
		program := filepath.Join(t.TempDir(), "program")
		cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-tags", tags(t),
			"-ldflags", "-s -w -dumpdep", "-o", program, "./"+name)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		edges, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, edges[max(0, len(edges)-4096):])
		}
		if way := wayToReflection(edges); way != nil {
			t.Errorf("%s keeps the methods of all types:\n\t%s", name, strings.Join(way, "\n\t"))
		}
		info, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		if t.Logf("%s has %d bytes", name, info.Size()); info.Size() > limit {
			t.Errorf("%s has %d bytes, more than %d", name, info.Size(), limit)
		}
	}
}

// tags returns the build tags of make build, and checks that the packages of a release are built with the same ones.
func tags(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^TAGS\s*:= (\S+)$`).FindSubmatch(read(t, "Makefile"))
	if found == nil {
		t.Fatal("the Makefile has no TAGS")
	}
	for _, file := range []string{
		".goreleaser.yaml", "infra/deploy/Dockerfile", "infra/deploy/pack/target.go", "infra/deploy/sbom/module.go",
	} {
		if !bytes.Contains(read(t, file), found[1]) {
			t.Errorf("%s does not build with the tags %s of the Makefile", file, found[1])
		}
	}
	return string(found[1])
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// wayToReflection returns the functions from the first one to one that calls methods by name, and nil if there is none.
// edges are what the linker's flag -dumpdep prints: "caller -> function", with a mark behind such a function.
func wayToReflection(edges []byte) []string {
	const mark = " <ReflectMethod>"
	callers := map[string]string{} // the first caller of each function, because the linker goes by distance
	var way []string
	for line := range strings.Lines(string(edges)) {
		caller, function, ok := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), " <UsedInIface>", ""), " -> ")
		if !ok {
			continue
		}
		name, found := strings.CutSuffix(function, mark)
		if caller = strings.TrimSuffix(caller, mark); callers[name] == "" {
			callers[name] = caller
		}
		if found && way == nil {
			way = []string{name}
		}
	}
	for way != nil && !slices.Contains(way, callers[way[0]]) && callers[way[0]] != "" {
		way = slices.Insert(way, 0, callers[way[0]])
	}
	return way
}

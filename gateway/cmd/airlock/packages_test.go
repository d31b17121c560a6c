package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

const clientKey = "sk-of-the-client-tests"

// clientGateway starts a gateway for the tests of a client, and returns the environment that they find it by.
func clientGateway(t *testing.T) []string {
	t.Helper()
	p := start(t, "API_KEY="+clientKey, "RATE_LIMIT_MAX_REQUESTS=10000")
	return append(os.Environ(), "AIRLOCK_URL="+p.url, "AIRLOCK_TOKEN="+clientKey)
}

// builtClient returns the TypeScript client as JavaScript modules. make clients checks its types, too.
func builtClient(t *testing.T) string {
	t.Helper()
	dist := t.TempDir()
	root := filepath.Join(repository, "gateway/client/typescript/src")
	sources, err := filepath.Glob(filepath.Join(root, "*.ts"))
	if err != nil || len(sources) == 0 {
		t.Fatal("no sources", err)
	}
	adapters, err := filepath.Glob(filepath.Join(root, "adapters/*.ts"))
	if err != nil || len(adapters) == 0 {
		t.Fatal("no adapters", err)
	}
	built := api.Build(api.BuildOptions{EntryPoints: append(sources, adapters...), Outdir: dist, Outbase: root,
		Write: true, Format: api.FormatESModule})
	for _, e := range built.Errors {
		t.Fatal(e.Location, e.Text)
	}
	if err := os.WriteFile(filepath.Join(dist, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dist, "index.js")
}

// runtimes run the tests of the TypeScript client. A runtime that is not installed is left out; make clients has all.
var runtimes = map[string][]string{"node": nil, "deno": {"run", "-A"}, "bun": {"run"}}

func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	folder, err := filepath.Abs(filepath.Join(repository, "gateway/client/typescript/test"))
	if err != nil {
		t.Fatal(err)
	}
	for name, arguments := range runtimes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(name)
			if err != nil {
				t.Skip(name + " is not installed; make clients tests the client on it")
			}
			environment := append(clientGateway(t), "AIRLOCK_CLIENT=file://"+builtClient(t))
			for _, tests := range []string{"client.mjs", "hostile.mjs"} {
				given := slices.Concat(arguments, []string{filepath.Join(folder, tests)})
				cmd := exec.CommandContext(t.Context(), program, given...)
				cmd.Env = environment
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			}
		})
	}
}

// The TypeScript client works in Workers: workerd, their runtime, loads its modules and its tests.
func TestTypeScriptClientInWorkers(t *testing.T) {
	t.Parallel()
	workerd, err := exec.LookPath("workerd")
	if err != nil {
		t.Skip("workerd is not installed; make clients tests the client on it")
	}
	gateway := start(t, "API_KEY="+clientKey, "RATE_LIMIT_MAX_REQUESTS=10000")
	tests, err := filepath.Abs(filepath.Join(repository, "gateway/client/typescript/test"))
	if err != nil {
		t.Fatal(err)
	}
	built, err := filepath.Glob(filepath.Join(filepath.Dir(builtClient(t)), "*.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"client.mjs", "hostile.mjs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			var modules []string
			add := func(name, file string) {
				modules = append(modules, fmt.Sprintf("(name = %q, esModule = embed %q)", name, name))
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				at := filepath.Join(folder, name)
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			add(name, filepath.Join(tests, name))
			add("report.mjs", filepath.Join(tests, "report.mjs"))
			for _, file := range built {
				add("airlock-client/"+filepath.Base(file), file)
			}
			config := fmt.Sprintf(`using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "tests", worker = .tests),
    (name = "network", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "tests")],
);
const tests :Workerd.Worker = (
  modules = [%s],
  bindings = [
    (name = "AIRLOCK_URL", text = %q),
    (name = "AIRLOCK_TOKEN", text = %q),
    (name = "AIRLOCK_CLIENT", text = "airlock-client/index.js"),
  ],
  globalOutbound = "network",
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["nodejs_compat"],
);
`, strings.Join(modules, ", "), gateway.url, clientKey)
			file := filepath.Join(folder, "config.capnp")
			if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, workerd, "serve", "--control-fd=3", file)
			cmd.ExtraFiles, cmd.Stderr = []*os.File{w}, os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Wait() }) // ends with the context
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			var listening struct{ Port int }
			if err := json.NewDecoder(r).Decode(&listening); err != nil {
				t.Fatal(err)
			}
			address := fmt.Sprintf("http://127.0.0.1:%d/", listening.Port)
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("%d %v\n%s", res.StatusCode, err, text)
			}
		})
	}
}

// The adapters work with the published packages of their frameworks, which make clients installs.
func TestFrameworkAdapters(t *testing.T) {
	t.Parallel()
	folder, err := filepath.Abs(filepath.Join(repository, "gateway/client/typescript"))
	if err != nil {
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	packages := filepath.Join(folder, "node_modules")
	if _, err := os.Stat(filepath.Join(packages, "@cloudflare/codemode")); err != nil {
		t.Skip("the packages of the frameworks are not installed; make clients installs them")
	}
	built := builtClient(t)
	if err := os.Symlink(packages, filepath.Join(filepath.Dir(built), "node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join(folder, "test/adapters.mjs"))
	cmd.Env = append(clientGateway(t), "AIRLOCK_CLIENT=file://"+built)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// python returns a Python that has httpx.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		const probe = "import sys, httpx; assert sys.version_info >= (3, 10)"
		if exec.CommandContext(t.Context(), name, "-c", probe).Run() == nil {
			return name
		}
	}
	t.Skip("there is no Python 3.10 with httpx (Debian: python3-httpx)")
	return ""
}

func TestPythonClient(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), python(t), "-B", "-W", "error", "-m", "unittest", "discover", "-s", "tests",
		"-t", ".")
	cmd.Dir = filepath.Join(repository, "gateway/client/python")
	cmd.Env = append(clientGateway(t), "PYTHONPATH=.")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "OK") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Every name that the Python client exports has a known type: pyright says how many have not.
func TestPythonClientTypes(t *testing.T) {
	t.Parallel()
	pyright, err := exec.LookPath("pyright")
	if err != nil {
		t.Skip("pyright is not installed; make clients checks the types with it")
	}
	interpreter, err := exec.LookPath(python(t))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), pyright, "--pythonpath", interpreter, "--verifytypes", "airlock_client",
		"--ignoreexternal")
	cmd.Dir = filepath.Join(repository, "gateway/client/python")
	cmd.Env = append(os.Environ(), "PYTHONPATH=.")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Type completeness score: 100%") {
		t.Errorf("%v\n%s", err, out)
	}
}

// quickStart returns the program of a README, which calls the gateway at url, and what it prints.
func quickStart(t *testing.T, readme, language, url string) (program, want string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, readme))
	if err != nil {
		t.Fatal(err)
	}
	const local = "http://127.0.0.1:3000"
	for _, s := range snippets(string(text)) {
		switch {
		case s.language == language && program == "":
			program = strings.Replace(s.text, local+`"`, url+`"`, 1)
		case s.language == "text" && want == "":
			want = s.text
		}
	}
	if program == "" || want == "" || strings.Contains(program, local) {
		t.Fatal(readme, "has no quick start")
	}
	return program, want
}

// installPackage installs the package that npm pack has made, as the README says.
func installPackage(t *testing.T, dir, packages string) {
	t.Helper()
	made, err := filepath.Glob(filepath.Join(packages, "airlock-client-*.tgz"))
	if err != nil || len(made) != 1 {
		t.Fatal(packages, "holds", made, err)
	}
	cmd := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", made[0])
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// The programs of the quick starts run from an empty folder, with the package installed beside them, or its module.
func TestClientQuickStarts(t *testing.T) {
	t.Parallel()
	p := start(t)
	for readme, c := range map[string]struct {
		language, file string
		command        func(t *testing.T, dir string) *exec.Cmd
	}{
		"gateway/client/typescript/README.md": {"js", "start.mjs", func(t *testing.T, dir string) *exec.Cmd {
			node, err := exec.LookPath("node")
			if err != nil {
				t.Skip("node is not installed")
			}
			if packages := os.Getenv("CLIENT_PACKAGES"); packages != "" {
				installPackage(t, dir, packages)
				return exec.CommandContext(t.Context(), node, "start.mjs")
			}
			installed := filepath.Join(dir, "node_modules/airlock-client")
			if err := os.MkdirAll(installed, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Dir(builtClient(t)), filepath.Join(installed, "dist")); err != nil {
				t.Fatal(err)
			}
			manifest, err := os.ReadFile(filepath.Join(repository, "gateway/client/typescript/package.json"))
			if err == nil {
				err = os.WriteFile(filepath.Join(installed, "package.json"), manifest, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			return exec.CommandContext(t.Context(), node, "start.mjs")
		}},
		"gateway/client/python/README.md": {"python", "start.py", func(t *testing.T, dir string) *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), python(t), "-B", "start.py")
			packages, err := filepath.Abs(filepath.Join(repository, "gateway/client/python"))
			if err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(os.Environ(), "PYTHONPATH="+packages)
			return cmd
		}},
		"gateway/client/go/README.md": {"go", "start.go", func(t *testing.T, dir string) *exec.Cmd {
			root, err := filepath.Abs(repository)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "go", "-C", root, "run", filepath.Join(dir, "start.go"))
			cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false")
			return cmd
		}},
	} {
		t.Run(c.language, func(t *testing.T) {
			program, want := quickStart(t, readme, c.language, p.url)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := c.command(t, dir)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
				t.Errorf("%v\n%s\nwant %s", err, out, want)
			}
		})
	}
}

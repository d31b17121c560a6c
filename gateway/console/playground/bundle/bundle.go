package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/airlock-run/airlock/gateway/console/playground/bundle/registry"
)

// licences are those that a bundle may be served under. A person must look at any other one.
var licences = []string{"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}

// sources are the files of this repository that go into the bundle.
var sources = []string{"editor.js", "declared.js"}

// bundle makes room/bundled of room/bundle/editor.
func bundle(ctx context.Context, room string, getenv func(string) string, stdout io.Writer) (err error) {
	source := filepath.Join(room, "bundle", "editor")
	lock, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		return fmt.Errorf("%w; run it from the root of the checkout", err)
	}
	packages, err := registry.ReadLock(lock)
	if err != nil {
		return err
	}
	from, err := origin(getenv)
	if err != nil {
		return err
	}
	archives, err := from.Fetch(ctx, packages)
	if err != nil {
		return err
	}
	// Outside the checkout, so that no other node_modules is searched.
	dir, err := os.MkdirTemp("", "airlock-editor-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // esbuild names files by their real paths
		return err
	}
	if err := lay(dir, source, packages, archives); err != nil {
		return err
	}
	script, used, err := build(dir)
	if err != nil {
		return err
	}
	notice, err := noticeOf(dir, packages, used)
	if err != nil {
		return err
	}
	out := filepath.Join(room, "bundled")
	// The script comes last, because make compares its age.
	if err := replace(filepath.Join(out, "licences.txt"), notice); err != nil {
		return err
	}
	if err := replace(filepath.Join(out, "editor.js"), script); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "bundle: the editor of %d packages, %d KiB\n", len(used), len(script)>>10)
	return err
}

// origin returns where packages come from, by the environment.
func origin(getenv func(string) string) (registry.Source, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return registry.Source{}, fmt.Errorf("%w; set XDG_CACHE_HOME or HOME", err)
	}
	from := registry.Source{Cache: filepath.Join(cache, "airlock", "npm"), URL: getenv("npm_config_registry")}
	if from.URL == "" {
		from.URL = getenv("NPM_CONFIG_REGISTRY")
	}
	if npm, err := exec.LookPath("npm"); err == nil {
		from.NPM = npm
	}
	return from, nil
}

// lay puts the packages and our sources where esbuild looks for them.
func lay(dir, source string, packages []registry.Package, archives [][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it only held the folder open
	for i, p := range packages {
		if err := registry.Unpack(archives[i], root, "node_modules/"+p.Name); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	for _, name := range sources {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return err
		}
		if err := root.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// build returns the script and the names of the packages that are in it.
func build(dir string) ([]byte, []string, error) {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, EntryPoints: []string{"editor.js"}, Outfile: "out.js", Write: false, Bundle: true, Metafile: true,
		Format: api.FormatESModule, Platform: api.PlatformBrowser, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		Banner: map[string]string{
			"js": "/* CodeMirror and what it needs; their licences are in licences.txt. */",
		}, TsconfigRaw: "{}", LogLevel: api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		return nil, nil, fmt.Errorf("esbuild: %s", result.Errors[0].Text)
	}
	var meta struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return nil, nil, fmt.Errorf("read what esbuild used: %w", err)
	}
	var used []string
	for input := range meta.Inputs {
		if slices.Contains(sources, input) {
			continue
		}
		path, ok := strings.CutPrefix(input, "node_modules/")
		parts := strings.SplitN(path, "/", 3)
		if !ok || len(parts) < 2 {
			return nil, nil, fmt.Errorf("esbuild used %s, which the lock does not pin", input)
		}
		name := parts[0]
		if strings.HasPrefix(name, "@") {
			name += "/" + parts[1]
		}
		used = append(used, name)
	}
	slices.Sort(used)
	return result.OutputFiles[0].Contents, slices.Compact(used), nil
}

// noticeOf returns the licences of the packages that are used.
func noticeOf(dir string, packages []registry.Package, used []string) ([]byte, error) {
	var notice strings.Builder
	notice.WriteString("The playground's editor contains the following packages.\n")
	for _, p := range packages {
		if !slices.Contains(used, p.Name) {
			continue
		}
		if !slices.Contains(licences, p.Licence) {
			return nil, fmt.Errorf("%s is under %q, which is not one of %s", p.Name, p.Licence, strings.Join(licences, ", "))
		}
		text, err := licence(filepath.Join(dir, "node_modules", filepath.FromSlash(p.Name)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		fmt.Fprintf(
			&notice, "\n%s\n%s %s (%s)\n\n%s\n", strings.Repeat("-", 72), p.Name, p.Version, p.Licence,
			strings.TrimSpace(string(text)),
		)
	}
	return []byte(notice.String()), nil
}

func licence(dir string) ([]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		stem, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		if stem == "LICENSE" || stem == "LICENCE" {
			return os.ReadFile(filepath.Join(dir, e.Name()))
		}
	}
	return nil, errors.New("it has no licence file")
}

// replace writes a file, whole or not at all.
func replace(name string, content []byte) error {
	temp := name + ".new"
	if err := os.WriteFile(temp, content, 0o644); err != nil { // it is served to everybody
		return err
	}
	return os.Rename(temp, name)
}

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/airlock-run/airlock/gateway/console/bundle/registry"
)

// licences are those that a bundle may be served under. A person must look at any other one.
var licences = []string{"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}

// A product is what is made of one folder of sources: a script of one entry point, the style sheet that it imports, and
// the licences of what is in them.
type product struct {
	// Source has package.json, package-lock.json and our own files; Out takes the product.
	Source, Out string
	// Title names it in the notice and in messages.
	Title string
	// Own are our files. The first one is the entry point and names the product.
	Own []string
}

// products returns all products, with paths below the root of the checkout.
func products() []product {
	return []product{
		{"gateway/console/bundle/editor", "gateway/console/playground/bundled", "the playground's editor",
			[]string{"editor.js", "declared.js"}},
		{"gateway/console/bundle/viewer", "gateway/console/apidocs/bundled", "the viewer of the API's description",
			[]string{"viewer.js"}},
	}
}

// make makes the product.
func (p product) make(ctx context.Context, getenv func(string) string, stdout io.Writer) (err error) {
	lock, err := os.ReadFile(filepath.Join(p.Source, "package-lock.json"))
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
	dir, err := os.MkdirTemp("", "airlock-bundle-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // esbuild names files by their real paths
		return err
	}
	if err := p.lay(dir, packages, archives); err != nil {
		return err
	}
	files, used, err := p.build(dir)
	if err != nil {
		return err
	}
	notice, err := p.notice(dir, packages, used)
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(p.Out, "licences.txt"), notice); err != nil {
		return err
	}
	size := 0
	for _, f := range files { // the script comes last, because make compares its age
		content, err := compressed(f.content)
		if err != nil {
			return err
		}
		size += len(content)
		name := filepath.Join(p.Out, f.name)
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) { // of a build before they were compressed
			return err
		}
		if err := replace(name+".gz", content); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(stdout, "bundle: %s, %d KiB\n", p.Title, size>>10)
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
func (p product) lay(dir string, packages []registry.Package, archives [][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it only held the folder open
	for i, pinned := range packages {
		if err := registry.Unpack(archives[i], root, "node_modules/"+pinned.Name); err != nil {
			return fmt.Errorf("%s: %w", pinned.Name, err)
		}
	}
	for _, name := range p.Own {
		text, err := os.ReadFile(filepath.Join(p.Source, name))
		if err != nil {
			return err
		}
		if err := root.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// An output is a file of a product.
type output struct {
	name    string
	content []byte
}

// build returns the files, with the script last, and the files of packages that are in them.
func (p product) build(dir string) ([]output, []string, error) {
	script := p.Own[0]
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, EntryPoints: []string{script},
		Outfile: "out/" + script, Write: false, Bundle: true, Metafile: true,
		Format: api.FormatESModule, Platform: api.PlatformBrowser, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		Banner: map[string]string{
			"js": "/* The licences of what is in here are in licences.txt. */",
		}, Loader: map[string]api.Loader{".css": api.LoaderCSS}, TsconfigRaw: "{}", LogLevel: api.LogLevelSilent,
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
		if slices.Contains(p.Own, input) {
			continue
		}
		if packageOf(input) == "" {
			return nil, nil, fmt.Errorf("esbuild used %s, which the lock does not pin", input)
		}
		used = append(used, input)
	}
	slices.Sort(used)
	var files []output
	for _, f := range result.OutputFiles {
		files = append(files, output{filepath.Base(f.Path), f.Contents})
	}
	slices.SortFunc(files, func(a, b output) int { // style sheets before the script
		return cmp.Compare(path.Ext(a.name), path.Ext(b.name))
	})
	return files, used, nil
}

// packageOf returns the name of the package that a file of node_modules belongs to, and "" for another file.
func packageOf(file string) string {
	name, ok := strings.CutPrefix(file, "node_modules/")
	parts := strings.SplitN(name, "/", 3)
	switch {
	case !ok || len(parts) < 2:
		return ""
	case strings.HasPrefix(name, "@"):
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// notice returns the licences of the packages that the used files belong to.
func (p product) notice(dir string, packages []registry.Package, used []string) ([]byte, error) {
	var notice strings.Builder
	fmt.Fprintf(&notice, "This is what %s contains.\n", p.Title)
	for _, pinned := range packages {
		own := slices.DeleteFunc(slices.Clone(used), func(file string) bool { return packageOf(file) != pinned.Name })
		if len(own) == 0 {
			continue
		}
		if !slices.Contains(licences, pinned.Licence) {
			return nil, fmt.Errorf("%s is under %q, which is not one of %s", pinned.Name, pinned.Licence,
				strings.Join(licences, ", "))
		}
		text, err := licenceOf(dir, pinned.Name, own)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pinned.Name, err)
		}
		fmt.Fprintf(
			&notice, "\n%s\n%s %s (%s)\n\n%s\n", strings.Repeat("-", 72), pinned.Name, pinned.Version, pinned.Licence, text,
		)
	}
	return []byte(notice.String()), nil
}

// licenceOf returns the licence of a package, its notice, and the licences that its authors put beside a file that they
// bundled themselves.
func licenceOf(dir, name string, used []string) (string, error) {
	folder := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, wanted := range [][]string{{"LICENSE", "LICENCE"}, {"NOTICE"}} {
		for _, e := range entries {
			stem, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
			if !slices.Contains(wanted, stem) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				return "", err
			}
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
	if len(texts) == 0 {
		return "", errors.New("it has no licence file")
	}
	for _, file := range used {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)+".LICENSE.txt"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if len(text) > 0 {
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// compressed returns content as it is embedded and served. It has no time, so that the same content gives the same
// bytes.
func compressed(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// replace writes a file, whole or not at all.
func replace(name string, content []byte) error {
	temp := name + ".new"
	if err := os.WriteFile(temp, content, 0o644); err != nil { // it is served to everybody
		return err
	}
	return os.Rename(temp, name)
}

// Command bundle writes temporal_bundle.js and streams_bundle.js, files of the guest's library, of the npm packages
// that package-lock.json pins. Run it from the root of the checkout after a change of the lock:
//
//	(cd sandbox/stdlib/bundle && npm ci --ignore-scripts) && go run ./sandbox/stdlib/bundle
//
// The same lock produces the same bytes. Nothing imports it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const source = "sandbox/stdlib/bundle"

// A bundle is a file of the library that a package makes.
type bundle struct {
	target, name string
	// entry has what the library needs of the package.
	entry string
	// makes is the beginning of the function that evaluates the package.
	makes   string
	options api.BuildOptions
}

var bundles = []bundle{
	{
		target: "sandbox/stdlib/temporal_bundle.js",
		name:   "temporal-polyfill",
		entry:  `export { Temporal, Intl, toTemporalInstant } from "temporal-polyfill";`,
		makes:  "internal.makeTemporal = () =>",
		options: api.BuildOptions{
			MinifyIdentifiers: true,
			// With a process, the package adds no property for debuggers to each value.
			Define: map[string]string{"globalThis.process": "true", "globalThis.Temporal": "undefined"},
		},
	},
	{
		target: "sandbox/stdlib/streams_bundle.js",
		name:   "readable-stream",
		// ours/index.js would take the stream of the Node that it runs on, so the entry names the files behind it.
		entry: `import stream from "readable-stream/lib/stream.js";
			import utils from "readable-stream/lib/internal/streams/utils.js";
			import validators from "readable-stream/lib/internal/validators.js";
			import lazy from "readable-stream/lib/internal/streams/lazy_transform.js";
			export { stream, utils, validators, lazy };`,
		makes: "internal.makeStreams = (own) =>",
		options: api.BuildOptions{
			// Guests see the names of functions.
			Plugins: []api.Plugin{ownModules, patched},
		},
	},
}

// patched reads the files of readable-stream that have patches.
var patched = api.Plugin{Name: "patched", Setup: func(build api.PluginBuild) {
	of := api.OnLoadOptions{Filter: `/readable-stream/lib/.*\.js$`}
	build.OnLoad(of, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		content, err := os.ReadFile(args.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		text, name := string(content), filepath.Base(args.Path)
		for _, p := range streamPatches {
			if p.file != name {
				continue
			}
			if n := strings.Count(text, p.before); n != 1 {
				return api.OnLoadResult{}, fmt.Errorf("%s has %q %d times", name, p.before, n)
			}
			text = strings.Replace(text, p.before, p.after, 1)
		}
		return api.OnLoadResult{Contents: &text}, nil
	})
}}

// ownModules replaces the modules that the library has itself by members of own.
var ownModules = api.Plugin{Name: "own", Setup: func(build api.PluginBuild) {
	const wanted = `^(events|buffer|string_decoder/|process/|abort-controller|\.\./crypto/util|(.*/)?ours/(errors|util))$`
	build.OnResolve(api.OnResolveOptions{Filter: wanted}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		name := strings.TrimSuffix(args.Path, "/")
		return api.OnResolveResult{Path: name[strings.LastIndex(name, "/")+1:], Namespace: "own"}, nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "own"}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		text := fmt.Sprintf("module.exports = own[%q];", args.Path)
		return api.OnLoadResult{Contents: &text}, nil
	})
}}

func main() {
	for _, b := range bundles {
		text, err := b.text(source)
		if err == nil {
			err = os.WriteFile(b.target, text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bundle:", err)
			os.Exit(1)
		}
	}
}

// text returns the file for the packages below dir.
func (b bundle) text(dir string) ([]byte, error) {
	header, err := header(dir, b.name)
	if err != nil {
		return nil, err
	}
	working, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	options := b.options
	options.Stdin = &api.StdinOptions{Contents: b.entry, ResolveDir: working}
	options.Bundle, options.Format, options.GlobalName, options.Target = true, api.FormatIIFE, "bundled", api.ES2022
	options.MinifyWhitespace, options.MinifySyntax, options.LineLimit = true, true, 120
	options.LegalComments, options.AbsWorkingDir = api.LegalCommentsNone, working
	built := api.Build(options)
	if len(built.Errors) > 0 {
		return nil, errors.New(built.Errors[0].Text)
	}
	code := strings.TrimSuffix(string(built.OutputFiles[0].Contents), "\n")
	return []byte(header + "(host, internal) => {\n" + b.makes + " {\n" + code +
		"\nreturn bundled;\n};\nreturn internal;\n}\n"), nil
}

// header returns the comment that says what the file is, with the licence of the package.
func header(dir, name string) (string, error) {
	lock, err := pinned(dir, name)
	if err != nil {
		return "", err
	}
	licence, err := os.ReadFile(filepath.Join(dir, "node_modules", name, "LICENSE"))
	if err != nil {
		return "", fmt.Errorf("%w; run npm ci --ignore-scripts in %s first", err, dir)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "// Code generated by go run ./sandbox/stdlib/bundle. DO NOT EDIT.\n// %s\n//\n", lock)
	for line := range strings.Lines(string(licence)) {
		out.WriteString(strings.TrimRight("// "+line, " \n") + "\n")
	}
	return out.String(), nil
}

// pinned returns the name, version and hash of a package that the lock in dir pins.
func pinned(dir, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return "", err
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return "", fmt.Errorf("package-lock.json: %w", err)
	}
	p, ok := lock.Packages["node_modules/"+name]
	if !ok {
		return "", fmt.Errorf("package-lock.json: no package %s", name)
	}
	return name + " " + p.Version + " " + p.Integrity, nil
}

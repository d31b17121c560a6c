package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// keptEngine returns an engine with a cache folder.
func keptEngine(t testing.TB, dir string) *sandbox.Engine {
	t.Helper()
	e, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: dir, EngineBuild: testBuild, SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// kept lists the images of packages in a folder.
func kept(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "package-*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestPackagesAreKept checks that a second engine finds the images that the first has prepared, even when the folder is
// gone, and that no other image, and no altered one, takes their place.
func TestPackagesAreKept(t *testing.T) {
	dir := t.TempDir()
	packages := somePackages()
	grants := sandbox.Grants{Packages: packages, Modules: []string{"path"}}
	first := keptEngine(t, dir)
	if err := first.PreparePackages(t.Context(), grants); err != nil {
		t.Fatal(err)
	}
	files := kept(t, dir)
	if want := 2 * 6; len(files) != want { // plain, @s/es, dual, keeps, eval and global, imported and required
		t.Errorf("%d images, want %d", len(files), want)
	}
	const code = `import p from "plain"; [p.count(), p.count()]`
	want := run(t, first, sandbox.Script{Code: code}, grants)

	evaluated := 0
	counted := func(p sandbox.Package) sandbox.Package {
		tree := p.Tree
		p.Tree = func() (map[string][]byte, error) { evaluated++; return tree() }
		return p
	}
	again := grants
	again.Packages = nil
	for _, p := range packages {
		again.Packages = append(again.Packages, counted(p))
	}
	check := func(name string, e *sandbox.Engine, g sandbox.Grants, code, value string, evaluations int) {
		t.Helper()
		evaluated = 0
		for _, owner := range []string{"a", "b"} {
			r := run(t, e, sandbox.Script{Code: code, Owner: owner}, g)
			if string(r.Value) != value || r.Error != "" || r.PackagesCold != "" {
				t.Errorf("%s: %s %s %s", name, r.Value, r.Error, r.PackagesCold)
			}
		}
		if evaluated != evaluations {
			t.Errorf("%s: %d packages were evaluated, want %d", name, evaluated, evaluations)
		}
	}
	check("kept", keptEngine(t, dir), again, code, string(want.Value), 0)
	check("required", keptEngine(t, dir), again, `require("plain").count()`, "1", 0)
	check("the clock", keptEngine(t, dir), again,
		`import k from "keeps"; [Math.abs(Date.now() - k.start) < 60000, +k.when - k.start < 1000]`, "[true,true]", 0)
	check("two together", keptEngine(t, dir), again, `import p from "plain"; import f from "@s/es"; f() + p.count()`,
		`"default1"`, 4)
	other := again
	other.Eval = true
	check("other grants", keptEngine(t, dir), other, code, string(want.Value), 2)
	changed := again
	changed.Packages = []sandbox.Package{counted(packageOf("plain", "index.js", "exports.count = () => 7"))}
	check("another version", keptEngine(t, dir), changed, code, "[7,7]", 2)

	opened := keptEngine(t, dir)
	if err := opened.OpenPackages(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	originals := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		originals[file] = text
		if err = errors.Join(err, os.Remove(file)); err != nil {
			t.Fatal(err)
		}
	}
	check("opened before", opened, again, code, string(want.Value), 0)

	for name, damage := range map[string]func([]byte) []byte{
		"empty": func([]byte) []byte { return nil },
		"half":  func(b []byte) []byte { return b[:len(b)/2] },
		"altered": func(b []byte) []byte {
			b = bytes.Clone(b)
			b[len(b)/2] ^= 1
			return b
		},
		"another file": func([]byte) []byte { return []byte(strings.Repeat("x", 1000)) },
	} {
		for file, text := range originals {
			if err := os.WriteFile(file, damage(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e := keptEngine(t, dir)
		check(name, e, again, code, string(want.Value), 2)
		if err := e.PreparePackages(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		check(name+", prepared", keptEngine(t, dir), again, code, string(want.Value), 0)
	}
}

// TestImpurePackagesAreCompiledAhead checks that runs neither bundle nor compile a package that each of them evaluates,
// and that nothing passes from one evaluation to another.
func TestImpurePackagesAreCompiledAhead(t *testing.T) {
	dir := t.TempDir()
	const why = "it draws random numbers while it loads"
	p := packageOf("impure", "index.js", `
		console.log('loads');
		let n = 0;
		exports.id = Math.random();
		exports.count = () => ++n;
		exports.has = typeof input;`)
	p.Impure = why
	read, tree := 0, p.Tree
	p.Tree = func() (map[string][]byte, error) { read++; return tree() }
	grants := sandbox.Grants{Packages: []sandbox.Package{p}}
	if err := keptEngine(t, dir).PreparePackages(t.Context(), grants); err != nil {
		t.Fatal(err)
	}
	if n := len(kept(t, dir)); n != 2 {
		t.Errorf("%d images, want 2: imported and required", n)
	}
	e := keptEngine(t, dir)
	read = 0
	ids := map[string]int{}
	for _, seed := range []int64{1, 2, 1} {
		for _, code := range []string{
			"import { id, count, has } from 'impure'; [id, count(), count(), has]",
			"const { id, count, has } = require('impure'); [id, count(), count(), has]",
		} {
			r := run(t, e, sandbox.Script{Code: code, Seed: &seed, Input: []byte(`"given"`)}, grants)
			id, rest, _ := strings.Cut(strings.TrimPrefix(string(r.Value), "["), ",")
			if rest != `1,2,"string"]` || r.Output != "loads\n" {
				t.Errorf("%s %q %s", r.Value, r.Output, r.Error)
			}
			if r.PackagesCold != why || r.Pure {
				t.Errorf("%q, pure: %t", r.PackagesCold, r.Pure)
			}
			ids[fmt.Sprint(seed, " ", id)]++
		}
	}
	if read != 1 || len(ids) != 2 { // once, for what the manifest says about names
		t.Errorf("the files were read %d times, and the seeds gave %v", read, ids)
	}
}

// TestImpurePackagesByName checks that runs evaluate only what the names that they import need of a package, if its
// manifest allows that, and that scripts with the same names share what was compiled.
func TestImpurePackagesByName(t *testing.T) {
	e := newEngine(t)
	files := []string{
		"index.js", "export { a } from './a.js'; export { b } from './b.js'; import './c.js'; export default 7",
		"a.js", "globalThis.seen = (globalThis.seen ?? '') + 'a'; export const a = Math.random() < 2",
		"b.js", "globalThis.seen = (globalThis.seen ?? '') + 'b'; export const b = Math.random() < 2",
		"c.js", "globalThis.seen = (globalThis.seen ?? '') + 'c'; Math.random()"}
	for _, c := range []struct{ effects, code, value string }{
		{``, `import { a } from "p"; [a, seen]`, `[true,"abc"]`},
		{`, "sideEffects": true`, `import { a } from "p"; [a, seen]`, `[true,"abc"]`},
		{`, "sideEffects": false`, `import { a } from "p"; [a, seen]`, `[true,"a"]`},
		{`, "sideEffects": false`, `import { a as x } from "p"; [x, seen]`, `[true,"a"]`},
		{`, "sideEffects": false`, `import seven, { b } from "p"; [seven, b, seen]`, `[7,true,"b"]`},
		{`, "sideEffects": false`, `import { a } from "p"; import { b } from "p"; [a, b, seen]`, `[true,true,"ab"]`},
		{`, "sideEffects": false`, `import * as p from "p"; [p.b, seen]`, `[true,"abc"]`},
		{`, "sideEffects": false`, `const { b } = require("p"); [b, seen]`, `[true,"abc"]`},
		{`, "sideEffects": false`, `const { b } = await import("p"); [b, seen]`, `[true,"abc"]`},
		{`, "sideEffects": ["./c.js"]`, `import { b } from "p"; [b, seen]`, `[true,"bc"]`},
		{`, "sideEffects": [`, `import { b } from "p"; [b, seen]`, ``},
	} {
		p := packageOf("p", append([]string{"package.json", `{"name": "p"` + c.effects + `}`}, files...)...)
		p.Impure = "it draws random numbers while it loads"
		read, tree := 0, p.Tree
		p.Tree = func() (map[string][]byte, error) { read++; return tree() }
		for i := range 2 {
			read = 0
			r := run(t, e, sandbox.Script{Code: fmt.Sprintf("/* %d */ %s", i, c.code)},
				sandbox.Grants{Packages: []sandbox.Package{p}})
			if string(r.Value) != c.value || (r.Error == "") != (c.value != "") {
				t.Errorf("%s, %s: %s %s, want %s", c.effects, c.code, r.Value, r.Error, c.value)
			}
			if i > 0 && read > 0 && c.value != "" {
				t.Errorf("%s, %s: the files were read again", c.effects, c.code)
			}
		}
	}
}

// TestSpecifiersAreNoNames checks that the text of a specifier is not read as the names that code imports: it would
// become code of the image, or an image with other names than the code reads.
func TestSpecifiersAreNoNames(t *testing.T) {
	e := newEngine(t)
	impure := packageOf("p", "package.json", `{"type": "module", "sideEffects": false}`, "index.js",
		"export const a = Math.random() < 2", "sub.js", "export const s = 1")
	impure.Impure = "it draws random numbers while it loads"
	for _, code := range []string{
		"import * as q from 'p/sub.js {s}'; q", "import { s } from 'p/sub.js {s}'; s",
		"import { a } from 'p'; import * as q from 'p/sub.js {s}'; [a, q]", "const q = require('p/sub.js {s}'); q",
		"const q = await import('p/sub.js {s}'); q",
	} {
		r, err := e.Run(t.Context(), sandbox.Script{Code: code}, sandbox.Grants{Packages: []sandbox.Package{impure}})
		if err != nil || !strings.Contains(r.Error, "Cannot find package 'p/sub.js {s}'") ||
			!strings.Contains(r.Error, "it is installed, but has no such module") {
			t.Errorf("%s: %s, %q, %v", code, r.Value, r.Error, err)
		}
	}
}

// TestImpurePackagesFail checks what code sees of a package that fails while each run evaluates it.
func TestImpurePackagesFail(t *testing.T) {
	e := newEngine(t)
	for name, c := range map[string]struct{ text, why, code, want string }{
		"throws": {"Math.random(); throw new RangeError('broken')", "it draws random numbers while it loads",
			"import 'p'; 1", "RangeError: broken"},
		"rejects":    {"Math.random(); Promise.reject(new Error('nobody'))", "", "import 'p'; output = 1", ""},
		"no grammar": {"Math.random(); let let = 1", "it draws", "import 'p'; 1", "SyntaxError"},
		"no file":    {"Math.random(); require('./gone')", "it draws", "import 'p'; 1", "Cannot find module './gone'"},
		"no name": {"export const a = Math.random()", "it draws", "import { a, b } from 'p'; [typeof a, typeof b]",
			"SyntaxError: The requested module 'p' does not provide an export named 'b'"},
	} {
		t.Run(name, func(t *testing.T) {
			p := packageOf("p", "index.js", c.text)
			p.Impure = c.why
			r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{Packages: []sandbox.Package{p}})
			if (c.want == "") != (r.Error == "") || !strings.Contains(r.Error, c.want) {
				t.Errorf("%s %s, want %q", r.Value, r.Error, c.want)
			}
		})
	}
}

// TestPackageImagesAreBounded checks that old images leave the folder, and nothing else does.
func TestPackageImagesAreBounded(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int64, age time.Duration) string {
		name = filepath.Join(dir, name)
		err := os.WriteFile(name, nil, 0o600)
		if err == nil {
			err = os.Truncate(name, size) // a hole
		}
		if then := time.Now().Add(-age); err == nil {
			err = os.Chtimes(name, then, then)
		}
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	old := write("package-old", 300<<20, 2*time.Hour)
	recent := write("package-recent", 300<<20, time.Hour)
	mine := write("notes", 300<<20, 3*time.Hour)
	e := keptEngine(t, dir)
	if err := e.PreparePackages(t.Context(), sandbox.Grants{Packages: somePackages()[:1]}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{old: false, recent: true, mine: true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(kept(t, dir)); n != 3 {
		t.Errorf("%d images", n)
	}
}

// TestPackageImagesOfOtherBuild checks that a build of the engine finds only its own images.
func TestPackageImagesOfOtherBuild(t *testing.T) {
	dir := t.TempDir()
	grants := sandbox.Grants{Packages: somePackages()[:1]}
	n := 0
	for _, build := range sandbox.EngineBuilds() {
		e, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: dir, EngineBuild: build, SkipSelfTest: true})
		if err == nil {
			err = errors.Join(e.PreparePackages(t.Context(), grants), e.Close(context.Background()))
		}
		if err != nil {
			t.Fatal(err)
		}
		if n += 2; len(kept(t, dir)) != n {
			t.Errorf("%s: %d images, want %d", build, len(kept(t, dir)), n)
		}
	}
}

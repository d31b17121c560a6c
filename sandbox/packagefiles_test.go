package sandbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// readable returns p with the files of its tree to read, and with more, given by name and content in turn.
func readable(p sandbox.Package, more ...string) sandbox.Package {
	at := "node_modules/" + p.Name
	p.Files = func(place string, _ func(int) error) (map[string][]byte, error) {
		if place != at {
			return nil, nil //nolint:nilnil // there is none
		}
		tree, err := p.Tree()
		files := map[string][]byte{}
		for name, content := range tree {
			files[strings.TrimPrefix(name, at+"/")] = content
		}
		for i := 0; i < len(more); i += 2 {
			files[more[i]] = []byte(more[i+1])
		}
		return files, err
	}
	return p
}

// Packages read their own files while they load and later, and code reads the files of what it imports. Nothing
// changes them.
func TestPackageFiles(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	fonts := readable(packageOf("fonts", "index.js",
		"const fs = require('fs'); exports.font = (name) => fs.readFileSync(__dirname + '/data/' + name + '.afm', 'utf8')"),
		"data/a.afm", "font a", "data/b.afm", "font b")
	template := readable(packageOf("template", "index.js",
		"exports.text = require('fs').readFileSync(require.resolve('./part.js')).toString()", "part.js", "part()"))
	other := readable(packageOf("other", "index.js", "exports.a = 1"))
	grants := sandbox.Grants{Modules: []string{"*"}, Files: sandbox.FilesWrite,
		Packages: []sandbox.Package{fonts, template, other}}
	for _, c := range []struct{ name, code, value string }{
		{"a package reads while it runs", `import { font } from 'fonts'; font('b')`, `"font b"`},
		{"a package reads while it loads", `import { text } from 'template'; text`, `"part()"`},
		{"code reads", `import 'fonts'; import fs from 'node:fs';
			[fs.readFileSync('/node_modules/fonts/data/a.afm', 'utf8'), fs.readdirSync('/node_modules/fonts'),
			fs.readdirSync('node_modules/fonts/data'), fs.statSync('/node_modules/fonts/data').isDirectory(),
			fs.statSync('/node_modules/fonts/data/a.afm').size, fs.existsSync('/node_modules/fonts/c')]`,
			`["font a",["data","index.js"],["a.afm","b.afm"],true,6,false]`},
		{"what is not imported is not there", `import 'fonts'; import fs from 'node:fs';
			[fs.existsSync('/node_modules/other/index.js'), fs.existsSync('/node_modules/fonts/../other/index.js'),
			fs.existsSync('/node_modules/fonts/node_modules/fonts/index.js'), fs.existsSync('/node_modules')]`,
			`[false,false,false,false]`},
		{"nothing changes them", `import 'fonts'; import fs from 'node:fs'; const at = '/node_modules/fonts/';
			const code = (f) => { try { f(); return 'done' } catch (e) { return e.code } };
			[() => fs.writeFileSync(at + 'data/a.afm', 'x'), () => fs.writeFileSync(at + 'new', 'x'),
			() => fs.mkdirSync(at + 'd'), () => fs.rmSync(at, { recursive: true }),
			() => fs.unlinkSync(at + 'index.js'), () => fs.chmodSync(at + 'index.js', 0),
			() => fs.renameSync(at + 'index.js', '/x'), () => fs.truncateSync(at + 'index.js'),
			() => fs.copyFileSync(at + 'data/a.afm', '/a')].map(code).concat(fs.readFileSync('/a', 'utf8'),
			fs.readFileSync(at + 'data/a.afm', 'utf8'))`,
			`["EROFS","EROFS","EROFS","EROFS","EROFS","EROFS","EROFS","EROFS","done","font a","font a"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if r := run(t, e, sandbox.Script{Code: c.code}, grants); string(r.Value) != c.value {
				t.Errorf("%s %s\nwant %s", r.Error, r.Value, c.value)
			}
		})
	}
	// What packages read of themselves while they load is the same in each run. What they look for in vain is not.
	seeks := readable(packageOf("seeks", "index.js",
		"exports.a = require('fs').existsSync('/node_modules/seeks/config.json')"))
	lists := readable(packageOf("lists", "index.js", "exports.a = require('fs').readdirSync('/').length > 0"))
	grants.Packages = append(grants.Packages, seeks, lists)
	for name, cold := range map[string]string{
		"template": "", "fonts": "", "seeks": "it looks for a file while it loads (ENOENT)",
		"lists": "it uses files while it loads",
	} {
		r := run(t, e, sandbox.Script{Code: "import * as p from '" + name + "'; typeof p"}, grants)
		if r.PackagesCold != cold || string(r.Value) != `"object"` {
			t.Errorf("%s: %q, %s %s", name, r.PackagesCold, r.Error, r.Value)
		}
	}
	// Without the right to files there are none.
	without := grants
	without.Files = sandbox.FilesNone
	if r := run(t, e, sandbox.Script{Code: `import { font } from 'fonts'; font('a')`}, without); r.Error == "" {
		t.Errorf("read without the right: %s", r.Value)
	}
}

// The files that code looks at are charged to its memory.
func TestPackageFilesInMemory(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{}
	for i := range 200_000 {
		files[fmt.Sprint("folder", i%100, "/", i)] = nil
	}
	p := packageOf("many", "index.js", "exports.a = 1")
	p.Files = func(string, func(int) error) (map[string][]byte, error) { return files, nil }
	const code = `import 'many'; import fs from 'node:fs'; fs.existsSync('/node_modules/many/x')`
	r := run(t, newEngine(t), sandbox.Script{Code: code},
		sandbox.Grants{Modules: []string{"*"}, Files: sandbox.FilesRead, Packages: []sandbox.Package{p},
			Limits: sandbox.Limits{MemoryBytes: 32 << 20}})
	if r.Limit != sandbox.LimitMemory {
		t.Errorf("%d files: %s %s", len(files), r.Error, r.Value)
	}
}

// Unpacking obeys the limits of the run.
func TestPackageFilesWithoutEnd(t *testing.T) {
	t.Parallel()
	p := packageOf("large", "index.js", "exports.a = 1")
	p.Files = func(_ string, work func(int) error) (map[string][]byte, error) {
		for {
			if err := work(1 << 16); err != nil {
				return nil, fmt.Errorf("unpack: %w", err)
			}
		}
	}
	r := run(t, newEngine(t), sandbox.Script{Code: `import 'large'; require('fs').existsSync('/node_modules/large/x')`},
		sandbox.Grants{Modules: []string{"*"}, Files: sandbox.FilesRead, Packages: []sandbox.Package{p},
			Limits: sandbox.Limits{Wall: 100 * time.Millisecond}})
	if r.Limit != sandbox.LimitWall {
		t.Errorf("%s %s %s", r.Limit, r.Error, r.Value)
	}
}

package packages_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/infra/packages"
)

// archive returns an archive of files, given by path and content in turn.
func archive(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	for i := 0; i < len(pairs); i += 2 {
		head := &tar.Header{Name: pairs[i], Mode: 0o777, Size: int64(len(pairs[i+1])), Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(pairs[i+1], "-> "); ok {
			head.Typeflag, head.Linkname, head.Size = tar.TypeSymlink, target, 0
		}
		err := files.WriteHeader(head)
		if err == nil && head.Typeflag == tar.TypeReg {
			_, err = files.Write([]byte(pairs[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// registry is a stand-in of an npm registry.
type registry struct {
	*httptest.Server
	archives map[string][]byte                    // by path
	versions map[string]map[string]map[string]any // by name and version
	asked    []string
}

func newRegistry(t testing.TB) *registry {
	r := &registry{archives: map[string][]byte{}, versions: map[string]map[string]map[string]any{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.asked = append(r.asked, q.URL.Path)
		if archive := r.archives[q.URL.Path]; archive != nil {
			_, _ = w.Write(archive)
			return
		}
		versions := r.versions[strings.TrimPrefix(q.URL.Path, "/")]
		if versions == nil {
			http.NotFound(w, q)
			return
		}
		latest := slices.Max(slices.Collect(maps.Keys(versions)))
		_ = json.NewEncoder(w).Encode(map[string]any{"dist-tags": map[string]string{"latest": latest},
			"versions": versions})
	}))
	t.Cleanup(r.Close)
	return r
}

// publish adds a version with what it needs, name and range in turn. Its archive has one file besides package.json.
func (r *registry) publish(t testing.TB, name, version string, needs ...string) map[string]any {
	t.Helper()
	content := archive(t, "package/package.json", `{"name":"`+name+`"}`, "package/index.js",
		"module.exports = '"+name+"@"+version+"'")
	dependencies := map[string]string{}
	for i := 0; i < len(needs); i += 2 {
		dependencies[needs[i]] = needs[i+1]
	}
	path := "/" + name + "/-/" + filepath.Base(name) + "-" + version + ".tgz"
	r.archives[path] = content
	sum := sha512.Sum512(content)
	release := map[string]any{"dependencies": dependencies, "dist": map[string]string{"tarball": r.URL + path,
		"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}}
	if r.versions[name] == nil {
		r.versions[name] = map[string]map[string]any{}
	}
	r.versions[name][version] = release
	return release
}

func open(t testing.TB, dir string) *packages.Store {
	t.Helper()
	s, err := packages.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// add adds packages and saves them.
func add(t testing.TB, s *packages.Store, r *registry, specs ...string) *packages.Store {
	t.Helper()
	next, err := s.Add(t.Context(), &packages.Registry{URL: r.URL}, specs)
	if err == nil {
		err = next.Save()
	}
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// contents returns the contents of the index files of a tree by their folders.
func contents(t testing.TB, s *packages.Store, name string) map[string]string {
	t.Helper()
	tree, err := s.Tree(name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for path, content := range tree {
		if dir, ok := strings.CutSuffix(path, "/index.js"); ok {
			out[dir] = strings.Trim(strings.TrimPrefix(string(content), "module.exports = "), "'")
		}
	}
	return out
}

func TestAdd(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.publish(t, "a", "1.0.0", "b", "^1.0.0", "c", "~2.1.0 || ^3")
	r.publish(t, "a", "1.4.2", "b", "^1.0.0", "c", "~2.1.0 || ^3")
	r.publish(t, "a", "2.0.0", "b", ">=2 <3")
	r.publish(t, "b", "1.1.0", "c", "2.x")
	r.publish(t, "b", "1.2.0-beta.1")
	r.publish(t, "b", "2.0.1")
	r.publish(t, "c", "2.1.7", "a", "*") // a cycle
	r.publish(t, "c", "3.0.0", "a", "*")
	r.publish(t, "@s/d", "1.0.0", "other", "npm:b@2")
	dir := t.TempDir()
	s := add(t, open(t, dir), r, "a@1", "@s/d")
	want := map[string]string{"node_modules/a": "a@1.4.2", "node_modules/b": "b@1.1.0", "node_modules/c": "c@3.0.0",
		"node_modules/b/node_modules/c": "c@2.1.7"}
	if diff := cmp.Diff(want, contents(t, s, "a")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"node_modules/@s/d": "@s/d@1.0.0", "node_modules/other": "b@2.0.1"},
		contents(t, s, "@s/d")); diff != "" {
		t.Error(diff)
	}

	// From the folder, without the registry.
	before := r.asked
	r.Close()
	again := open(t, dir)
	if err := errors.Join(again.Load(), os.RemoveAll(dir), again.Verify()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, contents(t, again, "a")); diff != "" || len(r.asked) != len(before) {
		t.Error(diff)
	}
	list := again.List()
	if diff := cmp.Diff(s.List(), list); diff != "" || len(list) != 2 {
		t.Fatalf("%d packages; the list differs (-before +after):\n%s", len(list), diff)
	}
	type entry struct {
		name, version, wanted string
		needs                 int
	}
	a := list[1]
	if got, want := (entry{a.Name, a.Version, a.Note.Range, a.Needs}), (entry{"a", "1.4.2", "1", 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !strings.HasPrefix(a.Integrity, "sha512-") {
		t.Errorf("the integrity is %q", a.Integrity)
	}
}

// A version that is added beside a package that needs another one leaves that package its own.
func TestAddReplacesWhatOthersNeed(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.publish(t, "x", "1.0.0")
	r.publish(t, "x", "2.0.0")
	r.publish(t, "needs", "1.0.0", "x", "^1")
	s := add(t, open(t, t.TempDir()), r, "needs")
	s = add(t, s, r, "x@2")
	want := map[string]string{"node_modules/needs": "needs@1.0.0", "node_modules/needs/node_modules/x": "x@1.0.0"}
	if diff := cmp.Diff(want, contents(t, s, "needs")); diff != "" {
		t.Error(diff)
	}
}

// Registries have packages whose dependencies are an empty list.
func TestAddWithEmptyLists(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	release := r.publish(t, "old", "1.0.0")
	for _, field := range []string{"dependencies", "optionalDependencies", "peerDependencies"} {
		release[field] = []string{}
	}
	s := add(t, open(t, t.TempDir()), r, "old")
	if list := s.List(); len(list) != 1 || list[0].Version != "1.0.0" {
		t.Errorf("%+v", list)
	}
}

func TestAddKeepsVersions(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.publish(t, "a", "1.0.0", "b", "^1.0.0")
	r.publish(t, "b", "1.0.0")
	dir := t.TempDir()
	add(t, open(t, dir), r, "a")
	r.publish(t, "a", "1.1.0", "b", "^1.0.0")
	r.publish(t, "b", "1.1.0")
	r.publish(t, "c", "1.0.0", "b", "^1.0.0")
	s := add(t, open(t, dir), r, "c")
	if diff := cmp.Diff(map[string]string{"node_modules/a": "a@1.0.0", "node_modules/b": "b@1.0.0"}, contents(t,
		s, "a")); diff != "" {
		t.Error(diff)
	}
	s = add(t, open(t, dir), r, "a@latest")
	if got := contents(t, s, "a"); got["node_modules/a"] != "a@1.1.0" {
		t.Error(got)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.publish(t, "a", "1.0.0", "b", "1")
	r.publish(t, "b", "1.0.0")
	r.publish(t, "c", "1.0.0", "b", "1")
	dir := t.TempDir()
	s := add(t, open(t, dir), r, "a", "c")
	s, err := s.Remove([]string{"c"})
	if err == nil {
		err = s.Save()
	}
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "archives", "*"))
	if err != nil || len(left) != 2 {
		t.Error(left, err)
	}
	folder := open(t, dir)
	if list := folder.List(); len(list) != 1 {
		t.Errorf("%d packages are left", len(list))
	}
	if err := folder.Verify(); err != nil {
		t.Error(err)
	}
	if _, err := s.Remove([]string{"c"}); err == nil {
		t.Error("a package was removed twice")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.publish(t, "good", "1.0.0")
	changed := r.publish(t, "changed", "1.0.0")
	changed["dist"] = map[string]string{"tarball": r.URL + "/good/-/good-1.0.0.tgz",
		"integrity": "sha512-" + base64.StdEncoding.EncodeToString(make([]byte, 64))}
	weak := r.publish(t, "weak", "1.0.0")
	weak["dist"] = map[string]string{"tarball": r.URL + "/weak/-/weak-1.0.0.tgz",
		"integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="}
	r.publish(t, "needs", "1.0.0", "../../etc", "1")
	r.publish(t, "none", "1.0.0", "good", "^2")
	r.publish(t, "git", "1.0.0", "good", "git+https://example.com/x.git")
	for spec, want := range map[string]string{
		"changed": "its SHA-512 differs", "weak": "no sha512", "needs": "not the name of a package",
		"none": "no version of good in the range", "git": "no version of good in the range",
		"absent": "404", "../x": "not the name of a package", "@../x": "not the name", "good@>9": "no version of good",
		"": "not the name",
	} {
		dir := t.TempDir()
		if _, err := open(t, dir).Add(t.Context(), &packages.Registry{URL: r.URL}, []string{spec}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", spec, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%q left %v", spec, left)
		}
	}
}

// TestArchiveElsewhere checks that no archive is fetched from another host than the registry.
func TestArchiveElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("it was asked")
	}))
	defer elsewhere.Close()
	r := newRegistry(t)
	release := r.publish(t, "a", "1.0.0")
	dist, _ := release["dist"].(map[string]string)
	dist["tarball"] = elsewhere.URL + "/a/-/a-1.0.0.tgz"
	add(t, open(t, t.TempDir()), r, "a")
}

func TestChangedFolder(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.publish(t, "a", "1.0.0")
	dir := t.TempDir()
	add(t, open(t, dir), r, "a")
	name := filepath.Join(dir, "archives", "a@1.0.0.tgz")
	if err := os.WriteFile(name, archive(t, "package/index.js", "evil()"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	if err := s.Verify(); err == nil || !strings.Contains(err.Error(), "its SHA-512 differs") {
		t.Error(err)
	}
	if _, err := s.Tree("a"); err == nil {
		t.Error("a changed archive was used")
	}
	if s.Load() == nil {
		t.Error("a changed archive was loaded")
	}
	for _, text := range []string{"{", `{"lockfileVersion":3}`,
		`{"lockfileVersion":3,"packages":{"":{},"node_modules/../x":{"version":"1.0.0"}}}`,
		`{"lockfileVersion":3,"packages":{"":{"dependencies":{"a":"1"}}}}`,
		`{"lockfileVersion":3,"packages":{"":{},"node_modules/a":{"version":"1.0.0/../..","integrity":""}}}`} {
		if err := os.WriteFile(filepath.Join(dir, "package-lock.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := packages.Open(dir); err == nil {
			t.Errorf("accepted %s", text)
		}
	}
}

// A package's tree has all files that code may read, whatever they are, and those of no other package.
func TestFiles(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.publish(t, "a", "1.0.0", "b", "1")
	r.publish(t, "b", "1.0.0")
	r.publish(t, "c", "1.0.0")
	release := r.versions["b"]["1.0.0"]
	content := archive(t, "package/package.json", `{"name":"b"}`, "package/data/font.afm", "font",
		"package/README.md", "b", "package/node_modules/x/x.js", "x", "package/large", strings.Repeat("x", 9<<20))
	sum := sha512.Sum512(content)
	r.archives["/b/-/b-1.0.0.tgz"] = content
	release["dist"].(map[string]string)["integrity"] = "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	s := add(t, open(t, t.TempDir()), r, "a", "c")
	stop, free := errors.New("stop"), func(int) error { return nil }
	if _, err := s.Files("a", "node_modules/b", func(int) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("not stopped: %v", err)
	}
	for range 2 { // the second answer is kept
		files, err := s.Files("a", "node_modules/b", free)
		want := map[string][]byte{"package.json": []byte(`{"name":"b"}`), "data/font.afm": []byte("font"),
			"README.md": []byte("b")}
		if diff := cmp.Diff(want, files); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if files, err := s.Files("a", "node_modules/a", free); len(files) != 2 || err != nil {
			t.Errorf("%d files, %v", len(files), err)
		}
		for _, place := range []string{
			"", "node_modules/c", "node_modules/x", "node_modules", "node_modules/b/node_modules/x",
		} {
			if files, err := s.Files("a", place, free); files != nil || err != nil {
				t.Errorf("%q: %d files, %v", place, len(files), err)
			}
		}
	}
}

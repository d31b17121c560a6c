package packages_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/packages"
)

// integrityOf returns the integrity of an archive.
func integrityOf(archive []byte) string {
	sum := sha512.Sum512(archive)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// tarball returns an archive with whatever headers are given. The content of a regular file is zeros.
func tarball(t testing.TB, heads ...*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	for _, head := range heads {
		err := files.WriteHeader(head)
		if err == nil && head.Typeflag == tar.TypeReg {
			_, err = files.Write(make([]byte, head.Size))
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

// release returns a registry's description of a version whose archive is at a path.
func release(r *registry, path string, archive []byte, needs map[string]string) map[string]any {
	r.archives[path] = archive
	return map[string]any{"dependencies": needs,
		"dist": map[string]string{"tarball": r.URL + path, "integrity": integrityOf(archive)}}
}

// put adds version 1.0.0 of a package with an archive.
func (r *registry) put(name string, archive []byte, needs map[string]string) {
	r.versions[name] = map[string]map[string]any{
		"1.0.0": release(r, "/"+name+"/-/"+name+"-1.0.0.tgz", archive, needs)}
}

// many returns n entries.
func many(n int) []*tar.Header {
	heads := make([]*tar.Header, n)
	for i := range heads {
		heads[i] = &tar.Header{Name: fmt.Sprintf("package/%d.js", i), Typeflag: tar.TypeReg}
	}
	return heads
}

// TestHostileRegistry checks that nothing of a hostile registry reaches the folder, and that each attempt ends.
func TestHostileRegistry(t *testing.T) {
	t.Parallel()
	one := func(heads ...*tar.Header) func(testing.TB, *registry) {
		return func(t testing.TB, r *registry) { r.put("x", tarball(t, heads...), nil) }
	}
	needs := func(name, wanted string) func(testing.TB, *registry) {
		return func(t testing.TB, r *registry) {
			r.put("x", archive(t, "package/index.js", "1"), map[string]string{name: wanted})
		}
	}
	version := func(version string, says map[string]any) func(testing.TB, *registry) {
		return func(_ testing.TB, r *registry) { r.versions["x"] = map[string]map[string]any{version: says} }
	}
	is := func(content []byte) func(testing.TB, *registry) {
		return func(_ testing.TB, r *registry) { r.put("x", content, nil) }
	}
	for name, c := range map[string]struct {
		set  func(testing.TB, *registry)
		want string
	}{
		"path upwards":      {one(&tar.Header{Name: "package/../../x.js", Typeflag: tar.TypeReg}), "the path"},
		"absolute path":     {one(&tar.Header{Name: "/etc/x.js", Typeflag: tar.TypeReg}), "the path"},
		"backslashes":       {one(&tar.Header{Name: `package/..\..\x.js`, Typeflag: tar.TypeReg}), "the path"},
		"a million entries": {one(many(60_000)...), "more than 50000 entries"},
		"zeros": {one(&tar.Header{Name: "package/x.bin", Typeflag: tar.TypeReg, Size: 300 << 20}),
			"unpacks to more"},
		"no archive":          {is([]byte("text")), "not compressed"},
		"half an archive":     {is(archive(t, "package/a.js", "1")[:40]), "read the archive"},
		"prototype":           {needs("__proto__", "1"), "not the name of a package"},
		"module of Node":      {needs("node:fs", "1"), "not the name of a package"},
		"upwards":             {needs("../x", "1"), "not the name of a package"},
		"scope upwards":       {needs("@x/..", "1"), "not the name of a package"},
		"folder of modules":   {needs("node_modules", "1"), "not the name of a package"},
		"alias upwards":       {needs("y", "npm:../x@1"), "not the name of a package"},
		"file":                {needs("x", "file:/etc/passwd"), "no version of x"},
		"URL":                 {needs("x", "https://example.com/x.tgz"), "no version of x"},
		"endless range":       {needs("x", strings.Repeat("1 || ", 1000)+"9"), "no version of x"},
		"version upwards":     {version("../../1.0.0", map[string]any{}), "does not describe"},
		"version of a screen": {version("\x1b[2J", map[string]any{}), `\x1b`},
		"version without end": {version("1.0.0-"+strings.Repeat("a", 1000), map[string]any{}), "does not describe"},
		"version of nothing":  {version("1.0.0", nil), "does not describe"},
		"too many versions": {func(_ testing.TB, r *registry) {
			r.versions["x"] = map[string]map[string]any{}
			for i := range 100_001 {
				r.versions["x"][fmt.Sprint("1.0.", i)] = nil
			}
		}, "more than 100000 members"},
		"too many dependencies": {func(_ testing.TB, r *registry) {
			needs := map[string]string{}
			for i := range 100_001 {
				needs[fmt.Sprint("x", i)] = ""
			}
			r.versions["x"] = map[string]map[string]any{"1.0.0": {"dependencies": needs}}
		}, "more than 100000 members"},
		"a list of versions": {version("1.0.0", map[string]any{"dependencies": []int{1}}), "an object is expected"},
		"endless chain": {func(t testing.TB, r *registry) {
			r.versions["x"] = map[string]map[string]any{}
			for i := range 100 {
				r.publish(t, "x", fmt.Sprintf("1.0.%d", i), "x", fmt.Sprintf("1.0.%d", i+1))
			}
		}, "nested in more than"},
		"explosion": {func(t testing.TB, r *registry) {
			for i := range 40 {
				r.publish(t, fmt.Sprint("p", i), "1.0.0")
			}
			r.versions["x"] = map[string]map[string]any{}
			for i := range 50 {
				all := []string{}
				for j := range 40 {
					all = append(all, fmt.Sprint("p", j), fmt.Sprintf("1.0.%d", i))
					r.publish(t, fmt.Sprint("p", j), fmt.Sprintf("1.0.%d", i))
				}
				r.publish(t, "x", fmt.Sprintf("1.0.%d", i), append(all, "x", fmt.Sprintf("1.0.%d", i+1))...)
			}
		}, "more than"},
		"twins": {func(t testing.TB, r *registry) { // each version needs two others in the same place
			r.versions["x"] = map[string]map[string]any{}
			for i := range 80 {
				of := r.publish(t, "x", fmt.Sprintf("1.0.%d", i), "x", fmt.Sprintf("1.0.%d", i/2*2+2))
				of["peerDependencies"] = map[string]string{"x": fmt.Sprintf("1.0.%d", i/2*2+3)}
			}
		}, "more than 50000 dependencies"},
		"a thousand needs": {func(t testing.TB, r *registry) {
			all := map[string]string{}
			for i := range 1001 {
				all[fmt.Sprint("p", i)] = "1"
			}
			r.put("x", archive(t, "package/index.js", "1"), all)
		}, "more than 1000 packages"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry(t)
			c.set(t, r)
			dir := t.TempDir()
			spec := "x"
			if len(r.versions["x"]) > 1 {
				spec = "x@1.0.0"
			}
			_, err := open(t, dir).Add(t.Context(), &packages.Registry{URL: r.URL}, []string{spec})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// TestHostileEntries checks that entries that are not regular files are skipped, and that only archives are written.
func TestHostileEntries(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	heads := []*tar.Header{
		{Name: "package/symbolic.js", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "package/hard.js", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"},
		{Name: "package/device.js", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3},
		{Name: "package/block.js", Typeflag: tar.TypeBlock, Devmajor: 8},
		{Name: "package/pipe.js", Typeflag: tar.TypeFifo},
		{Name: "package/folder.js/", Typeflag: tar.TypeDir},
		{Name: "package/index.js", Typeflag: tar.TypeReg, Size: 1},
		{Name: "package/__proto__/constructor.js", Typeflag: tar.TypeReg, Size: 1},
	}
	r.put("x", tarball(t, heads...), nil)
	of := r.versions["x"]["1.0.0"]
	of["hasInstallScript"], of["scripts"] = true, map[string]string{"postinstall": "touch owned"}
	dir := t.TempDir()
	s := add(t, open(t, dir), r, "x")
	tree, err := s.Tree("x")
	if err != nil || len(tree) != 2 || tree["node_modules/x/index.js"] == nil {
		t.Errorf("%d files, %v", len(tree), err)
	}
	s.Note("x", packages.Note{Impure: strings.Repeat("é", 1<<20)})
	if n := s.List()[0].Note; len(n.Scripts) != 1 || len(n.Impure) > 2000 {
		t.Errorf("scripts %v, %d bytes", n.Scripts, len(n.Impure))
	}
	var written []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			written = append(written, filepath.Base(path))
		}
		return err
	})
	if err != nil || strings.Join(written, " ") != "airlock.json x@1.0.0.tgz package-lock.json" {
		t.Errorf("%v %v", written, err)
	}
}

// TestRegistryAnswers checks invalid answers of a registry.
func TestRegistryAnswers(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	defer elsewhere.Close()
	write := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"redirect": {func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, elsewhere.URL, http.StatusFound)
		}, "302"},
		"no JSON":   {write("<html>"), "read the registry's description of x"},
		"null":      {write("null"), "no version of x"},
		"a list":    {write("[]"), "read the registry's description of x"},
		"deep":      {write(strings.Repeat("[", 1<<20)), "read the registry's description of x"},
		"wrong tag": {write(`{"dist-tags":{"latest":"9.9.9"},"versions":{}}`), "does not describe"},
		"wrong kind": {write(`{"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"dependencies":[1]}}}`),
			"read the registry's description of x@1.0.0"},
		"null of a version": {write(`{"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":null}}`), "of x"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			zeros := make([]byte, 1<<20)
			for range 140 {
				if _, err := w.Write(zeros); err != nil {
					return
				}
			}
		}, "than 134217728 bytes"},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			zipped := gzip.NewWriter(w)
			zeros := make([]byte, 1<<20)
			for range 140 {
				if _, err := zipped.Write(zeros); err != nil {
					return
				}
			}
			_ = zipped.Close()
		}, "than 134217728 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			_, err := open(t, t.TempDir()).Add(t.Context(), &packages.Registry{URL: server.URL}, []string{"x"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t, t.TempDir()).Add(ctx, &packages.Registry{URL: elsewhere.URL}, []string{"x"}); !errors.Is(err,
			context.Canceled) {
			t.Error(err)
		}
	})
}

// TestSameFileName checks that two packages keep their own archives although their names and versions join to the same
// text.
func TestSameFileName(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.publish(t, "a", "1.0.0-2.0.0")
	r.publish(t, "a-1.0.0", "2.0.0")
	dir := t.TempDir()
	add(t, open(t, dir), r, "a", "a-1.0.0")
	if err := open(t, dir).Verify(); err != nil {
		t.Error(err)
	}
}

// TestCredentialsOfRegistry checks that the password of a registry is sent with every request and never written.
func TestCredentialsOfRegistry(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	inner := r.Config.Handler
	r.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if user, password, _ := q.BasicAuth(); user != "u" || password != "hunter2" {
			t.Errorf("%s without credentials", q.URL.Path)
		}
		inner.ServeHTTP(w, q)
	})
	r.publish(t, "a", "1.0.0", "b", "1")
	of := r.publish(t, "b", "1.0.0")
	dist, _ := of["dist"].(map[string]string)
	dist["tarball"] = "https://elsewhere.example/b.tgz" // so that the address is made from the registry's
	dir := t.TempDir()
	next, err := open(t, dir).Add(t.Context(),
		&packages.Registry{URL: strings.Replace(r.URL, "http://", "http://u:hunter2@", 1)}, []string{"a"})
	if err == nil {
		err = next.Save()
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%v\n%s", err, text)
	}
}

// FuzzRegistry lets a registry describe a package with arbitrary bytes.
func FuzzRegistry(f *testing.F) {
	content := archive(f, "package/index.js", "1")
	f.Add([]byte(`{"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"dependencies":{"x":"^1","y":"npm:x@*"},"dist":{` +
		`"tarball":"http://registry.test/x/-/x-1.0.0.tgz","integrity":"` + integrityOf(content) + `"}}}}`))
	f.Add([]byte(`{"versions":{"2.0.0-a.1":{"peerDependencies":{"x":"latest"},"peerDependenciesMeta":{"x":{}}}}}`))
	f.Fuzz(func(t *testing.T, says []byte) {
		asked := 0
		client := &http.Client{Transport: roundTrip(func(q *http.Request) (*http.Response, error) {
			if asked++; asked > 3000 {
				t.Fatal("too many requests")
			}
			if q.URL.Host != "registry.test" {
				t.Errorf("asked %s", q.URL)
			}
			body := says
			if strings.HasSuffix(q.URL.Path, ".tgz") {
				body = content
			}
			w := httptest.NewRecorder()
			_, _ = w.Write(body)
			return w.Result(), nil
		})}
		s, err := packages.Empty().Add(t.Context(), &packages.Registry{URL: "http://registry.test", HTTP: client},
			[]string{"x"})
		if err != nil {
			return
		}
		for _, p := range s.List() {
			if _, err := url.Parse(p.Name); err != nil {
				t.Error(err)
			}
			if _, err := s.Tree(p.Name); err != nil {
				t.Error(err)
			}
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

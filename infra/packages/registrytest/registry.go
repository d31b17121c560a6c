package registrytest

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
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Registry serves packages on this machine. It is safe for concurrent use.
type Registry struct {
	*httptest.Server

	mu       sync.Mutex
	archives map[string][]byte
	versions map[string]map[string]any // by name and version
}

// New returns a registry that is closed at the end of the test.
func New(t testing.TB) *Registry {
	r := &Registry{archives: map[string][]byte{}, versions: map[string]map[string]any{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *Registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	_ = json.NewEncoder(w).Encode(map[string]any{"dist-tags": map[string]string{"latest": latest}, "versions": versions})
}

// Publish adds a version of a package with files, given by path and content in turn. It needs what the dependencies of
// its package.json name.
func (r *Registry) Publish(t testing.TB, name, version string, files ...string) {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	var errs []error
	var manifest struct{ Dependencies map[string]string }
	for i := 0; i < len(files); i += 2 {
		err := archive.WriteHeader(&tar.Header{Name: "package/" + files[i], Mode: 0o644, Typeflag: tar.TypeReg,
			Size: int64(len(files[i+1]))})
		_, written := archive.Write([]byte(files[i+1]))
		errs = append(errs, err, written)
		if files[i] == "package.json" {
			errs = append(errs, json.Unmarshal([]byte(files[i+1]), &manifest))
		}
	}
	if err := errors.Join(append(errs, archive.Close(), zipped.Close())...); err != nil {
		t.Fatal(err)
	}
	at := "/" + name + "/-/" + path.Base(name) + "-" + version + ".tgz"
	sum := sha512.Sum512(b.Bytes())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.archives[at] = b.Bytes()
	if r.versions[name] == nil {
		r.versions[name] = map[string]any{}
	}
	r.versions[name][version] = map[string]any{"dependencies": manifest.Dependencies,
		"dist": map[string]string{"tarball": r.URL + at,
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}}
}

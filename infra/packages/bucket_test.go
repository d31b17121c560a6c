package packages_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/infra/packages"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
)

// openBucket returns an empty bucket of a server.
func openBucket(t *testing.T, server *s3test.Server) *s3objects.Store {
	t.Helper()
	bucket, err := s3objects.Open(t.Context(), "s3://"+server.Bucket(t)+"/below",
		s3objects.Access{Endpoint: server.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

// TestBucket checks that a bucket carries packages from one folder to another, and that a copy is never half of one
// state and half of the next.
func TestBucket(t *testing.T) {
	s3test.SetEnvironment()
	server, err := s3test.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	bucket := openBucket(t, server)
	copied := filepath.Join(t.TempDir(), "new", "copy")
	if _, err := packages.Pull(t.Context(), bucket, copied); !errors.Is(err, packages.ErrNoPackages) {
		t.Errorf("an empty bucket: %v", err)
	}

	r := newRegistry(t)
	r.publish(t, "a", "1.0.0", "b", "1")
	r.publish(t, "b", "1.0.0")
	s := add(t, open(t, t.TempDir()), r, "a")
	s.Note("a", packages.Note{Level: "safe", Impure: "it is a test"})
	if err := s.Push(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	// The copy is checked as another process reads it.
	check := func(want *packages.Store) {
		t.Helper()
		if _, err := packages.Pull(t.Context(), bucket, copied); err != nil {
			t.Fatal(err)
		}
		got := open(t, copied)
		if err := got.Verify(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want.List(), got.List()); diff != "" {
			t.Error(diff)
		}
		for _, p := range want.List() {
			tree, err := got.Tree(p.Name)
			if other, otherErr := want.Tree(p.Name); err != nil || otherErr != nil || !maps.EqualFunc(tree, other,
				func(a, b []byte) bool { return string(a) == string(b) }) {
				t.Errorf("%s: %v %v", p.Name, err, otherErr)
			}
		}
	}
	check(s)

	damaged := filepath.Join(copied, "archives", "b@1.0.0.tgz")
	if err := os.WriteFile(damaged, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(s)

	r.publish(t, "c", "1.0.0")
	s = add(t, s, r, "c")
	if err := s.Push(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	check(s)

	keys, err := bucket.List(t.Context(), "archives/", "", 100)
	if err != nil || len(keys) != 3 {
		t.Fatalf("%q %v", keys, err)
	}
	for _, key := range keys {
		body, tag, err := bucket.Get(t.Context(), key, 1<<20)
		if err == nil {
			body[len(body)/2] ^= 1
			_, err = bucket.Replace(t.Context(), key, body, tag)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	check(s) // of its own archives
	fresh := t.TempDir()
	if _, err := packages.Pull(t.Context(), bucket, fresh); err == nil || !strings.Contains(err.Error(), "SHA-512") {
		t.Errorf("altered archives: %v", err)
	}
	if left, err := os.ReadDir(fresh); err != nil || len(left) > 0 {
		t.Errorf("a copy that failed left %v, %v", left, err)
	}
}

// TestBucketIndex checks invalid content in place of a bucket's index.
func TestBucketIndex(t *testing.T) {
	s3test.SetEnvironment()
	server, err := s3test.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":   {"<html>", "packages.json"},
		"null":      {"null", "package-lock.json"},
		"no lock":   {"{}", "package-lock.json"},
		"too large": {strings.Repeat(" ", 13<<20), "has more than"},
		"upwards": {`{"lock": {"lockfileVersion": 3, "packages": {"": {}, "node_modules/../x": {"version": "1.0.0"}}}}`,
			"without a valid name"},
		"no archive": {`{"lock": {"lockfileVersion": 3, "packages": {"": {"dependencies": {"x": "1"}}, "node_modules/x": ` +
			`{"version": "1.0.0", "integrity": "` + integrityOf([]byte("x")) + `"}}}}`, "package x@1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := openBucket(t, server)
			if _, err := bucket.Create(t.Context(), "packages.json", []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if _, err := packages.Pull(t.Context(), bucket, dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
	ended, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if _, err := packages.Pull(ended, openBucket(t, server), t.TempDir()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after its time: %v", err)
	}
}

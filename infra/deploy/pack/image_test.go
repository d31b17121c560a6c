package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// The image of this machine's architecture is built, read back and run: its program has the version and runs code in
// a function process. Its configuration names a user that is not root.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the image is for Linux")
	}
	name := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	t.Chdir("../../..")
	file := filepath.Join(t.TempDir(), "image.tar")
	var log bytes.Buffer
	if err := (packer{log: &log}).packImage(t.Context(), []string{name}, file, "v1.2.3-test"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "checked: every digest; ok   functions  6 * 7 is 42 after ") ||
		!strings.Contains(log.String(), "seccomp") {
		t.Errorf("the check says\n%s", log.String())
	}
	dir := t.TempDir()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := untar(bytes.NewReader(content), dir); err != nil {
		t.Fatal(err)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	image, err := imageFor(index, target{goarch: runtime.GOARCH})
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{
		"user": config.Config.User, "entry": config.Config.Entrypoint, "command": config.Config.Cmd,
		"version": config.Config.Labels["org.opencontainers.image.version"], "architecture": config.Architecture,
	}
	want := map[string]any{
		"user": "65532:65532", "entry": []string{"/airlock"}, "command": []string{"serve"}, "version": "v1.2.3-test",
		"architecture": runtime.GOARCH,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the configuration (-want +got)\n%s", d)
	}
}

// The root folder lists each folder once, before its content, and only the data folder belongs to the image's user.
func TestRootFolder(t *testing.T) {
	t.Parallel()
	made, err := rootFolder([]entry{
		{name: "etc/passwd", data: []byte("x")}, {name: "cache/a/b", data: []byte("y")}, {name: "airlock", program: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(bytes.NewReader(made)); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		line := head.FileInfo().Mode().String() + " " + head.Name
		if head.Uid != 0 {
			line += " own"
		}
		got = append(got, line)
	}
	want := []string{
		"-rwxr-xr-x airlock", "drwxr-xr-x cache/", "drwxr-xr-x cache/a/", "-rw-r--r-- cache/a/b", "drwxr-xr-x etc/",
		"-rw-r--r-- etc/passwd", "dtrwxrwxrwx tmp/", "drwxr-xr-x var/", "drwxr-xr-x var/lib/",
		"drwx------ var/lib/airlock/ own",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the entries (-want +got)\n%s", d)
	}
	if err := untar(bytes.NewReader(hostileTar(t)), t.TempDir()); err == nil {
		t.Error("an entry that leads out of the folder was written")
	}
}

func hostileTar(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := errors.Join(w.WriteHeader(&tar.Header{Name: "../x", Typeflag: tar.TypeReg}), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

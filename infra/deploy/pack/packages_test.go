package main

import (
	"archive/zip"
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/packages"
	"github.com/airlock-run/airlock/infra/packages/registrytest"
)

// A packed function has the packages of a folder and their images, and imports them without compiling or evaluating
// anything that its cache does not hold.
func TestPackWithPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the zips are for Linux")
	}
	r := registrytest.New(t)
	r.Publish(t, "greets", "1.0.0", "index.js", "exports.greet = name => `hello ${name}`")
	folder := filepath.Join(t.TempDir(), "any-name")
	store, err := packages.Open(folder)
	if err == nil {
		store, err = store.Add(t.Context(), &packages.Registry{URL: r.URL}, []string{"greets"})
	}
	if err == nil {
		err = store.Save()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../../..")
	name := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	to, err := targetNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	made, err := packer{packages: folder, log: t.Output()}.make(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := check(t.Context(), to, made["function"]); err != nil {
		t.Errorf("the packed function: %v", err)
	}
	content, err := zip.NewReader(bytes.NewReader(made["function"]), int64(len(made["function"])))
	if err != nil {
		t.Fatal(err)
	}
	var archives, images int
	for _, f := range content.File {
		if f.Name == "airlock-packages/archives/greets@1.0.0.tgz" {
			archives++
		}
		if strings.HasPrefix(f.Name, "cache/package-") {
			images++
		}
	}
	if archives != 1 || images == 0 {
		t.Errorf("the zip has %d archives and %d images of the package", archives, images)
	}
}

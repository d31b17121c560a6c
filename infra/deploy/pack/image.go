package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser is the user and the group of the image's process, as in other images without a shell.
const imageUser = 65532

// Folders of the image. The gateway writes only into these.
const (
	imageData = "var/lib/airlock"
	imageTemp = "tmp"
)

// certificates are those of the machine that builds. The gateway needs them to call other servers over https.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

// packImage writes the images of all architectures to a file and checks it.
func (p packer) packImage(ctx context.Context, names []string, file, version string) error {
	targets, err := targetsNamed(names)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range targets {
		image, err := p.image(ctx, t, version)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "linux", Architecture: t.goarch},
		}})
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := writeLayout(index, file); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Fprintf(p.log, "%s index %s\n", file, digest)
	for _, t := range targets {
		result, err := checkImage(ctx, t, file, version)
		if err != nil {
			return fmt.Errorf("%s: check the image: %w", t.name, err)
		}
		fmt.Fprintf(p.log, "%-8s checked: %s\n", t.name, result)
	}
	return nil
}

// image returns the image of one architecture. Its bytes depend on the sources, the version, Go and the certificates.
func (p packer) image(ctx context.Context, t target, version string) (image v1.Image, err error) {
	work, err := os.MkdirTemp("", "airlock-image-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	program, bootstrap := filepath.Join(work, "airlock"), filepath.Join(work, "bootstrap")
	if err := t.build(ctx, "./gateway/cmd/airlock", program, version); err != nil {
		return nil, err
	}
	files := []entry{
		{name: "airlock", from: program, program: true},
		{name: certificates[1:], from: certificates},
		{name: "etc/passwd", data: fmt.Appendf(nil, "airlock:x:%d:%[1]d::/%s:/sbin/nologin\n", imageUser, imageData)},
	}
	if _, missing := t.command(program); missing != nil {
		fmt.Fprintf(p.log, "%-8s without the compiled engine, so function processes start slower: %v\n", t.name, missing)
	} else {
		if err := t.build(ctx, "./functions/lambda", bootstrap, ""); err != nil {
			return nil, err
		}
		cache := filepath.Join(work, "cache")
		if err := fill(ctx, t, bootstrap, cache); err != nil {
			return nil, fmt.Errorf("fill the compilation cache: %w", err)
		}
		compiled, err := filesBelow(cache)
		if err != nil {
			return nil, err
		}
		files = append(files, compiled...)
	}
	content, err := rootFolder(files)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image = mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, configOf(image, t, version))
}

// configOf returns the configuration of an image that has its layers.
func configOf(image v1.Image, t target, version string) *v1.ConfigFile {
	c := &v1.ConfigFile{Architecture: t.goarch, OS: "linux", Created: v1.Time{Time: imageTime()}}
	if made, err := image.ConfigFile(); err == nil {
		c.RootFS, c.History = made.RootFS, made.History
	}
	c.Config = v1.Config{
		User: fmt.Sprintf("%d:%[1]d", imageUser), WorkingDir: "/" + imageData,
		Entrypoint: []string{"/airlock"}, Cmd: []string{"serve"}, StopSignal: "SIGTERM",
		Env:          []string{"HOST=0.0.0.0", "PORT=3000", "PATH=/", "HOME=/" + imageData},
		ExposedPorts: map[string]struct{}{"3000/tcp": {}}, Volumes: map[string]struct{}{"/" + imageData: {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Airlock",
			"org.opencontainers.image.description": "Runs untrusted JavaScript in sandboxes.",
			"org.opencontainers.image.source":      "https://github.com/airlock-run/airlock",
			"org.opencontainers.image.version":     version,
		},
	}
	return c
}

func imageTime() time.Time { return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) }

// rootFolder returns a tar file of entries and of the folders that they need. Root owns everything but the folder of
// the gateway's data.
func rootFolder(entries []entry) ([]byte, error) {
	folders := map[string]bool{imageData: true, imageTemp: true}
	for _, e := range entries {
		folders[path.Dir(e.name)] = true
	}
	var heads []tar.Header
	for folder := range folders {
		for ; folder != "."; folder = path.Dir(folder) {
			heads = append(heads, tar.Header{Name: folder + "/", Mode: 0o755, Typeflag: tar.TypeDir})
		}
	}
	content := map[string][]byte{}
	for _, e := range entries {
		data := e.data
		if e.from != "" {
			var err error
			if data, err = os.ReadFile(e.from); err != nil {
				return nil, err
			}
		}
		head := tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg}
		if e.program {
			head.Mode = 0o755
		}
		content[e.name] = data
		heads = append(heads, head)
	}
	slices.SortFunc(heads, func(a, b tar.Header) int { return strings.Compare(a.Name, b.Name) })
	heads = slices.CompactFunc(heads, func(a, b tar.Header) bool { return a.Name == b.Name })
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, head := range heads {
		head.ModTime = imageTime()
		switch strings.TrimSuffix(head.Name, "/") {
		case imageData:
			head.Uid, head.Gid, head.Mode = imageUser, imageUser, 0o700
		case imageTemp:
			head.Mode = 0o1777
		}
		if err := w.WriteHeader(&head); err != nil {
			return nil, err
		}
		if _, err := w.Write(content[head.Name]); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// writeLayout writes an OCI layout as one tar file.
func writeLayout(index v1.ImageIndex, file string) (err error) {
	dir, err := os.MkdirTemp("", "airlock-layout-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if _, err := layout.Write(dir, index); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	return errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), out.Close())
}

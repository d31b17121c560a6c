package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// checkImage reads the image of an architecture back from a file, compares every digest, and runs its program: its
// version, and its doctor, which runs code in a function process. It returns what it found.
func checkImage(ctx context.Context, t target, file, version string) (result string, err error) {
	dir, err := os.MkdirTemp("", "airlock-check-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := untar(in, filepath.Join(dir, "layout")); err != nil {
		return "", err
	}
	index, err := layout.ImageIndexFromPath(filepath.Join(dir, "layout"))
	if err != nil {
		return "", err
	}
	if err := validate.Index(index); err != nil {
		return "", err
	}
	image, err := imageFor(index, t)
	if err != nil {
		return "", err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return "", err
	}
	root := filepath.Join(dir, "root")
	files := mutate.Extract(image)
	if err := errors.Join(untar(files, root), files.Close(), os.Chmod(dir, 0o755)); err != nil {
		return "", err
	}
	if _, err := t.command(""); err != nil {
		return "every digest; nothing was run: " + err.Error(), nil
	}
	said, err := imageCommand(ctx, t, root, config, "version")
	if err != nil || !strings.HasPrefix(said, "airlock "+version+"\n") {
		return "", fmt.Errorf("its version is %q: %w", said, err)
	}
	if t.emulated() {
		return "every digest; airlock version " + t.how(), nil
	}
	said, err = imageCommand(ctx, t, root, config, "doctor")
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, said)
	}
	for line := range strings.Lines(said) {
		if strings.Contains(line, "functions") {
			result = strings.TrimSpace(line)
		}
	}
	return "every digest; " + result, nil
}

// imageFor returns the image of an architecture.
func imageFor(index v1.ImageIndex, t target) (v1.Image, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, m := range manifest.Manifests {
		if m.Platform != nil && m.Platform.Architecture == t.goarch {
			return index.Image(m.Digest)
		}
	}
	return nil, fmt.Errorf("there is no image for %s", t.goarch)
}

// imageCommand runs a command of the image's program. Where this user is root, it runs as the image's user, with the
// image's root folder as its own and without a way to gain privileges; otherwise it runs from that folder.
func imageCommand(ctx context.Context, t target, root string, config *v1.ConfigFile, command string) (string, error) {
	args, err := t.command(filepath.Join(root, "airlock"))
	if err != nil {
		return "", err
	}
	env := append([]string{"API_KEY=0123456789abcdef-check"}, config.Config.Env...)
	if runtime.GOOS == "linux" && os.Geteuid() == 0 && !t.emulated() {
		user := strings.Split(config.Config.User, ":")
		if err := os.Mkdir(filepath.Join(root, "proc"), 0o555); err != nil && !os.IsExist(err) {
			return "", err
		}
		args = []string{"unshare", "--mount", "--pid", "--fork", "--root=" + root, "--wd=" + config.Config.WorkingDir,
			"--mount-proc", "--setgid=" + user[1], "--setuid=" + user[0], "/airlock"}
	} else {
		env = append(env, "HOME="+root, "TMPDIR="+root)
	}
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], command)...)
	cmd.Env, cmd.Dir = append(env, "PORT=0"), filepath.Join(root, imageData)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// untar writes a tar file below dir, with owners where this user may set them.
func untar(in io.Reader, dir string) error {
	for r := tar.NewReader(in); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(head.Name) {
			return fmt.Errorf("entry %q leads out of the folder", head.Name)
		}
		path := filepath.Join(dir, filepath.FromSlash(head.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		switch head.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			err = writeFile(path, r)
		default:
			err = fmt.Errorf("entry %q is neither a file nor a folder", head.Name)
		}
		if err == nil && os.Geteuid() == 0 {
			err = os.Chown(path, head.Uid, head.Gid)
		}
		if err == nil {
			err = os.Chmod(path, head.FileInfo().Mode())
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(path string, in io.Reader) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

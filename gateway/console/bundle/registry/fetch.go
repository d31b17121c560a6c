package registry

import (
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/airlock-run/airlock/policy/outbound"
)

// maxArchive bounds the download of one archive; the largest pinned one has less than 1 MiB.
const maxArchive = 16 << 20

// Source is where archives come from.
type Source struct {
	// Cache is a folder that keeps them by digest. It is created if it does not exist.
	Cache string
	// NPM is the npm program, which knows the user's registry, proxy and credentials; "" means that there is none.
	NPM string
	// URL is the registry to ask without npm; "" asks none.
	URL string
	// HTTP asks the registry. The default client follows no redirect and takes at most a minute for an archive.
	HTTP *http.Client
}

// ErrNoRegistry is the error of Fetch if archives are missing and there is no registry to ask.
var ErrNoRegistry = errors.New("npm is not installed, and npm_config_registry names no registry")

// Fetch returns the archives of the packages, in their order. It asks only for what the cache lacks.
func (s Source) Fetch(ctx context.Context, packages []Package) ([][]byte, error) {
	if err := os.MkdirAll(s.Cache, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache of packages: %w", err)
	}
	var missing []Package
	for _, p := range packages {
		if _, err := s.cached(p); err != nil {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		if err := s.download(ctx, missing); err != nil {
			return nil, err
		}
	}
	archives := make([][]byte, len(packages))
	for i, p := range packages {
		var err error
		if archives[i], err = s.cached(p); err != nil {
			return nil, err
		}
	}
	return archives, nil
}

func (s Source) download(ctx context.Context, packages []Package) error {
	switch {
	case s.NPM != "":
		return s.pack(ctx, packages)
	case s.URL != "":
		return s.get(ctx, packages)
	}
	return ErrNoRegistry
}

// pack fetches archives by npm. It runs no scripts, and nothing of the packages.
func (s Source) pack(ctx context.Context, packages []Package) (err error) {
	dir, err := os.MkdirTemp(s.Cache, "npm-")
	if err != nil {
		return fmt.Errorf("make a folder for npm: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	args := []string{"pack", "--ignore-scripts", "--loglevel=error", "--fetch-retries=0", "--pack-destination=" + dir}
	for _, p := range packages {
		args = append(args, p.Name+"@"+p.Version)
	}
	cmd := exec.CommandContext(ctx, s.NPM, args...)
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("npm pack: %w: %s", err, line)
	}
	for _, p := range packages {
		// npm names the file after the whole name, its scope included.
		name := strings.ReplaceAll(strings.TrimPrefix(p.Name, "@"), "/", "-") + "-" + p.Version + ".tgz"
		archive, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("npm pack %s: %w", p.Name, err)
		}
		if err := s.keep(p, archive); err != nil {
			return err
		}
	}
	return nil
}

// get asks the registry itself.
func (s Source) get(ctx context.Context, packages []Package) error {
	client := s.HTTP
	if client == nil {
		limits := outbound.Limits{Body: maxArchive + 1, Total: time.Minute, Connections: 4}
		client = limits.Client(outbound.Options{Proxy: http.ProxyFromEnvironment})
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for _, p := range packages {
		group.Go(func() error {
			url := strings.TrimSuffix(s.URL, "/") + "/" + p.Name + "/-/" + p.File()
			archive, err := outbound.Get(ctx, client, url, "", maxArchive)
			if err != nil {
				return fmt.Errorf("request from the registry: %w", err)
			}
			return s.keep(p, archive)
		})
	}
	return group.Wait()
}

func (s Source) path(p Package) string {
	return filepath.Join(s.Cache, hex.EncodeToString(p.Sum[:])+".tgz")
}

// cached returns an archive of the cache if it is whole.
func (s Source) cached(p Package) ([]byte, error) {
	archive, err := os.ReadFile(s.path(p))
	if err != nil {
		return nil, fmt.Errorf("read %s from the cache: %w", p.Name, err)
	}
	return archive, check(p, archive)
}

// keep stores an archive in the cache, whole or not at all.
func (s Source) keep(p Package, archive []byte) error {
	if err := check(p, archive); err != nil {
		return err
	}
	temp, err := os.CreateTemp(s.Cache, "archive-")
	if err != nil {
		return fmt.Errorf("keep %s: %w", p.Name, err)
	}
	_, err = temp.Write(archive)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), s.path(p))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep %s: %w", p.Name, err), os.Remove(temp.Name()))
	}
	return nil
}

func check(p Package, archive []byte) error {
	if sha512.Sum512(archive) != p.Sum {
		return fmt.Errorf("%s@%s: the archive is not the one that was pinned: its SHA-512 differs", p.Name, p.Version)
	}
	return nil
}

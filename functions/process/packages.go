package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/airlock-run/airlock/infra/packages"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/sandbox"
)

// PackagesVariable names the folder of packages that code may import.
const PackagesVariable = "AIRLOCK_PACKAGES"

// PackagesName is the name of the folder of packages beside the program.
const PackagesName = "airlock-packages"

// pullTime bounds the copying of packages from a bucket.
const pullTime = 2 * time.Minute

// PackagesBucket returns the bucket that AIRLOCK_PACKAGES names, or nil if it names none.
func PackagesBucket(ctx context.Context, getenv func(string) string) (*s3objects.Store, error) {
	url := getenv(PackagesVariable)
	if !strings.HasPrefix(url, "s3://") {
		return nil, nil // no bucket
	}
	bucket, err := s3objects.Open(ctx, url, s3objects.Access{Endpoint: strings.TrimSpace(getenv("S3_ENDPOINT"))})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", PackagesVariable, err)
	}
	return bucket, nil
}

// PullPackages returns getenv with a folder in AIRLOCK_PACKAGES. If that names a bucket, the packages are copied to a
// folder in the cache folder, where an earlier copy saves the transfer of what it has. A bucket that cannot be read, or
// has no packages, is an error.
func PullPackages(ctx context.Context, getenv func(string) string) (func(string) string, error) {
	bucket, err := PackagesBucket(ctx, getenv)
	if err != nil || bucket == nil {
		return getenv, err
	}
	dir, err := copyDir(getenv)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, pullTime)
		defer cancel()
		_, err = packages.Pull(ctx, bucket, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: copy the packages from %s: %w", PackagesVariable, getenv(PackagesVariable), err)
	}
	return WithPackagesDir(getenv, dir), nil
}

// WithPackagesDir returns getenv with a folder in AIRLOCK_PACKAGES.
func WithPackagesDir(getenv func(string) string, dir string) func(string) string {
	return func(name string) string {
		if name == PackagesVariable {
			return dir
		}
		return getenv(name)
	}
}

// copyDir returns the folder for the copy of a bucket. On Lambda only the folder of temporary files can be written.
func copyDir(getenv func(string) string) (string, error) {
	cache := OwnCacheDir(getenv)
	if cache == "" || getenv("AWS_LAMBDA_FUNCTION_NAME") != "" {
		return os.MkdirTemp("", PackagesName)
	}
	sum := sha256.Sum256([]byte(getenv(PackagesVariable) + " " + getenv("S3_ENDPOINT")))
	return filepath.Join(cache, "bucket-"+hex.EncodeToString(sum[:16])), nil
}

// PackagesDir returns the folder of packages: the one that AIRLOCK_PACKAGES names, the folder airlock-packages beside
// the program, or the one in the working folder. "none" is "".
func PackagesDir(getenv func(string) string) string {
	switch dir := getenv(PackagesVariable); dir {
	case "":
	case "none":
		return ""
	default:
		return dir
	}
	if executable, err := os.Executable(); err == nil {
		shipped := filepath.Join(filepath.Dir(executable), PackagesName)
		if info, err := os.Stat(shipped); err == nil && info.IsDir() {
			return shipped
		}
	}
	return PackagesName
}

// OpenPackages opens the packages of the deployment. A folder that does not exist has none.
func OpenPackages(getenv func(string) string) (*packages.Store, error) {
	dir := PackagesDir(getenv)
	if dir == "" {
		return packages.Empty(), nil
	}
	if strings.HasPrefix(dir, "s3://") {
		return nil, fmt.Errorf("%s: the packages have not been copied from the bucket %s", PackagesVariable, dir)
	}
	store, err := packages.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", PackagesVariable, err)
	}
	return store, nil
}

// Installed are the packages of the deployment as guests import them.
type Installed struct {
	Packages []sandbox.Package
	// Damage says which of them are damaged, or why there are none. Code that imports a damaged package fails, and all
	// other code runs.
	Damage error
}

// LoadPackages returns the packages of the deployment. All archives are in memory: a process that is locked down reads
// no files.
func LoadPackages(getenv func(string) string) Installed {
	store, err := OpenPackages(getenv)
	if err != nil {
		return Installed{Damage: err}
	}
	if err = store.Load(); err != nil {
		err = fmt.Errorf("%s: %w", PackagesVariable, err)
	}
	return Installed{ImportedPackages(store), err}
}

// Report logs the damage of packages.
func (in Installed) Report(log *slog.Logger) {
	if in.Damage != nil {
		log.Error("packages are damaged, and code that imports them fails; airlock packages verify says more",
			"error", in.Damage)
	}
}

// ImportedPackages returns the packages of a store as guests import them.
func ImportedPackages(store *packages.Store) (out []sandbox.Package) {
	for _, p := range store.List() {
		impure := p.Note.Impure
		if strings.HasPrefix(impure, packages.NotLoaded) {
			impure = "" // which says nothing of its other paths
		}
		out = append(out, sandbox.Package{
			PackageID: sandbox.PackageID{Name: p.Name, Version: p.Version, Integrity: p.Integrity},
			Impure:    impure,
			Damaged:   p.Damage != nil,
			Tree:      func() (map[string][]byte, error) { return store.Tree(p.Name) },
			Files: func(place string, work func(int) error) (map[string][]byte, error) {
				return store.Files(p.Name, place, work)
			},
		})
	}
	return out
}

package process

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/airlock-run/airlock/infra/packages"
	"github.com/airlock-run/airlock/sandbox"
)

// PackagesVariable names the folder of packages that code may import.
const PackagesVariable = "AIRLOCK_PACKAGES"

// PackagesName is the name of the folder of packages beside the program.
const PackagesName = "airlock-packages"

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
		out = append(out, sandbox.Package{
			PackageID: sandbox.PackageID{Name: p.Name, Version: p.Version, Integrity: p.Integrity},
			Impure:    p.Note.Impure,
			Damaged:   p.Damage != nil,
			Tree:      func() (map[string][]byte, error) { return store.Tree(p.Name) },
		})
	}
	return out
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/infra/packages"
)

// maxFunction returns how many bytes a zip of the function may have.
func (p packer) maxFunction() int {
	if p.packages != "" {
		return maxZipWithPackages
	}
	return maxZip
}

// addPackages copies the folder of packages beside the function's program, which finds it there by its name, and keeps
// the images of the packages in the cache. It returns the copy.
func (p packer) addPackages(ctx context.Context, t target, bootstrap, cache string) (string, error) {
	store, err := packages.Open(p.packages)
	if err != nil {
		return "", err
	}
	if len(store.List()) == 0 {
		return "", fmt.Errorf("%s holds no packages; airlock packages add fills such a folder", p.packages)
	}
	dir := filepath.Join(filepath.Dir(bootstrap), process.PackagesName)
	if err := os.CopyFS(dir, os.DirFS(p.packages)); err != nil {
		return "", err
	}
	command, err := t.command(bootstrap)
	if err != nil {
		return "", err
	}
	// The function evaluates the packages for the built-in tiers: what this process has set is not set on Lambda.
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "-fill-cache", cache)...)
	cmd.Env = []string{process.PackagesVariable + "=" + dir}
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, text)
	}
	return dir, nil
}

// importsPackages checks that the function behind api imports the packages in a folder that are not evaluated by each
// run. A folder that does not exist has none.
func importsPackages(ctx context.Context, api http.Handler, dir string) error {
	store, err := packages.Open(dir)
	if err != nil {
		return err
	}
	for _, p := range store.List() {
		if p.Note.Impure != "" {
			continue
		}
		event := fmt.Sprintf(`{"code": "import * as p from '%s'; typeof p", "policy": "standard"}`, p.Name)
		if err := answersEvent(ctx, api, "import of "+p.Name, []byte(event), `"result":"object"`); err != nil {
			return err
		}
	}
	return nil
}

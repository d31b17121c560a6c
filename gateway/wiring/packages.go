package wiring

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/packages"
)

// Packages are the npm packages of the deployment. They can be reloaded; an invalid folder changes nothing.
type Packages struct {
	// getenv names the folder of the packages. original may name the bucket that the folder is a copy of.
	getenv, original func(string) string

	list atomic.Pointer[[]gateway.PackageState]
}

// openPackages opens the packages. Those that are damaged are listed as such, and the log names them.
func openPackages(getenv func(string) string, log *slog.Logger) (*Packages, error) {
	p := &Packages{getenv: getenv}
	store, err := process.OpenPackages(getenv)
	if err != nil {
		return nil, err
	}
	process.Installed{Damage: store.Check()}.Report(log)
	p.set(store)
	return p, nil
}

// states returns the packages by name. The tiers are not set.
func (p *Packages) states() []gateway.PackageState { return *p.list.Load() }

// reload copies the bucket, if there is one, reads the folder again and checks every archive. A damaged folder changes
// nothing: new processes would refuse the packages that are damaged, which the running ones have.
func (p *Packages) reload(ctx context.Context) error {
	if _, err := process.PullPackages(ctx, p.original); err != nil {
		return err
	}
	store, err := process.OpenPackages(p.getenv)
	if err == nil {
		err = store.Check()
	}
	if err != nil {
		return err
	}
	p.set(store)
	return nil
}

// set lists the packages of a store that was checked.
func (p *Packages) set(store *packages.Store) {
	var all []gateway.PackageState
	for _, in := range store.List() {
		why := in.Note.Impure
		if in.Damage != nil {
			why = "it is damaged and cannot be imported: " + in.Damage.Error()
		}
		all = append(all, gateway.PackageState{Name: in.Name, Version: in.Version, Range: in.Note.Range,
			Dependencies: in.Needs, Bytes: in.Bytes, Level: in.Note.Level, Image: why == "", Why: why,
			InstallScripts: in.Note.Scripts, Exports: in.Note.Exports, Default: in.Note.Default})
	}
	p.list.Store(&all)
}

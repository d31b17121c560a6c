package wiring

import (
	"sync/atomic"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
)

// Packages are the npm packages of the deployment. They can be reloaded; an invalid folder changes nothing.
type Packages struct {
	getenv func(string) string
	list   atomic.Pointer[[]gateway.PackageState]
}

func openPackages(getenv func(string) string) (*Packages, error) {
	p := &Packages{getenv: getenv}
	return p, p.reload()
}

// states returns the packages by name. The tiers are not set.
func (p *Packages) states() []gateway.PackageState { return *p.list.Load() }

// reload reads the folder again and checks every archive, because a function process refuses to start with a wrong one.
func (p *Packages) reload() error {
	store, err := process.OpenPackages(p.getenv)
	if err == nil {
		err = store.Check()
	}
	if err != nil {
		return err
	}
	var all []gateway.PackageState
	for _, in := range store.List() {
		all = append(all, gateway.PackageState{Name: in.Name, Version: in.Version, Range: in.Note.Range,
			Dependencies: in.Needs, Bytes: in.Bytes, Level: in.Note.Level, Image: in.Note.Impure == "", Why: in.Note.Impure,
			InstallScripts: in.Note.Scripts})
	}
	p.list.Store(&all)
	return nil
}

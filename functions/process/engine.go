package process

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/sandbox"
)

// EngineBuild returns the engine build that ENGINE_BUILD names, or the default.
func EngineBuild(getenv func(string) string) (string, error) {
	builds := sandbox.EngineBuilds()
	name := strings.TrimSpace(getenv("ENGINE_BUILD"))
	switch {
	case name == "":
		return builds[0], nil
	case !slices.Contains(builds, name):
		return "", fmt.Errorf("ENGINE_BUILD: must be one of %s; got %q", strings.Join(builds, ", "), name)
	}
	return name, nil
}

// OtherBuilds opens engines of other builds than the process's own, each once, for replays. They stay open until the
// process ends. It is safe for concurrent use.
type OtherBuilds struct {
	// CacheDir is as in sandbox.Config. Empty compiles a build when it is first needed, which takes seconds.
	CacheDir string

	mu     sync.Mutex
	opened map[string]*sandbox.Engine
}

// Open returns the engine of a build. It is a runner.Config.OpenBuild.
func (o *OtherBuilds) Open(ctx context.Context, build string) (runner.Sandbox, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.opened[build]; e != nil {
		return e, nil
	}
	e, err := sandbox.New(ctx, sandbox.Config{CacheDir: o.CacheDir, EngineBuild: build})
	if err != nil {
		return nil, err
	}
	if o.opened == nil {
		o.opened = make(map[string]*sandbox.Engine)
	}
	o.opened[build] = e
	return e, nil
}

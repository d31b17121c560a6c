package process

import (
	"context"
	"fmt"

	"github.com/airlock-run/airlock/sandbox"
)

// FillCache compiles an engine build (see EngineBuild) into dir, for function processes of this architecture to load
// from.
func FillCache(ctx context.Context, dir, build string) error {
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: dir, EngineBuild: build})
	if err != nil {
		return fmt.Errorf("fill the compilation cache %q: %w", dir, err)
	}
	return engine.Close(ctx)
}

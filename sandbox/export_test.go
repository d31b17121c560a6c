package sandbox

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/snapshot"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// NewExposed returns an Engine whose guests can reach what the library keeps to itself: $sync(name, …) and
// $request(name, payload) call host operations by name, and $host is the host call. now and entropy, if set, are the
// clock and the randomness of guests.
func NewExposed(ctx context.Context, cfg Config, now func() time.Time, entropy io.Reader) (*Engine, error) {
	library, err := stdlib.Library("")
	if err != nil {
		return nil, err
	}
	at := 1 +
		slices.IndexFunc(library, func(f stdlib.File) bool { return f.Name == "host.js" || f.Name == "airlock:host.js" })
	cfg.library = slices.Insert(library, at, stdlib.File{Name: "airlock:exposed.js", Source: `(host, internal) => {
		globalThis.$sync = internal.sync;
		globalThis.$request = internal.request;
		globalThis.$host = host;
		return internal;
	}`})
	cfg.now, cfg.entropy, cfg.SkipSelfTest = now, entropy, true
	return New(ctx, cfg)
}

// Operations returns the names of all operations that a guest with these grants can call, synchronous and
// asynchronous.
func Operations(ctx context.Context, e *Engine, g Grants) (sync, async []string, err error) {
	r := e.newRun(ctx, g)
	defer r.requests.begin(ctx)()
	end, err := r.grant(Script{})
	if err != nil {
		return nil, nil, err
	}
	defer end()
	sync = slices.Concat(slices.Collect(maps.Keys(platform)), slices.Collect(maps.Keys(own)),
		slices.Collect(maps.Keys(r.powers.sync)))
	async = slices.Concat(slices.Collect(maps.Keys(r.requests.counted)), slices.Collect(maps.Keys(r.requests.followUps)))
	slices.Sort(sync)
	slices.Sort(async)
	return sync, async, nil
}

// TakeLongestWork returns the most units of work that were announced between two checks of the limits since the last
// call, and the most that are allowed.
func (e *Engine) TakeLongestWork() (most, allowed int64) { return e.longest.Swap(0), hostops.MaxPiece }

// ParkWhen makes runs with these grants park, between two requests, whenever f returns true.
func (g *Grants) ParkWhen(f func() bool) { g.parkNow = f }

// ParkAmid makes runs with these grants park, between two microtasks, whenever f returns true.
func (g *Grants) ParkAmid(f func() bool) { g.parkAmid = f }

// EditSnapshot returns a snapshot with another state.
func (e *Engine) EditSnapshot(from []byte, edit func(*snapshot.State)) ([]byte, error) {
	s, err := snapshot.Decode(from, 1<<30)
	if err != nil {
		return nil, err
	}
	edit(s)
	return snapshot.Encode(e.image.Identity(), s, 1<<30)
}

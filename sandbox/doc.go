// Package sandbox runs untrusted JavaScript.
//
//	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: dir})
//	result, err := engine.Run(ctx, sandbox.Script{Code: "1 + 1"}, sandbox.Grants{})
//
// Each Run gets a brand-new guest: a WebAssembly instance of QuickJS over a copy-on-write view of an image in which the
// standard library has already been evaluated. The guest runs under hard limits and is dropped afterwards, whatever
// happened. It reaches nothing but its own memory and what [Grants] lists; the zero Grants lists nothing.
//
// A guest that throws or exceeds a limit is a value: [Result]. An error from Run means that the platform failed, and
// says nothing about the guest.
//
// # Code that runs again
//
// Give code that runs often a [Script].Version. Its top level is evaluated once, in a guest that has nothing but the
// library, and later runs start from a copy-on-write view of what it left. Each of them is still a guest of its own.
// Code whose top level needs more than itself is evaluated by each run; [Result].Cold says what it needed.
//
// # Packages
//
// Code may import the packages of [Grants].Packages. What a script imports is evaluated once, in a guest that has
// nothing but the library, and the runs of that owner start from a copy-on-write view of it (packages.go). Packages are
// code of the guest and have no other rights. A package that needs more than itself to load is compiled once and
// evaluated by each run, without the files that its sideEffects allow to leave out if no imported name needs them.
// One that only keeps the time at which it loads finds the time of its run there.
//
// # Runs that wait
//
// With [Grants].Waits a run can end while its guest waits for people, events or time. [Result].Parked says what for,
// and has a snapshot. [Engine.Resume] continues from it, in this process or another, with answers to what it waits for:
//
//	result, err := engine.Run(ctx, script, grants)
//	for err == nil && result.Parked != nil {
//		result, err = engine.Resume(ctx, result.Parked.Snapshot, answersTo(result.Parked.Waiting), script, grants)
//	}
//
// The first half of the way is in waits.go, the second in segment.go. Package internal/snapshot has the format.
//
// A session is made of the same parts. [Engine.Step] runs one script after the other, each in a guest that continues
// from the snapshot of the one before: what a script declares at its top level is there for the next.
//
// # Limits
//
// The limits of a run hold from the call of Run on, also while its code is parsed, transformed and bundled. Go code
// that has not finished by then cannot be stopped: Run returns without it, and [Engine.Spent] reports true until it
// ends. A server should then finish its work, exit and be started again.
//
// # Where to go from here
//
// The path of one run is in run.go, from top to bottom; guest.go has its event loop, hostcall.go what the guest calls,
// powers.go the powers of its grants. Package internal/source prepares the code, internal/quickjs hosts the engine, and
// internal/hostops is the seam to the operations that Go does for guests.
//
// The package knows nothing of HTTP, clouds or policy: callers decide what to grant. It imports only the leaf packages
// of policy that all packages share.
package sandbox

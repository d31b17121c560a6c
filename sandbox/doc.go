// Package sandbox runs JavaScript that nobody trusts.
//
//	engine, err := sandbox.New(ctx, sandbox.Config{})
//	result, err := engine.Run(ctx, sandbox.Script{Code: "1 + 1"}, sandbox.Grants{})
//
// Each Run gets a brand-new guest: a WebAssembly instance of QuickJS over a copy-on-write view of an image in which the
// standard library has already been evaluated. The guest runs under hard caps and is dropped afterwards, whatever
// happened. It reaches nothing but its own memory and what [Grants] lists; the zero Grants lists nothing.
//
// What the guest does wrong, throwing or exceeding a cap, is a value: [Result]. An error from Run means that the
// platform failed and says nothing about the guest.
//
// Code that runs again and again has a [Script].Version: its top level is evaluated once, in a guest that has nothing
// but the library, and later runs start from a copy-on-write view of what it left. Each of them is still a guest of
// its own, and code whose top level needs more than itself is evaluated anew each time; [Result].Cold says what it
// asked for.
//
// The limits of a run hold from the moment Run is called, also while its code is parsed, transformed and bundled. Go
// code that is not done by then cannot be stopped: Run returns without it, and [Engine.Spent] reports true until it
// has ended. A program that runs code of strangers should then answer what it has, exit, and be started again.
//
// The package knows nothing of HTTP, clouds or policy: callers decide what to grant.
package sandbox

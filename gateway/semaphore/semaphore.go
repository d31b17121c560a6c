// Package semaphore limits short work to a few places, fairly between tenants and between the callers of a tenant.
//
// A free place goes to the tenant that holds the fewest, and of its callers to the one that holds the fewest; among
// equals, it goes to the one that has waited longest for a turn. One place is kept for tenants that hold none, and
// one for callers that hold none, so that a first request does not wait, whatever others have waiting.
//
// Packages gateway and mcp import it. Start with [Fair.Acquire].
package semaphore

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

// Fair is a semaphore that is fair between tenants and between their callers. It is safe for concurrent use.
type Fair struct {
	mu      sync.Mutex
	free    int
	tenants map[string]*tenant
	// waiting holds the tenants that wait for a place, in the order of turns.
	waiting *list.List
}

// tenant is a tenant that holds a place or waits for one.
type tenant struct {
	held    int
	callers map[string]*caller
	waiting *list.List // of *caller
	element *list.Element
}

type caller struct {
	held    int
	waiting *list.List // of *waiter, oldest first
	element *list.Element
}

type waiter struct {
	granted chan struct{}
	element *list.Element // nil once it has its place
}

// The places that are kept: for tenants that hold none, and for callers that hold none.
const (
	keptForTenants = 1
	keptForCallers = 1
	// Kept is the number of places beyond those that one caller may hold.
	Kept = keptForTenants + keptForCallers
)

// New returns a semaphore with places for one caller, and Kept more.
func New(places int) (*Fair, error) {
	if places < 1 {
		return nil, errors.New("semaphore: at least one place is needed")
	}
	return &Fair{free: places + Kept, tenants: make(map[string]*tenant), waiting: list.New()}, nil
}

// Acquire waits for a place. The error is the context's. If there is none, release must be called once.
func (f *Fair) Acquire(ctx context.Context, tenantName, callerName string) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := f.enter(tenantName, callerName)
	release = func() { f.release(tenantName, callerName) }
	if w == nil {
		return release, nil
	}
	select {
	case <-w.granted:
		return release, nil
	case <-ctx.Done():
		if !f.leave(w, tenantName, callerName) {
			release() // it had its place meanwhile
		}
		return nil, ctx.Err()
	}
}

// Waiting returns how many wait.
func (f *Fair) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for e := f.waiting.Front(); e != nil; e = e.Next() {
		of := e.Value.(*tenant)
		for c := of.waiting.Front(); c != nil; c = c.Next() {
			n += c.Value.(*caller).waiting.Len()
		}
	}
	return n
}

// may reports whether a caller may have one more place.
func (f *Fair) may(of *tenant, c *caller) bool {
	kept := 0
	if of.held > 0 {
		kept += keptForTenants
		if c.held > 0 {
			kept += keptForCallers
		}
	}
	return f.free > kept
}

// enter takes a place and returns nil, or joins the line.
func (f *Fair) enter(tenantName, callerName string) *waiter {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.tenants[tenantName]
	if of == nil {
		of = &tenant{callers: make(map[string]*caller), waiting: list.New()}
		f.tenants[tenantName] = of
	}
	c := of.callers[callerName]
	if c == nil {
		c = &caller{waiting: list.New()}
		of.callers[callerName] = c
	}
	if c.waiting.Len() == 0 && f.may(of, c) {
		f.take(of, c)
		return nil
	}
	w := &waiter{granted: make(chan struct{})}
	w.element = c.waiting.PushBack(w)
	if c.element == nil {
		c.element = of.waiting.PushBack(c)
	}
	if of.element == nil {
		of.element = f.waiting.PushBack(of)
	}
	return w
}

func (f *Fair) take(of *tenant, c *caller) {
	f.free--
	of.held++
	c.held++
}

// leave removes a waiter from the line. It reports false if the waiter has its place already.
func (f *Fair) leave(w *waiter, tenantName, callerName string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.element == nil {
		return false
	}
	of := f.tenants[tenantName]
	f.remove(of, of.callers[callerName], w)
	f.forget(tenantName, callerName)
	return true
}

// remove removes a waiter from its line, and lines without waiters.
func (f *Fair) remove(of *tenant, c *caller, w *waiter) {
	c.waiting.Remove(w.element)
	w.element = nil
	if c.waiting.Len() == 0 {
		of.waiting.Remove(c.element)
		c.element = nil
	}
	if of.waiting.Len() == 0 {
		f.waiting.Remove(of.element)
		of.element = nil
	}
}

// forget drops what is known of a caller that neither holds a place nor waits.
func (f *Fair) forget(tenantName, callerName string) {
	of := f.tenants[tenantName]
	if c := of.callers[callerName]; c.held == 0 && c.waiting.Len() == 0 {
		delete(of.callers, callerName)
	}
	if len(of.callers) == 0 {
		delete(f.tenants, tenantName)
	}
}

func (f *Fair) release(tenantName, callerName string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.tenants[tenantName]
	f.free++
	of.held--
	of.callers[callerName].held--
	f.forget(tenantName, callerName)
	for f.free > 0 && f.grant() {
	}
}

// grant hands a place to the next in line. It reports false if nobody in line may have one.
func (f *Fair) grant() bool {
	var of *tenant
	var c *caller
	for e := f.waiting.Front(); e != nil; e = e.Next() {
		next := e.Value.(*tenant)
		if of != nil && next.held >= of.held {
			continue
		}
		if who := next.next(f); who != nil {
			of, c = next, who
		}
	}
	if of == nil {
		return false
	}
	w := c.waiting.Front().Value.(*waiter)
	f.waiting.MoveToBack(of.element)
	of.waiting.MoveToBack(c.element)
	f.remove(of, c, w)
	f.take(of, c)
	close(w.granted)
	return true
}

// next returns the caller whose turn it is, or nil if none may have a place.
func (of *tenant) next(f *Fair) *caller {
	var best *caller
	for e := of.waiting.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*caller); (best == nil || c.held < best.held) && f.may(of, c) {
			best = c
		}
	}
	return best
}

// Package turns hands out a few places to short work, fairly between tenants and between the callers of a tenant.
//
// A free place goes to the tenant that holds the fewest, and of its callers to the one that holds the fewest; among
// equals, it goes to the one that has waited longest for a turn. One place is kept for tenants that hold none, and
// one for callers that hold none, so that a first request does not wait, whatever others have waiting.
//
// Packages gateway and mcp import it. Start with [Turns.Take].
package turns

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

// Turns hands out places. It is safe for concurrent use.
type Turns struct {
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

// New returns Turns with places for one caller, and Kept more.
func New(places int) (*Turns, error) {
	if places < 1 {
		return nil, errors.New("turns: at least one place is needed")
	}
	return &Turns{free: places + Kept, tenants: make(map[string]*tenant), waiting: list.New()}, nil
}

// Take waits for a place. The error is the context's. If there is none, release must be called once.
func (t *Turns) Take(ctx context.Context, tenantName, callerName string) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := t.enter(tenantName, callerName)
	release = func() { t.release(tenantName, callerName) }
	if w == nil {
		return release, nil
	}
	select {
	case <-w.granted:
		return release, nil
	case <-ctx.Done():
		if !t.leave(w, tenantName, callerName) {
			release() // it had its place meanwhile
		}
		return nil, ctx.Err()
	}
}

// Waiting returns how many wait.
func (t *Turns) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for e := t.waiting.Front(); e != nil; e = e.Next() {
		of := e.Value.(*tenant)
		for c := of.waiting.Front(); c != nil; c = c.Next() {
			n += c.Value.(*caller).waiting.Len()
		}
	}
	return n
}

// may reports whether a caller may have one more place.
func (t *Turns) may(of *tenant, c *caller) bool {
	kept := 0
	if of.held > 0 {
		kept += keptForTenants
		if c.held > 0 {
			kept += keptForCallers
		}
	}
	return t.free > kept
}

// enter takes a place and returns nil, or joins the line.
func (t *Turns) enter(tenantName, callerName string) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.tenants[tenantName]
	if of == nil {
		of = &tenant{callers: make(map[string]*caller), waiting: list.New()}
		t.tenants[tenantName] = of
	}
	c := of.callers[callerName]
	if c == nil {
		c = &caller{waiting: list.New()}
		of.callers[callerName] = c
	}
	if c.waiting.Len() == 0 && t.may(of, c) {
		t.take(of, c)
		return nil
	}
	w := &waiter{granted: make(chan struct{})}
	w.element = c.waiting.PushBack(w)
	if c.element == nil {
		c.element = of.waiting.PushBack(c)
	}
	if of.element == nil {
		of.element = t.waiting.PushBack(of)
	}
	return w
}

func (t *Turns) take(of *tenant, c *caller) {
	t.free--
	of.held++
	c.held++
}

// leave removes a waiter from the line. It reports false if the waiter has its place already.
func (t *Turns) leave(w *waiter, tenantName, callerName string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.element == nil {
		return false
	}
	of := t.tenants[tenantName]
	t.remove(of, of.callers[callerName], w)
	t.forget(tenantName, callerName)
	return true
}

// remove removes a waiter from its line, and lines without waiters.
func (t *Turns) remove(of *tenant, c *caller, w *waiter) {
	c.waiting.Remove(w.element)
	w.element = nil
	if c.waiting.Len() == 0 {
		of.waiting.Remove(c.element)
		c.element = nil
	}
	if of.waiting.Len() == 0 {
		t.waiting.Remove(of.element)
		of.element = nil
	}
}

// forget drops what is known of a caller that neither holds a place nor waits.
func (t *Turns) forget(tenantName, callerName string) {
	of := t.tenants[tenantName]
	if c := of.callers[callerName]; c.held == 0 && c.waiting.Len() == 0 {
		delete(of.callers, callerName)
	}
	if len(of.callers) == 0 {
		delete(t.tenants, tenantName)
	}
}

func (t *Turns) release(tenantName, callerName string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.tenants[tenantName]
	t.free++
	of.held--
	of.callers[callerName].held--
	t.forget(tenantName, callerName)
	for t.free > 0 && t.grant() {
	}
}

// grant hands a place to the next in line. It reports false if nobody in line may have one.
func (t *Turns) grant() bool {
	var of *tenant
	var c *caller
	for e := t.waiting.Front(); e != nil; e = e.Next() {
		next := e.Value.(*tenant)
		if of != nil && next.held >= of.held {
			continue
		}
		if who := next.next(t); who != nil {
			of, c = next, who
		}
	}
	if of == nil {
		return false
	}
	w := c.waiting.Front().Value.(*waiter)
	t.waiting.MoveToBack(of.element)
	of.waiting.MoveToBack(c.element)
	t.remove(of, c, w)
	t.take(of, c)
	close(w.granted)
	return true
}

// next returns the caller whose turn it is, or nil if none may have a place.
func (of *tenant) next(t *Turns) *caller {
	var best *caller
	for e := of.waiting.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*caller); (best == nil || c.held < best.held) && t.may(of, c) {
			best = c
		}
	}
	return best
}

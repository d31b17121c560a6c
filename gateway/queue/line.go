package queue

import "container/list"

// waiter is one execution in line. Its fields belong to the queue's lock until done is closed.
type waiter struct {
	class   Class
	tenant  string
	element *list.Element // in its line; nil once it has left
	done    chan struct{}
	err     error
}

// line is what one tenant has waiting in one class, oldest first.
type line struct {
	tenant  string
	waiters *list.List
	turn    *list.Element
}

func (l *line) youngest() *waiter {
	return l.waiters.Back().Value.(*waiter)
}

// class is the lines of one priority; turns holds those that are not empty, whose turn it is first.
type class struct {
	byTenant map[string]*line
	turns    *list.List
}

func (c *class) push(w *waiter) {
	l := c.byTenant[w.tenant]
	if l == nil {
		l = &line{tenant: w.tenant, waiters: list.New()}
		c.byTenant[w.tenant] = l
		l.turn = c.turns.PushBack(l)
	}
	w.element = l.waiters.PushBack(w)
}

func (c *class) remove(w *waiter) {
	l := c.byTenant[w.tenant]
	l.waiters.Remove(w.element)
	w.element = nil
	if l.waiters.Len() == 0 {
		delete(c.byTenant, w.tenant)
		c.turns.Remove(l.turn)
	}
}

// turn is the line whose turn it is: of the tenants that may have one more place the one that holds the fewest, and among
// equals the one that has waited longest for a turn. It is nil when there is none.
func (c *class) turn(of *shares) *line {
	var best *line
	for e := c.turns.Front(); e != nil; e = e.Next() {
		l := e.Value.(*line)
		if of.may(l.tenant) && (best == nil || of.held(l.tenant) < of.held(best.tenant)) {
			best = l
		}
	}
	return best
}

// next takes the oldest waiter of a line; the tenant then goes to the back.
func (c *class) next(l *line) *waiter {
	w := l.waiters.Front().Value.(*waiter)
	c.turns.MoveToBack(l.turn)
	c.remove(w)
	return w
}

// longest is the tenant with the most waiting; nil when nobody waits.
func (c *class) longest() *line {
	var longest *line
	for e := c.turns.Front(); e != nil; e = e.Next() {
		if l := e.Value.(*line); longest == nil || l.waiters.Len() > longest.waiters.Len() {
			longest = l
		}
	}
	return longest
}

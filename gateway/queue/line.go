package queue

import "container/list"

// waiter is an execution in line. Its fields belong to the queue's lock until done is closed.
type waiter struct {
	class   Class
	tenant  string
	subject string
	element *list.Element // among its subject's; nil once it has left
	done    chan struct{}
	err     error
}

// line holds what one tenant has waiting in one class. Its subjects take turns, too.
type line struct {
	tenant   string
	n        int
	subjects map[string]*file
	order    *list.List // of *file, in the order of turns
	turn     *list.Element
}

// file holds what one subject of a tenant has waiting, oldest first.
type file struct {
	waiters *list.List
	turn    *list.Element
}

func newLine(tenant string) *line {
	return &line{tenant: tenant, subjects: map[string]*file{}, order: list.New()}
}

func (l *line) push(w *waiter) {
	f := l.subjects[w.subject]
	if f == nil {
		f = &file{waiters: list.New()}
		l.subjects[w.subject] = f
		f.turn = l.order.PushBack(f)
	}
	w.element = f.waiters.PushBack(w)
	l.n++
}

func (l *line) remove(w *waiter) {
	f := l.subjects[w.subject]
	f.waiters.Remove(w.element)
	w.element = nil
	l.n--
	if f.waiters.Len() == 0 {
		l.order.Remove(f.turn)
		delete(l.subjects, w.subject)
	}
}

// first returns the oldest waiter of the subject whose turn it is: the first that may have one more place, or nil.
func (l *line) first(of *holders) *waiter {
	for e := l.order.Front(); e != nil; e = e.Next() {
		if w := e.Value.(*file).waiters.Front().Value.(*waiter); of.may(w.tenant, w.subject) {
			return w
		}
	}
	return nil
}

// youngest returns the youngest waiter of the subject that has the most, and the number of that subject's waiters.
func (l *line) youngest() (w *waiter, of int) {
	var most *file
	for e := l.order.Front(); e != nil; e = e.Next() {
		if f := e.Value.(*file); most == nil || f.waiters.Len() > most.waiters.Len() {
			most = f
		}
	}
	return most.waiters.Back().Value.(*waiter), most.waiters.Len()
}

// of returns the number of a subject's waiters.
func (l *line) of(subject string) int {
	if f := l.subjects[subject]; f != nil {
		return f.waiters.Len()
	}
	return 0
}

// class holds the lines of one priority. turns has the lines that are not empty, in the order of turns.
type class struct {
	byTenant map[string]*line
	turns    *list.List
}

func (c *class) push(w *waiter) {
	l := c.byTenant[w.tenant]
	if l == nil {
		l = newLine(w.tenant)
		c.byTenant[w.tenant] = l
		l.turn = c.turns.PushBack(l)
	}
	l.push(w)
}

func (c *class) remove(w *waiter) {
	l := c.byTenant[w.tenant]
	l.remove(w)
	if l.n == 0 {
		delete(c.byTenant, w.tenant)
		c.turns.Remove(l.turn)
	}
}

// turn returns the waiter whose turn it is: of the tenants that may have one more place, the one that holds the fewest,
// and among equals the one that has waited longest for a turn. It returns nil if there is none.
func (c *class) turn(of *holders) *waiter {
	var best *waiter
	for e := c.turns.Front(); e != nil; e = e.Next() {
		l := e.Value.(*line)
		if best != nil && of.held(l.tenant) >= of.held(best.tenant) {
			continue
		}
		if w := l.first(of); w != nil {
			best = w
		}
	}
	return best
}

// serve removes a waiter, and puts its subject and its tenant at the back.
func (c *class) serve(w *waiter) {
	l := c.byTenant[w.tenant]
	l.order.MoveToBack(l.subjects[w.subject].turn)
	c.turns.MoveToBack(l.turn)
	c.remove(w)
}

// longest returns the line of the tenant with the most waiters, or nil if nobody waits.
func (c *class) longest() *line {
	var longest *line
	for e := c.turns.Front(); e != nil; e = e.Next() {
		if l := e.Value.(*line); longest == nil || l.n > longest.n {
			longest = l
		}
	}
	return longest
}

package flow

import (
	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/threat"
)

// maxTimerChecks bounds the searches for timers that set themselves again.
const maxTimerChecks = 25

// timers records the timers that the code sets: functions that set a timer for themselves, intervals that nobody
// clears, timers in loops.
type timers struct {
	// cleared reports that clearInterval or clearTimeout is mentioned.
	cleared bool
	edges   []edge
	// intervals are the places of setInterval, callbacks the IDs of the functions that it calls.
	intervals []edge
	callbacks map[int]bool
}

// edge records that one function calls another: directly or, if timer is set, through a timer set at that place.
type edge struct {
	from, to int
	timer    bool
	at       int
	in       *function // that the place is in
}

func (t *timers) reset() { *t = timers{} }

func (t *timers) add(e edge) {
	if len(t.edges) < maxEdges {
		t.edges = append(t.edges, e)
	}
}

// calls records that code in frame calls f. The program itself is never called.
func (t *timers) calls(frame, f *function) {
	if frame != nil {
		t.add(edge{from: frame.id, to: f.id})
	}
}

// timer handles a call of setTimeout, setImmediate or setInterval.
func (cs *calls) timer(s *catalogue.Symbol, c call) {
	cs.facts.Flags.HasTimers = true
	t := cs.timers
	for f := c.arg(0); f != nil; f = f.alt {
		switch {
		case f.kind == kindText, f.kind == kindDecoded:
			cs.findings.compiles(s, c.at, c.mixed)
			cs.codeString(call{args: c.args[:1], at: c.at})
		case f.kind == kindSymbol && f.sym.Role == catalogue.RoleCallee:
			cs.findings.add(threat.TimerAbuse, catalogue.NeverGranted, "", c.at, s.Name,
				" sets the running function going again")
		case f.kind == kindSymbol && f.sym.Role == catalogue.RoleFunction:
			cs.findings.found(f.sym, c.at)
		case f.kind == kindFunction:
			if cs.scope.frame != nil {
				t.add(edge{from: cs.scope.frame.id, to: f.fn.id, timer: true, at: c.at, in: cs.scope.frame})
			}
			if s.Role == catalogue.RoleInterval {
				if t.callbacks == nil {
					t.callbacks = map[int]bool{}
				}
				t.callbacks[f.fn.id] = true
			}
		}
	}
	switch {
	case s.Role == catalogue.RoleInterval && cs.scope.loops > 0:
		cs.findings.add(threat.TimerAbuse, catalogue.NeverGranted, "", c.at, s.Name, " in a loop floods the event loop")
	case s.Role == catalogue.RoleInterval:
		t.intervals = append(t.intervals, edge{at: c.at, in: cs.scope.frame})
		if cs.scope.frame != nil {
			t.add(edge{from: cs.scope.frame.id, to: -1, timer: true, at: c.at, in: cs.scope.frame})
		}
	case cs.scope.endless > 0:
		cs.findings.add(threat.TimerAbuse, catalogue.NeverGranted, "", c.at, s.Name,
			" in an endless or long loop floods the event loop")
	}
}

// task handles a call of queueMicrotask and its like.
func (cs *calls) task(c call) {
	cs.program.tasks = true
	for f := c.arg(0); f != nil; f = f.alt {
		if f.kind == kindFunction && cs.scope.frame != nil {
			cs.timers.add(edge{from: cs.scope.frame.id, to: f.fn.id, timer: true, at: c.at, in: cs.scope.frame})
		}
	}
}

// report adds the findings that depend on the whole program.
func (t *timers) report(b *cost.Budget, f *findings) {
	next := map[int][]int{}
	for _, e := range t.edges {
		next[e.from] = append(next[e.from], e.to)
	}
	checked := 0
	for _, e := range t.edges {
		if !e.timer || checked >= maxTimerChecks || !b.Take(len(t.edges)*cost.ElementWork) {
			continue
		}
		checked++
		switch {
		case e.to == -1 && t.callbacks[e.from]:
			f.addIn(e.in, threat.TimerAbuse, e.at, "setInterval inside an interval multiplies timers")
		case e.to >= 0 && reaches(next, e.to, e.from):
			f.addIn(e.in, threat.TimerAbuse, e.at, "a function sets a timer for itself, again and again")
		}
	}
	if !t.cleared {
		for _, e := range t.intervals {
			f.addIn(e.in, threat.TimerAbuse, e.at, "setInterval that is never cleared runs until the deadline")
		}
	}
}

func reaches(next map[int][]int, from, to int) bool {
	seen := map[int]bool{from: true}
	for todo := []int{from}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == to {
			return true
		}
		for _, m := range next[n] {
			if !seen[m] {
				seen[m] = true
				todo = append(todo, m)
			}
		}
	}
	return false
}

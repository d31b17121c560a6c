package localinvoke

// Renew replaces every process, because what they read when they started has changed: an idle one at once, a busy one
// when it has answered. It does not wait for that. Calls that find no process meanwhile wait for one.
func (p *Pool) Renew() {
	p.mu.Lock()
	p.renewals++
	var current []*process
	for _, s := range p.places {
		if s.current != nil {
			current = append(current, s.current)
		}
	}
	p.mu.Unlock()
	for _, proc := range current {
		p.renew(proc)
	}
}

func (p *Pool) renew(proc *process) {
	proc.wear(renewal)
	if p.roster.take(proc) {
		proc.kill(renewal)
	}
}

// offer makes a process that has asked for work idle, unless it is to be replaced: then it is ended. It reports false
// for a process that must not ask.
func (p *Pool) offer(proc *process, over *conn) bool {
	if !proc.rest(over) {
		return false
	}
	if p.replaced(proc) {
		return true
	}
	p.roster.put(proc)
	if proc.wornBy() != notKilled && p.roster.take(proc) { // since it was looked at
		p.replaced(proc)
	}
	return true
}

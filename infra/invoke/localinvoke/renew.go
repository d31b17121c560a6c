package localinvoke

// Renew replaces every process, because the files that they read at their start have changed: an idle one at once, a
// busy one after its answer. It does not wait. Calls wait for a new process meanwhile.
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

// offer makes a process that asks for work idle, or ends it if it is to be replaced. It reports false for a process
// that must not ask.
func (p *Pool) offer(proc *process, over *conn) bool {
	if !proc.rest(over) {
		return false
	}
	if p.replaced(proc) {
		return true
	}
	proc.idleSince = p.cfg.Now()
	p.roster.put(proc)
	if proc.wornBy() != notKilled && p.roster.take(proc) { // since it was looked at
		p.replaced(proc)
	}
	return true
}

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

package crew

// A Crew calls functions on goroutines that it reuses together with their grown stacks. Its methods are safe for
// concurrent use.
type Crew struct {
	work chan func()
	quit chan struct{}
}

// New returns a Crew without goroutines.
func New() Crew { return Crew{make(chan func()), make(chan struct{})} }

// Run calls f on a goroutine that is idle, or on a new one, and does not wait for it.
func (c Crew) Run(f func()) {
	select {
	case c.work <- f:
	default:
		go c.stay(f)
	}
}

// stay calls f, and then the functions that Run passes on, until the crew is dismissed.
func (c Crew) stay(f func()) {
	for {
		f()
		select {
		case f = <-c.work:
		case <-c.quit:
			return
		}
	}
}

// Dismiss ends the idle goroutines, and the others when they become idle. It may be called once.
func (c Crew) Dismiss() { close(c.quit) }

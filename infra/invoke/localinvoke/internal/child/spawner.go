package child

import "runtime"

// A Spawner starts processes from one thread that lives until Close. The kernel kills a child when the thread that
// started it ends (Pdeathsig), and the Go runtime may end any other thread. Its children inherit its timer slack and
// its niceness.
type Spawner struct{ jobs chan func() }

// NewSpawner starts the thread.
func NewSpawner() *Spawner {
	s := &Spawner{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		setSchedule()
		for job := range s.jobs {
			job()
		}
	}()
	return s
}

// Do runs start on the thread.
func (s *Spawner) Do(start func() error) error {
	result := make(chan error, 1)
	s.jobs <- func() { result <- start() }
	return <-result
}

// Close ends the thread. The children must have ended.
func (s *Spawner) Close() { close(s.jobs) }

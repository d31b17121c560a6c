package localinvoke

import "runtime"

// spawner starts processes from one thread that lives as long as the pool: the kernel's "kill me when my parent dies"
// is about the parent thread, and Go may end any other thread of ours.
type spawner struct{ jobs chan func() }

func newSpawner() *spawner {
	s := &spawner{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for job := range s.jobs {
			job()
		}
	}()
	return s
}

// do runs start on that thread.
func (s *spawner) do(start func() error) error {
	result := make(chan error, 1)
	s.jobs <- func() { result <- start() }
	return <-result
}

func (s *spawner) close() { close(s.jobs) }

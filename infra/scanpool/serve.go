package scanpool

import (
	"errors"
	"io"
)

// Serve serves as a worker: it reports that it is ready, with a line for the log, and answers each task with handle.
// It returns nil as soon as in ends; a task that runs then is abandoned, so the caller should end the process.
func Serve(in io.Reader, out io.Writer, ready string, handle func(task []byte) []byte) error {
	if err := writeFrame(out, ready); err != nil {
		return err
	}
	tasks, failed := make(chan []byte), make(chan error, 2)
	go func() {
		for {
			task, err := readFrame(in, maxFrame)
			if err != nil {
				failed <- err
				return
			}
			tasks <- task
		}
	}()
	go func() {
		for task := range tasks {
			if err := writeFrame(out, string(handle(task))); err != nil {
				failed <- err
				return
			}
		}
	}()
	if err := <-failed; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

package scanpool

import (
	"errors"
	"io"
)

// Serve is the worker's side: it says that it is ready, with a line for the log, and has handle answer each task. It
// returns nil when in ends, at once: a task that is being handled then is given up, so the caller should end the
// process.
func Serve(in io.Reader, out io.Writer, ready string, handle func(task []byte) []byte) error {
	if err := writeFrame(out, []byte(ready)); err != nil {
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
			if err := writeFrame(out, handle(task)); err != nil {
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

package stream

import (
	"bufio"
	"context"
	"errors"
	"strconv"
	"time"
)

// Write sends what f reads as server-sent events until the stream or the context ends, or the client is gone. IDs are
// prefix, a colon and the number of the event. After each heartbeat without an event, Write sends a comment. It calls
// before ahead of each flush, so that before can set a deadline. Events that are there already are sent together.
func Write(
	ctx context.Context, w *bufio.Writer, f *Follower, prefix string, heartbeat time.Duration, before func(),
) error {
	unsent := 0
	flush := func() error {
		before()
		unsent = 0
		return w.Flush()
	}
	// The headers and a first comment are sent at once, so that the client knows that it is connected.
	if _, err := w.WriteString(": connected\n\n"); err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	for {
		waiting, cancel := context.WithTimeout(ctx, heartbeat)
		e, err := f.Next(waiting)
		cancel()
		switch {
		case err == nil:
			writeEvent(w, prefix, e)
			if unsent += len(e.Data); unsent < together && f.more() {
				continue
			}
		case errors.Is(err, ErrEnd):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			_, _ = w.WriteString(": heartbeat\n\n") // a bufio.Writer keeps its error for Flush
		}
		if err := flush(); err != nil {
			return err
		}
	}
}

// together is how many bytes of events are sent together. Each flush is a system call, which costs as much as 100 small
// events.
const together = 16 << 10

func writeEvent(w *bufio.Writer, prefix string, e Event) {
	for _, s := range []string{"id: ", prefix, ":", strconv.Itoa(e.ID), "\nevent: ", e.Name, "\ndata: "} {
		_, _ = w.WriteString(s)
	}
	_, _ = w.Write(e.Data)
	_, _ = w.WriteString("\n\n")
}

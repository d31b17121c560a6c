package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"
)

// record returns the events of a run that reads the clock, draws, sets a timer, asks and calls.
func record(t *testing.T) []Event {
	t.Helper()
	var tape Tape
	for _, now := range []time.Duration{5, 5, 7} {
		tape.Clock(func() time.Duration { return now })
	}
	if _, err := io.ReadFull(tape.Random(bytes.NewReader([]byte("abcd"))), make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	tape.Asked(1, "fetch", "hash")
	tape.Fired(3)
	tape.Answered(1, json.RawMessage("true"), nil, nil)
	tape.Called("tool", "hash", nil, &[2]string{"Error", "no"})
	events, truncated := tape.Recorded()
	if truncated || len(events) != 6 {
		t.Fatalf("recorded %+v, truncated %v", events, truncated)
	}
	if n := events[0].Count; n != 2 {
		t.Fatalf("the first event counts %d times, want twice", n)
	}
	if err := tape.End(); err != nil {
		t.Fatal(err)
	}
	return events
}

func TestPlay(t *testing.T) {
	tape := Play(record(t))
	for _, want := range []time.Duration{5, 5, 7} {
		if got := tape.Clock(nil); got != want {
			t.Errorf("the clock reads %d, want %d", got, want)
		}
	}
	drawn := make([]byte, 4)
	if _, err := tape.Random(nil).Read(drawn); err != nil || string(drawn) != "abcd" {
		t.Errorf("drew %q, %v", drawn, err)
	}
	tape.Asked(1, "fetch", "hash")
	if e, err := tape.PlayNext(); err != nil || e.Kind != Timer || e.ID != 3 {
		t.Errorf("want timer 3, got %+v, %v", e, err)
	}
	if e, err := tape.PlayNext(); err != nil || e.Kind != Answer || string(e.JSON) != "true" {
		t.Errorf("want the answer, got %+v, %v", e, err)
	}
	if !errors.Is(tape.End(), ErrDiverged) {
		t.Error("a run may not end before its journal")
	}
	if e, err := tape.PlayCall("tool", "hash"); err != nil || e.Error == nil {
		t.Errorf("want the error of the call, got %+v, %v", e, err)
	}
	if e, err := tape.PlayNext(); e != nil || err != nil || tape.End() != nil {
		t.Errorf("after the end: %+v, %v, %v", e, err, tape.End())
	}
}

func TestPlayDiverges(t *testing.T) {
	for name, play := range map[string]func(*Tape) error{
		"one read of the clock more": func(tape *Tape) error {
			for range 4 {
				tape.Clock(nil)
			}
			return tape.Err()
		},
		"a draw before the clock": func(tape *Tape) error {
			_, err := tape.Random(nil).Read(make([]byte, 4))
			return err
		},
		"a draw of another length": func(tape *Tape) error {
			for range 3 {
				tape.Clock(nil)
			}
			_, err := tape.Random(nil).Read(make([]byte, 5))
			return err
		},
		"waiting instead of reading the clock": func(tape *Tape) error { _, err := tape.PlayNext(); return err },
		"another request": func(tape *Tape) error {
			tape.next = 3 // the timer
			tape.Asked(1, "fetch", "another hash")
			if _, err := tape.PlayNext(); err != nil {
				return errors.New("the timer did not fire")
			}
			_, err := tape.PlayNext()
			return err
		},
		"another call": func(tape *Tape) error {
			tape.next = 5
			_, err := tape.PlayCall("tool", "another hash")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			tape := Play(record(t))
			if err := play(&tape); !errors.Is(err, ErrDiverged) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRecordingIsBounded(t *testing.T) {
	var tape Tape
	for id := range int32(2 * maxEvents) {
		tape.Fired(id)
	}
	if events, truncated := tape.Recorded(); !truncated || len(events) > maxEvents {
		t.Errorf("%d events, truncated %v", len(events), truncated)
	}
}

package dynamostate

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// Alarms wakes a process at given times.
type Alarms interface {
	// Set has a process woken at a time, or soon if it has passed. Setting an alarm again does nothing. Set is called
	// before each change of an item for which something is due, and the change is not made if it fails.
	Set(ctx context.Context, at time.Time) error
}

// setAlarm sets the alarm of an item that is about to be stored, if something is due for it.
func (t *table) setAlarm(ctx context.Context, it item) error {
	at, due := dueTime(entryOf(it))
	if wake := textOf(it["wake"]); wake != "" { // a paused job is in no list
		at, due = timeIn(wake)
	}
	if t.alarms == nil || !due {
		return nil
	}
	return t.ring(ctx, at)
}

// ring sets an alarm.
func (t *table) ring(ctx context.Context, at time.Time) error {
	err := t.alarms.Set(ctx, at)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &execution.StoreError{Fault: execution.StoreBusy, Err: err}
}

// dueTime returns when something is due for an item in a list; the zero time means soon. A running job is looked at
// soon, because its process may die.
func dueTime(e entry) (at time.Time, due bool) {
	switch e.list {
	case runningList:
		return time.Time{}, true
	case queuedList: // tenant, class, time, ID
		if places := strings.Split(e.at, "/"); len(places) == 4 {
			return timeIn(places[2])
		}
	case callbacksList, schedulesList:
		return timeIn(e.at)
	}
	return time.Time{}, false
}

// timeIn returns the time with which the place in a timed list begins.
func timeIn(place string) (at time.Time, is bool) {
	text, _ := splitTime(place)
	ms, err := strconv.ParseInt(text, 10, 64)
	return fromMillis(ms), err == nil
}

// Arm sets the alarms for what is due, or runs, now, and for what will be due within a time. A process that was woken
// calls it before it does what is due: if the process dies, or leaves something undone, another one is woken. One that
// is invoked regularly, but seldom, thereby replaces alarms that were lost, such as those of a state that was copied.
func Arm(ctx context.Context, s *Store, within time.Duration) error {
	if s.alarms == nil {
		return nil
	}
	until := s.cfg.Now().Add(within)
	to := when(millis(until) + 1)
	for _, look := range []struct {
		index    index
		list, to string
		due      func(listed) (time.Time, bool)
	}{
		{dueIndex(), runningList, last, entryTime},
		{dueIndex(), queuedList, last, entryTime},
		{dueIndex(), callbacksList, to, entryTime},
		{dueIndex(), schedulesList, to, entryTime},
		{wakeIndex(), string(execution.Paused), to, placeTime},
	} {
		n := 0
		err := s.within(ctx, look.index, look.list, first, look.to, looked, func(l listed) (bool, error) {
			n++
			at, due := look.due(l)
			if due && !at.After(until) {
				if err := s.ring(ctx, at); err != nil {
					return false, err
				}
			}
			return n < looked, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func entryTime(l listed) (time.Time, bool) { return dueTime(l.entry) }

func placeTime(l listed) (time.Time, bool) { return timeIn(l.at) }

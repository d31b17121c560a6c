package schedule

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/airlock-run/airlock/functions/execution"
)

// What happens to times that passed while nothing ran. Codes are append-only.
const (
	Skip = "skip" // the default
	Once = "once" // one run for all of them
	All  = "all"  // a run for each, the last MaxMissed of them
)

// MaxMissed is how many missed times are made up for at most.
const MaxMissed = 100

// Grace is how late a run may be without counting as missed, unless Config says otherwise.
const Grace = time.Minute

// Check refuses a schedule that does not parse, names no time zone of the IANA data, or never occurs. It fills in the
// defaults and the first time after now.
func Check(s *execution.FunctionSchedule, now time.Time) error {
	if s.TimeZone == "" {
		s.TimeZone = "UTC"
	}
	if s.Missed == "" {
		s.Missed = Skip
	}
	if s.Missed != Skip && s.Missed != Once && s.Missed != All {
		return bad("schedule.missed", "must be skip, once or all")
	}
	next, err := Next(*s, now)
	if err != nil {
		return err
	}
	if next.IsZero() {
		return bad("schedule.cron", "names a time that never comes")
	}
	s.Next = next
	return nil
}

// Next returns the first time of a schedule after another, in UTC. It is zero if there is none within five years.
func Next(s execution.FunctionSchedule, after time.Time) (time.Time, error) {
	c, err := parse(s)
	if err != nil {
		return time.Time{}, err
	}
	return c.next(after), nil
}

// calendar is a parsed schedule.
type calendar struct {
	zone      *time.Location
	times     cron.Schedule
	everyHour bool
}

func parse(s execution.FunctionSchedule) (c calendar, err error) {
	c.zone, err = time.LoadLocation(s.TimeZone)
	if err != nil || s.TimeZone == "Local" || len(s.TimeZone) > 64 {
		return c, bad("schedule.timeZone", "must be a name of the IANA time zones, such as Europe/Berlin or UTC")
	}
	if s.Cron == "" || len(s.Cron) > 256 || strings.Contains(s.Cron, "TZ=") {
		return c, bad(
			"schedule.cron",
			`must be a cron expression of five fields, such as "0 9 * * 1-5"; the time zone has a field of its own`,
		)
	}
	if strings.HasPrefix(s.Cron, "@every") {
		return c, bad("schedule.cron", "must name times of the clock; @every is not supported, use */5 * * * * or the like")
	}
	if c.times, err = cron.ParseStandard(s.Cron); err != nil {
		return c, bad("schedule.cron", `does not parse as a cron expression of five fields, such as "0 9 * * 1-5"`)
	}
	c.everyHour = everyHour(s.Cron)
	return c, nil
}

// next returns the first time after another, in UTC, or zero if there is none.
func (c calendar) next(after time.Time) time.Time {
	next := c.times.Next(after.In(c.zone))
	for !c.everyHour && again(next) {
		next = c.times.Next(next)
	}
	return next.UTC()
}

// between returns at most n times after one until another, and reports whether these are all.
func (c calendar) between(after, until time.Time, n int) (times []time.Time, all bool) {
	for at := c.next(after); !at.IsZero() && !at.After(until); at = c.next(at) {
		if len(times) == n {
			return times, false
		}
		times = append(times, at)
	}
	return times, true
}

// latest returns the last n times after one until another. It computes at most a few thousand times, however long ago
// the first was and however many there are, so a schedule that was suspended for a year costs no more than others.
func (c calendar) latest(after, until time.Time, n int) []time.Time {
	times, all := c.between(after, until, n)
	for late := until; !all; {
		// There are more than n times after `after`, and at most n after `late`. No two are within a minute.
		middle := after.Add(late.Sub(after) / 2)
		if some, few := c.between(middle, until, n); few {
			late, times = middle, some
		} else {
			after = middle
		}
		all = late.Sub(after) < time.Minute
	}
	return times
}

// everyHour reports whether an expression means an interval rather than times of the day. Such a schedule continues
// through an hour that occurs twice.
func everyHour(expression string) bool {
	fields := strings.Fields(expression)
	return len(fields) > 1 && strings.HasPrefix(fields[1], "*") || expression == "@hourly"
}

// again reports whether the clock on the wall showed the same time before: it was set back, by an hour or by half an
// hour.
func again(t time.Time) bool {
	const clock = "2006-01-02 15:04"
	return !t.IsZero() &&
		(t.Add(-time.Hour).Format(clock) == t.Format(clock) || t.Add(-time.Hour/2).Format(clock) == t.Format(clock))
}

func bad(field, message string) error {
	return &execution.Error{Code: execution.InvalidRequest, Field: field, Message: message}
}

// Due returns the times of a schedule that are to run now, the latest last, and the next time. A time that is further
// in the past than grace was missed. The cost does not grow with the time that has passed.
func Due(
	s execution.FunctionSchedule, now time.Time, grace time.Duration,
) (run []time.Time, next time.Time, err error) {
	if s.Next.IsZero() || s.Next.After(now) {
		return nil, s.Next, nil
	}
	c, err := parse(s)
	if err != nil {
		return nil, time.Time{}, err
	}
	next = c.next(now)
	switch missed := now.Sub(s.Next) > grace; {
	case missed && s.Missed == Once: // one run makes up for all
		if run = c.latest(s.Next, now, 1); len(run) == 0 {
			run = []time.Time{s.Next}
		}
	case missed && s.Missed != All:
		run = c.latest(now.Add(-grace-1), now, MaxMissed)
	default:
		if run = c.latest(s.Next, now, MaxMissed); len(run) < MaxMissed {
			run = append([]time.Time{s.Next}, run...)
		}
	}
	return run, next, nil
}

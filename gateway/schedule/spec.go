package schedule

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/airlock-run/airlock/functions/execution"
)

// What becomes of times that passed while nothing ran. Codes are append-only.
const (
	Skip = "skip" // the default
	Once = "once" // one run for all of them
	All  = "all"  // a run for each, the last MaxMissed of them
)

// MaxMissed is how many missed times are made up for at most.
const MaxMissed = 100

// Grace is how late a run may be without counting as missed, unless Config says otherwise.
const Grace = time.Minute

// Check refuses a schedule that does not parse, names no time zone of the IANA data, or never comes. It fills in the
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

// Next gives the first time of a schedule after another, in UTC; zero when there is none within five years.
func Next(s execution.FunctionSchedule, after time.Time) (time.Time, error) {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil || s.TimeZone == "Local" || len(s.TimeZone) > 64 {
		return time.Time{}, bad("schedule.timeZone", "must be a name of the IANA time zones, such as Europe/Berlin or UTC")
	}
	if s.Cron == "" || len(s.Cron) > 256 || strings.Contains(s.Cron, "TZ=") {
		return time.Time{}, bad("schedule.cron", `must be a cron expression of five fields, such as "0 9 * * 1-5"; the time zone has a field of its own`)
	}
	if strings.HasPrefix(s.Cron, "@every") {
		return time.Time{}, bad("schedule.cron", "must name times of the clock; @every is not supported, use */5 * * * * or the like")
	}
	parsed, err := cron.ParseStandard(s.Cron)
	if err != nil {
		return time.Time{}, bad("schedule.cron", `does not parse as a cron expression of five fields, such as "0 9 * * 1-5"`)
	}
	next := parsed.Next(after.In(zone))
	for !everyHour(s.Cron) && again(next) {
		next = parsed.Next(next)
	}
	return next.UTC(), nil
}

// everyHour reports whether an expression means a rhythm rather than times of the day: such a schedule goes on through
// an hour that comes twice.
func everyHour(expression string) bool {
	fields := strings.Fields(expression)
	return len(fields) > 1 && strings.HasPrefix(fields[1], "*") || expression == "@hourly"
}

// again reports whether the clock on the wall showed the same time before: it was put back, by an hour or by half of one.
func again(t time.Time) bool {
	const clock = "2006-01-02 15:04"
	return !t.IsZero() && (t.Add(-time.Hour).Format(clock) == t.Format(clock) || t.Add(-time.Hour/2).Format(clock) == t.Format(clock))
}

func bad(field, message string) error {
	return &execution.Error{Code: execution.InvalidRequest, Field: field, Message: message}
}

// Due gives the times of a schedule that are to be run now, the latest last, and the next time to come. A time that is
// further away than grace was missed.
func Due(s execution.FunctionSchedule, now time.Time, grace time.Duration) (run []time.Time, next time.Time, err error) {
	missed := 0
	for next = s.Next; !next.IsZero() && !next.After(now); {
		late := now.Sub(next) > grace
		switch {
		case !late || s.Missed == All:
			run = append(run, next)
		case s.Missed == Once:
			run, missed = []time.Time{next}, missed+1
		}
		if len(run) > MaxMissed {
			run = run[1:]
		}
		if next, err = Next(s, next); err != nil {
			return nil, time.Time{}, err
		}
	}
	if s.Missed == Once && missed > 0 && len(run) > 1 {
		run = run[len(run)-1:] // the run that is on time makes up for those before
	}
	return run, next, nil
}

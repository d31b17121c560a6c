package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/schedule"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/policy/audit"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cron, zone, after, want string }{
		{"0 9 * * 1-5", "UTC", "2026-11-20T09:00:00Z", "2026-11-23T09:00:00Z"},
		{"0 9 * * *", "Europe/Berlin", "2026-07-01T00:00:00Z", "2026-07-01T07:00:00Z"},
		{"0 9 * * *", "America/New_York", "2026-01-01T00:00:00Z", "2026-01-01T14:00:00Z"},
		{"@hourly", "UTC", "2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z"},
		// The night of 29 March 2026 has no 02:30 in Berlin; that of 25 October has it twice.
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		{"30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"*/30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z"},
		{"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-09T06:30:00Z"},
		{"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", "2026-11-01T05:30:00Z"},
		{"30 1 * * *", "America/New_York", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"},
		// Lord Howe Island sets its clocks back by half an hour.
		{"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-04T14:45:00Z"},
		{"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"},
	} {
		got, err := schedule.Next(execution.FunctionSchedule{Cron: c.cron, TimeZone: c.zone}, at(t, c.after))
		if err != nil || !got.Equal(at(t, c.want)) {
			t.Errorf("%s in %s after %s: %s %v", c.cron, c.zone, c.after, got, err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := execution.FunctionSchedule{Cron: "* * * * *"}
	if err := schedule.Check(&s, at(t, "2026-01-01T00:00:30Z")); err != nil {
		t.Error(err)
	}
	if s.TimeZone != "UTC" || s.Missed != "skip" {
		t.Errorf("the zone is %q, missed runs %q", s.TimeZone, s.Missed)
	}
	if !s.Next.Equal(at(t, "2026-01-01T00:01:00Z")) {
		t.Errorf("it runs next at %v", s.Next)
	}
	for _, c := range []struct{ cron, zone, missed, field string }{
		{"", "", "", "schedule.cron"}, {"* * * *", "", "", "schedule.cron"}, {"* * * * * *", "", "", "schedule.cron"},
		{"61 * * * *", "", "", "schedule.cron"},
		{"0 0 31 4 *", "", "", "schedule.cron"}, {"@every 1s", "", "", "schedule.cron"},
		{"TZ=UTC * * * * *", "", "", "schedule.cron"}, {"CRON_TZ=UTC * * * * *", "", "", "schedule.cron"},
		{strings.Repeat("*", 300), "", "", "schedule.cron"}, {"* * * * *", "Local", "", "schedule.timeZone"},
		{"* * * * *", "../etc/passwd", "", "schedule.timeZone"},
		{"* * * * *", "Europe/Nowhere", "", "schedule.timeZone"}, {"* * * * *", "", "often", "schedule.missed"},
	} {
		s := execution.FunctionSchedule{Cron: c.cron, TimeZone: c.zone, Missed: c.missed}
		var e *execution.Error
		if err := schedule.Check(&s, time.Now()); !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-01-01T12:00:10Z")
	for _, c := range []struct {
		missed, next string
		runs         int
	}{
		{"skip", "2026-01-01T12:00:00Z", 1},
		{"skip", "2026-01-01T10:00:00Z", 1},
		{"once", "2026-01-01T10:00:00Z", 1},
		{"all", "2026-01-01T10:00:00Z", 3},
		{"all", "2025-12-01T10:00:00Z", schedule.MaxMissed},
		{"skip", "2026-01-01T13:00:00Z", 0},
	} {
		s := execution.FunctionSchedule{Cron: "0 * * * *", TimeZone: "UTC", Missed: c.missed, Next: at(t, c.next)}
		run, next, err := schedule.Due(s, now, schedule.Grace)
		if err != nil || len(run) != c.runs || !next.Equal(at(t, "2026-01-01T13:00:00Z")) {
			t.Errorf("%+v: %v, then %s %v", c, run, next, err)
		}
		if len(run) > 0 && !run[len(run)-1].Equal(at(t, "2026-01-01T12:00:00Z")) {
			t.Errorf("%+v: the last is %s", c, run[len(run)-1])
		}
	}
	late := execution.FunctionSchedule{
		Cron: "0 0 * * *", TimeZone: "UTC", Missed: "skip", Next: at(t, "2026-01-01T00:00:00Z"),
	}
	if run, _, err := schedule.Due(late, now, schedule.Grace); err != nil || len(run) != 0 {
		t.Errorf("missed and to be skipped: %v %v", run, err)
	}
	late.Next = at(t, "2026-01-01T11:58:00Z") // with another interval; it is two minutes late
	for grace, runs := range map[time.Duration]int{schedule.Grace: 0, 5 * time.Minute: 1} {
		if run, _, err := schedule.Due(late, now, grace); err != nil || len(run) != runs {
			t.Errorf("late by two minutes, of %v: %v %v", grace, run, err)
		}
	}
	late.Next = at(t, "2026-01-01T00:00:00Z")
	late.Missed = "once"
	if run, _, err := schedule.Due(late, now, schedule.Grace); err != nil || len(run) != 1 {
		t.Errorf("missed and to be run once: %v %v", run, err)
	}
}

// However often and by however many processes a time is seen, it makes one ID. A failed submission is repeated.
func TestClock(t *testing.T) {
	t.Parallel()
	store, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	now := at(t, "2026-01-01T12:00:00Z")
	err = store.Change(t.Context(), "a", "f", func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Schedule = &execution.FunctionSchedule{Cron: "* * * * *"}
		return nil, schedule.Check(f.Schedule, now)
	})
	if err != nil {
		t.Fatal(err)
	}
	submitted := map[string]int{}
	broken := errors.New("full")
	failing := true
	c, err := schedule.New(schedule.Config{Store: store, Now: func() time.Time { return now },
		Logger: slog.New(slog.DiscardHandler),
		Submit: func(_ context.Context, f execution.SavedFunction, id string, at time.Time) error {
			if !execution.ValidID(id) || f.Name != "f" {
				t.Errorf("%q of %q", id, f.Name)
			}
			if made, ok := audit.IDTime(id); !ok || !made.Equal(at) {
				t.Errorf("%q has the time %s, for %s", id, made, at)
			}
			if submitted[fmt.Sprint(id, at)]++; failing {
				return broken
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	turn := func(want error, ids int) {
		t.Helper()
		if err := c.RunDue(t.Context()); !errors.Is(err, want) || len(submitted) != ids {
			t.Errorf("%v, %v", err, submitted)
		}
	}
	turn(nil, 0)
	now = now.Add(time.Minute)
	turn(broken, 1)
	failing = false
	turn(nil, 1)
	turn(nil, 1)
	now = now.Add(time.Minute)
	turn(nil, 2)
}

// Schedules that were suspended for years cost no more than others: a test can run a thousand of them.
func TestDueAfterYears(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-01-01T12:00:10Z")
	for _, c := range []struct {
		cron, missed string
		runs         int
		last         string
	}{
		{"* * * * *", "skip", 1, "2026-01-01T12:00:00Z"},
		{"* * * * *", "once", 1, "2026-01-01T12:00:00Z"},
		{"* * * * *", "all", schedule.MaxMissed, "2026-01-01T12:00:00Z"},
		{"0 0 1 1 *", "all", 6, "2026-01-01T00:00:00Z"},
		{"* * 1 6 *", "all", schedule.MaxMissed, "2025-06-01T23:59:00Z"},
		{"* * 1 6 *", "skip", 0, ""},
		{"* * 1 6 *", "once", 1, "2025-06-01T23:59:00Z"},
	} {
		s := execution.FunctionSchedule{Cron: c.cron, TimeZone: "UTC", Missed: c.missed, Next: at(t, "2021-01-01T00:00:00Z")}
		for range 150 {
			run, next, err := schedule.Due(s, now, schedule.Grace)
			if err != nil || len(run) != c.runs {
				t.Fatalf("%+v: %d runs, %v", c, len(run), err)
			}
			if !next.After(now) {
				t.Fatalf("%+v: the next is at %s", c, next)
			}
			if len(run) > 0 && !run[len(run)-1].Equal(at(t, c.last)) {
				t.Fatalf("%+v: the last is at %s", c, run[len(run)-1])
			}
		}
	}
}

// RunDue ends, however many functions are due.
func TestRunDueIsBounded(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-01-01T12:00:00Z")
	many := &endless{now: now}
	submitted := map[string]int{}
	c, err := schedule.New(schedule.Config{Store: many, Now: func() time.Time { return now },
		Logger: slog.New(slog.DiscardHandler),
		Submit: func(_ context.Context, f execution.SavedFunction, _ string, _ time.Time) error {
			submitted[f.Tenant]++
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RunDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if submitted["many"] == 0 || submitted["many"] > 1000 {
		t.Errorf("%v in one turn", submitted)
	}
}

// endless always has more functions that are due.
type endless struct {
	now time.Time
	n   int
}

func (e *endless) Due(_ context.Context, _ time.Time, limit int) (out []execution.SavedFunction, err error) {
	for range limit {
		e.n++
		out = append(
			out,
			execution.SavedFunction{
				Tenant: "many", Name: fmt.Sprint("f", e.n),
				Schedule: &execution.FunctionSchedule{Cron: "* * * * *", TimeZone: "UTC", Next: e.now},
			},
		)
	}
	return out, nil
}

func (e *endless) Scheduled(context.Context, string, string, int) ([]execution.SavedFunction, error) {
	return nil, nil // all are due
}

func (e *endless) Change(
	context.Context, string, string, func(*execution.SavedFunction) (*execution.FunctionContent, error),
) error {
	return nil
}

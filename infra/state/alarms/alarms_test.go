package alarms_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/alarms"
	"github.com/airlock-run/airlock/infra/state/alarms/alarmstest"
)

func TestMain(m *testing.M) {
	s3test.SetEnvironment()
	os.Exit(m.Run())
}

// noon is the time at which the tests set alarms.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func started(t *testing.T) *alarmstest.Server {
	t.Helper()
	s := alarmstest.Start()
	t.Cleanup(s.Close)
	return s
}

func opened(t *testing.T, s *alarmstest.Server, now time.Time) *alarms.Alarms {
	t.Helper()
	a, err := alarms.Open(t.Context(), s.URL(),
		alarms.Config{Endpoint: s.Endpoint(), Attempts: 1, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAlarmFiresInTheMinuteThatBeginsThenOrNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now, at, fires time.Duration // since noon
	}{
		"at a full minute":              {0, 5 * time.Minute, 5 * time.Minute},
		"within a minute":               {0, 5*time.Minute + time.Millisecond, 6 * time.Minute},
		"in the past":                   {time.Second, -time.Hour, time.Minute},
		"now":                           {time.Second, time.Second, time.Minute},
		"when the next minute is close": {55 * time.Second, time.Minute, 2 * time.Minute},
		"in half a year":                {0, 182 * 24 * time.Hour, 182 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := started(t)
			if err := opened(t, s, noon.Add(c.now)).Set(t.Context(), noon.Add(c.at)); err != nil {
				t.Fatal(err)
			}
			if at, is := s.Next(); !is || !at.Equal(noon.Add(c.fires)) {
				t.Errorf("fires at %v, want %v", at, noon.Add(c.fires))
			}
		})
	}
}

func TestMinuteHasOneAlarm(t *testing.T) {
	t.Parallel()
	s := started(t)
	one, other := opened(t, s, noon), opened(t, s, noon)
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			a := one
			if i%2 == 1 {
				a = other
			}
			if err := a.Set(t.Context(), noon.Add(time.Hour-time.Duration(i)*time.Millisecond)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	asked := s.Requests()
	for _, a := range []*alarms.Alarms{one, other} {
		if err := a.Set(t.Context(), noon.Add(time.Hour)); err != nil || s.Requests() != asked {
			t.Errorf("an alarm that is set costs a request, or fails: %v", err)
		}
	}
	if fired := s.Fire(noon.Add(time.Hour)); len(fired) != 1 {
		t.Errorf("fired %q", fired)
	}
}

func TestAlarmThatIsNotStoredIsAnError(t *testing.T) {
	t.Parallel()
	s := started(t)
	a := opened(t, s, noon)
	s.Fail(http.StatusInternalServerError)
	if err := a.Set(t.Context(), noon.Add(time.Hour)); err == nil || !strings.Contains(err.Error(), "13:00") {
		t.Errorf("error %v", err)
	}
	s.Fail(0)
	if err := a.Set(t.Context(), noon.Add(time.Hour)); err != nil {
		t.Errorf("after a failure: %v", err)
	}
	if at, is := s.Next(); !is || !at.Equal(noon.Add(time.Hour)) {
		t.Errorf("next is at %v (%v)", at, is)
	}
}

func TestSettingNamesItsMistake(t *testing.T) {
	t.Parallel()
	const function = "arn:aws:lambda:eu-central-1:123456789012:function:airlock-jobs"
	const role = "arn:aws:iam::123456789012:role/airlock-alarms"
	for text, want := range map[string]string{
		"scheduler://due?function=" + function + "&role=" + role:                                                    "",
		"scheduler://due?function=arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:jobs:live&role=" + role: "",
		"": "scheduler://group", "due": "scheduler://group", "https://due": "scheduler://group",
		"scheduler://?function=" + function + "&role=" + role:        "group of schedules",
		"scheduler://due?function=airlock-jobs&role=" + role:         "function must be the ARN",
		"scheduler://due?role=" + role:                               "function must be the ARN",
		"scheduler://due?function=" + function:                       "role must be the ARN",
		"scheduler://due?function=" + function + "&role=alarms":      "role must be the ARN",
		"scheduler://due?x=1&function=" + function + "&role=" + role: "no parameters besides",
	} {
		got := ""
		if err := alarms.Check(text); err != nil {
			got = err.Error()
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

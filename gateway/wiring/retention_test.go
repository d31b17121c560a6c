package wiring

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
)

// lines holds the log lines.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func (l lines) expect(t *testing.T, part string) {
	t.Helper()
	if line := <-l; !strings.Contains(line, part) {
		t.Errorf("%q, want %q", line, part)
	}
}

// Retention runs at the start and at every tick; an error is logged and does not end it.
func TestRetain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Now()
	add := func(age int) {
		t.Helper()
		if err := s.Append(t.Context(), recordstest.Sample(now.AddDate(0, 0, -age))); err != nil {
			t.Fatal(err)
		}
	}
	add(0)
	add(40)
	tick, told := make(chan time.Time), make(lines, 10)
	stop := retain(t.Context(), s, filerecords.Retention{MaxAge: 30 * 24 * time.Hour}, tick,
		slog.New(slog.NewTextHandler(told, nil)))
	defer stop()
	told.expect(t, "records=1")
	add(35)
	tick <- now
	told.expect(t, "records=1")
	if days, err := s.Days(t.Context()); err != nil || len(days) != 1 {
		t.Errorf("%v %v", days, err)
	}
	if report, err := s.Verify(t.Context()); err != nil || !report.OK() || report.Records != 1 {
		t.Errorf("%+v %v", report, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tick <- now
	told.expect(t, "will retry")
	tick <- now
	told.expect(t, "will retry")
}

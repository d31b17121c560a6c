package auditindex_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/auditindex"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

// quantity is the number of records in benchmarks: AUDITINDEX_RECORDS, or 20,000.
func quantity(b *testing.B) int {
	b.Helper()
	text := os.Getenv("AUDITINDEX_RECORDS")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("AUDITINDEX_RECORDS is %q, want a number of records", text)
	}
	return n
}

// folder makes the day files of n records within 30 days, as a store would, without an object for each.
func folder(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	var day string
	var file *os.File
	var out *bufio.Writer
	finish := func() {
		if file == nil {
			return
		}
		if err := out.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := file.Close(); err != nil {
			b.Fatal(err)
		}
	}
	last := audit.Head{Writer: "01JNA0000000000000000000AA"}
	step := 30 * 24 * time.Hour / time.Duration(n)
	for i := range n {
		r := sample(i)
		r.Time = dawn.Add(time.Duration(i) * step)
		r.ID = recordstest.NewID(r.Time)
		if i%1000 == 7 {
			r.Status = "cancelled"
		}
		sealed, err := audit.Seal(r, last, nil)
		if err != nil {
			b.Fatal(err)
		}
		last = sealed.Head()
		if sealed.Day != day {
			finish()
			day = sealed.Day
			if file, err = os.Create(filepath.Join(dir, "audit-"+day+".jsonl")); err != nil {
				b.Fatal(err)
			}
			out = bufio.NewWriterSize(file, 1<<20)
		}
		if _, err := out.Write(sealed.Line); err != nil {
			b.Fatal(err)
		}
	}
	finish()
	return dir
}

// built returns a new index of a store, after it has indexed the store's n records.
func built(b *testing.B, s audit.Store, n int) *auditindex.Index {
	b.Helper()
	x, err := auditindex.Open(b.Context(), b.TempDir(), s, auditindex.Config{Patience: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	if f, err := x.Summary(b.Context(), audit.Query{}); err != nil || f.Records != int64(n) {
		b.Fatal(f.Records, err)
	}
	return x
}

// rebuild measures how long it takes to index a store's n records, and reports the records of a second.
func rebuild(b *testing.B, s audit.Store, n int) time.Duration {
	b.Helper()
	began := time.Now()
	x := built(b, s, n)
	took := time.Since(began)
	b.ReportMetric(float64(n)/took.Seconds(), "records/s")
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	return took
}

func BenchmarkIndex(b *testing.B) {
	n := quantity(b)
	s, err := filerecords.OpenReader(folder(b, n), filerecords.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	scan := time.Duration(0)
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			lines, bytes := 0, 0
			began := time.Now()
			if err := s.Each(b.Context(), time.Time{},
				func(line []byte) error { lines++; bytes += len(line); return nil }); err != nil || lines != n {
				b.Fatal(lines, err)
			}
			scan = time.Since(began)
			b.ReportMetric(float64(n)/scan.Seconds(), "records/s")
			b.ReportMetric(float64(bytes/n), "bytes/record")
		}
	})
	b.Run("rebuild", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(rebuild(b, s, n).Seconds()/scan.Seconds(), "x-scan")
		}
	})
	x := built(b, s, n)
	defer x.Close()
	middle := dawn.Add(15 * 24 * time.Hour)
	for name, q := range map[string]audit.Query{
		"all": {}, "old": {Until: middle}, "rare": {Status: "cancelled"}, "tenant": {Tenant: "acme"},
		"function": {Function: "report"},
		"mixed":    {Tenant: "umbrella", Status: "cancelled", Policy: "standard", Until: middle}, "500": {Limit: 500},
	} {
		b.Run("list/"+name, func(b *testing.B) {
			for b.Loop() {
				if page, err := x.List(b.Context(), q); err != nil || len(page.Items) == 0 {
					b.Fatal(len(page.Items), err)
				}
			}
		})
	}
	for name, q := range map[string]audit.Query{
		"all": {Limit: 20}, "tenant": {Limit: 20, Tenant: "acme"},
		"edges": {Limit: 20, Since: dawn.Add(31*time.Hour + 7*time.Minute), Until: middle.Add(59 * time.Second)},
	} {
		b.Run("summary/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Summary(b.Context(), q); err != nil {
					b.Fatal(err)
				}
				if some, err := x.Threats(b.Context(), q); err != nil || len(some) != 20 {
					b.Fatal(len(some), err)
				}
			}
		})
	}
	end := dawn.Add(30 * 24 * time.Hour)
	for name, span := range map[string][2]time.Duration{
		"hour": {time.Hour, time.Minute}, "day": {24 * time.Hour, 30 * time.Minute},
		"month": {30 * 24 * time.Hour, 12 * time.Hour},
	} {
		window, step := span[0], span[1]
		q := audit.Query{Since: end.Add(-window - 77*time.Second), Until: end.Add(-77 * time.Second)}
		steps := audit.Query{Until: end.Truncate(step)}
		steps.Since = steps.Until.Add(-window)
		b.Run("metrics/"+name, func(b *testing.B) {
			for b.Loop() {
				if f, err := x.Summary(b.Context(), q); err != nil || f.Records == 0 {
					b.Fatal(f.Records, err)
				}
			}
		})
		b.Run("series/"+name, func(b *testing.B) {
			for b.Loop() {
				if all, err := x.Series(b.Context(), steps, step); err != nil || len(all) != int(window/step) {
					b.Fatal(len(all), err)
				}
			}
		})
	}
}

package settings

import (
	"errors"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
)

func TestRetentionSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		store, age, size string
		keep             filerecords.Retention
		wrong            bool
	}{
		{"file:///a", "", "", filerecords.Retention{}, false},
		{"file:///a", "90d", "20gb", filerecords.Retention{MaxAge: 90 * 24 * time.Hour, MaxBytes: 20 << 30}, false},
		{"file:///a", "36h", "", filerecords.Retention{MaxAge: 36 * time.Hour}, false},
		{"file:///a", "soon", "", filerecords.Retention{}, true},
		{"file:///a", "", "-1", filerecords.Retention{}, true},
		{"s3://b/p", "90d", "", filerecords.Retention{MaxAge: 90 * 24 * time.Hour}, true},
		{"s3://b/p", "", "1gb", filerecords.Retention{MaxBytes: 1 << 30}, true},
		{"s3://b/p", "", "", filerecords.Retention{}, false},
	} {
		r := &reader{getenv: func(name string) string {
			return map[string]string{"AUDIT_MAX_AGE": c.age, "AUDIT_MAX_BYTES": c.size}[name]
		}}
		if keep := r.retention(c.store); keep != c.keep || (len(r.wrong) > 0) != c.wrong {
			t.Errorf("%+v: %+v %v", c, keep, errors.Join(r.wrong...))
		}
	}
}

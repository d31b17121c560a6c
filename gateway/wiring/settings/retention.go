package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
)

// retention reads AUDIT_MAX_AGE and AUDIT_MAX_BYTES, which apply to folders only.
func (r *reader) retention(auditStore string) (keep filerecords.Retention) {
	age, size := strings.TrimSpace(r.getenv("AUDIT_MAX_AGE")), strings.TrimSpace(r.getenv("AUDIT_MAX_BYTES"))
	var err error
	if keep.MaxAge, err = ParseAge("AUDIT_MAX_AGE", age); err != nil {
		r.wrong = append(r.wrong, err)
	}
	if keep.MaxBytes, err = ParseBytes("AUDIT_MAX_BYTES", size); err != nil {
		r.wrong = append(r.wrong, err)
	}
	if name := "AUDIT_MAX_AGE"; IsBucket(auditStore) && age+size != "" {
		if age == "" {
			name = "AUDIT_MAX_BYTES"
		}
		r.fail(name, "applies to folders; give the bucket of AUDIT_STORE a lifecycle rule that expires objects "+
			"under its prefix, as template.yaml does")
	}
	return keep
}

// ParseAge reads a length of time such as 90d or 36h; "" is 0. The error begins with name, a flag or a variable.
func ParseAge(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	unit := text
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			unit = strconv.FormatUint(n*24, 10) + "h"
		}
	}
	d, err := time.ParseDuration(unit)
	if err != nil || d <= 0 {
		return 0, Wrong(fmt.Errorf("%s: %q is not a duration such as 90d or 36h", name, text))
	}
	return d, nil
}

// ParseBytes reads a size in bytes, or in kb, mb, gb or tb (powers of 1024); "" is 0.
func ParseBytes(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, shift := strings.ToLower(strings.TrimSpace(text)), 0
	for i, unit := range []string{"kb", "mb", "gb", "tb"} {
		if n, ok := strings.CutSuffix(number, unit); ok {
			number, shift = strings.TrimSpace(n), 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > (1<<62)>>shift {
		return 0, Wrong(fmt.Errorf("%s: %q is not a size such as 500mb or 20gb", name, text))
	}
	return n << shift, nil
}

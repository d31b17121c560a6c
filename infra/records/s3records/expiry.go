package s3records

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// expiry tells which days lifecycle rules may have removed. The zero value means none.
type expiry struct {
	keeps time.Duration
	now   time.Time
}

// expiry returns the expiry of the settings, or of the bucket's rules.
func (s *Store) expiry(ctx context.Context) expiry {
	e := expiry{keeps: s.cfg.Keeps, now: s.cfg.Now().UTC()}
	if e.keeps > 0 {
		return e
	}
	rules, err := s.client.GetBucketLifecycleConfiguration(ctx,
		&s3.GetBucketLifecycleConfigurationInput{Bucket: &s.cfg.Bucket})
	if err != nil {
		return e // it has none, this role may not read them, or the server does not know them: nothing may be gone
	}
	for _, r := range rules.Rules {
		if days := expires(r, s.root(executions)); days > 0 && (e.keeps == 0 || days < e.keeps) {
			e.keeps = days
		}
	}
	return e
}

// expires returns after how long a rule removes everything under a prefix; 0 if it does not.
func expires(r types.LifecycleRule, under string) time.Duration {
	if r.Status != types.ExpirationStatusEnabled || r.Expiration == nil || aws.ToInt32(r.Expiration.Days) < 1 {
		return 0
	}
	prefix := ""
	if f := r.Filter; f != nil {
		if f.And != nil || f.Tag != nil || f.ObjectSizeGreaterThan != nil || f.ObjectSizeLessThan != nil {
			return 0
		}
		prefix = aws.ToString(f.Prefix)
	}
	if !strings.HasPrefix(under, prefix) {
		return 0
	}
	return time.Duration(*r.Expiration.Days) * 24 * time.Hour
}

// took reports whether a day may have been removed. Rules count whole days from the midnight after an object was
// written.
func (e expiry) took(day string) bool {
	start, err := time.Parse(time.DateOnly, day)
	return err == nil && e.keeps > 0 && !start.Add(24*time.Hour).Add(e.keeps).After(e.now)
}

// dayOf returns the day that a key is filed under.
func (s *Store) dayOf(key string) string {
	day, _, _ := strings.Cut(strings.TrimPrefix(key, s.root(executions+dayMark)), "/")
	return day
}

package s3records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/airlock-run/airlock/infra/s3objects"
)

// Config configures a Store. Bucket is required; credentials and region come from the AWS SDK.
type Config struct {
	Bucket string
	// Prefix precedes every key, without slashes at its ends. It may be empty.
	Prefix string
	// Endpoint is the URL of a service other than AWS; buckets are then addressed by path.
	Endpoint string
	// Region overrides the environment's.
	Region string

	// KMSKey is the key that S3 encrypts with (ID, ARN or alias); "aws" means the account's S3 key. Empty means the
	// bucket's default.
	KMSKey string
	// Lock is "", "GOVERNANCE" or "COMPLIANCE"; with it each record is locked for Retain from when it is written.
	Lock   string
	Retain time.Duration
	// Keeps is how long the bucket's lifecycle rules keep records, for Verify: older whole days may be missing. 0 asks
	// the bucket for its rules; if it does not answer, nothing may be missing.
	Keeps time.Duration
	// StorageClass is one of S3's, or "" for the bucket's default.
	StorageClass string
	// Tags are set on every object, for lifecycle rules; at most ten.
	Tags map[string]string

	// Spool is a folder that keeps records while S3 is unavailable; empty means none. Its disk must outlive the
	// process. Processes may share it.
	Spool string
	// SpoolBytes bounds this process's part of the spool; default 64 MiB.
	SpoolBytes int64

	// Attempts is the number of attempts of a request; default 4. AttemptTimeout bounds each; default 5 s.
	Attempts       int
	AttemptTimeout time.Duration
	// RetryEvery is the pause between attempts to empty the spool; default 2 s.
	RetryEvery time.Duration

	// Key, if set, adds an HMAC to every record and head; at least 16 bytes.
	Key []byte
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Entropy is the randomness of writer IDs; default crypto/rand.
	Entropy io.Reader
	// Log receives events of the spool; the default discards them.
	Log *slog.Logger
	// HTTP sends the requests; the default is the SDK's client.
	HTTP aws.HTTPClient
}

const (
	defaultSpoolBytes     = 64 << 20
	defaultAttempts       = 4
	defaultAttemptTimeout = 5 * time.Second
	defaultRetryEvery     = 2 * time.Second
)

// check sets defaults and returns an error if a field is invalid.
func (c *Config) check() error {
	c.Prefix = strings.Trim(c.Prefix, "/")
	switch {
	case c.Bucket == "":
		return errors.New("the bucket is missing; write s3://bucket/prefix")
	case strings.Contains(c.Prefix, "//") ||
		strings.ContainsFunc(c.Prefix, func(r rune) bool { return r < ' ' || r == 127 }):
		return fmt.Errorf("prefix %q cannot be part of a key", c.Prefix)
	case len(c.Key) > 0 && len(c.Key) < 16:
		return fmt.Errorf("the chain key has %d bytes, at least 16 are needed", len(c.Key))
	case c.Lock != "" && c.Lock != string(types.ObjectLockModeGovernance) &&
		c.Lock != string(types.ObjectLockModeCompliance):
		return fmt.Errorf("object lock %q: must be GOVERNANCE or COMPLIANCE", c.Lock)
	case c.Keeps < 0:
		return errors.New("the retention must not be negative")
	case (c.Lock != "") != (c.Retain > 0):
		return errors.New("object lock needs both a mode and a retention")
	case c.StorageClass != "" && !slices.Contains(types.StorageClass("").Values(), types.StorageClass(c.StorageClass)):
		return fmt.Errorf("storage class %q is not one of %v", c.StorageClass, types.StorageClass("").Values())
	case len(c.Tags) > 10:
		return fmt.Errorf("there are %d tags; S3 accepts at most ten", len(c.Tags))
	}
	if c.Endpoint != "" {
		if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("endpoint %q is not a URL such as https://s3.example.com", c.Endpoint)
		}
	}
	if c.SpoolBytes <= 0 {
		c.SpoolBytes = defaultSpoolBytes
	}
	if c.Attempts <= 0 {
		c.Attempts = defaultAttempts
	}
	if c.AttemptTimeout <= 0 {
		c.AttemptTimeout = defaultAttemptTimeout
	}
	if c.RetryEvery <= 0 {
		c.RetryEvery = defaultRetryEvery
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// connect returns the client.
func connect(ctx context.Context, c Config) (*s3.Client, error) {
	return s3objects.Connect(ctx, s3objects.Access{
		Endpoint: c.Endpoint, Region: c.Region, Attempts: c.Attempts, AttemptTimeout: c.AttemptTimeout, HTTP: c.HTTP,
	})
}

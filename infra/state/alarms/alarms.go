package alarms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/airlock-run/airlock/infra/awsconfig"
	"github.com/airlock-run/airlock/policy/outbound"
)

const (
	// lead is how long before a minute begins its alarm is still set. After that, the next minute has it. It covers the
	// request and clocks that differ.
	lead = 10 * time.Second
	// maxAnswer bounds an answer, which is an ARN or an error.
	maxAnswer = 64 << 10
	// attemptTime bounds each attempt of a request.
	attemptTime = 3 * time.Second
	// remembered is the number of alarms that a process remembers to have set.
	remembered = 4096
	// lateAfter is how long EventBridge Scheduler tries to invoke the function.
	lateAfter = time.Hour
)

// Alarms sets alarms in a group of EventBridge Scheduler. It is safe for concurrent use.
type Alarms struct {
	group  group
	client *scheduler.Client
	now    func() time.Time

	mu  sync.Mutex
	are map[time.Time]bool // alarms that were set
}

// Config configures Alarms. The zero value has the defaults.
type Config struct {
	// Endpoint is the URL of a service other than EventBridge Scheduler.
	Endpoint string
	// Attempts is the number of attempts of a request. Default 4.
	Attempts int
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// A group is where the schedules are and what they invoke.
type group struct{ name, function, role string }

var (
	groupName   = regexp.MustCompile(`^[0-9a-zA-Z-_.]{1,64}$`)
	functionARN = regexp.MustCompile(`^arn:[a-z-]+:lambda:[a-z0-9-]+:\d{12}:function:[a-zA-Z0-9-_]+(:[a-zA-Z0-9-_$]+)?$`)
	roleARN     = regexp.MustCompile(`^arn:[a-z-]+:iam::\d{12}:role/[\w+=,.@/-]+$`)
)

func parse(text string) (group, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "scheduler" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return group{}, errors.New("must be like scheduler://group?function=ARN&role=ARN")
	}
	query := u.Query()
	g := group{u.Host, query.Get("function"), query.Get("role")}
	query.Del("function")
	query.Del("role")
	switch {
	case !groupName.MatchString(g.name):
		return group{}, errors.New("must name a group of schedules: scheduler://group?function=ARN&role=ARN")
	case !functionARN.MatchString(g.function):
		return group{}, errors.New("function must be the ARN of the Lambda function that runs jobs, such as " +
			"arn:aws:lambda:eu-central-1:123456789012:function:airlock-jobs")
	case !roleARN.MatchString(g.role):
		return group{}, errors.New("role must be the ARN of the role with which EventBridge Scheduler invokes the " +
			"function, such as arn:aws:iam::123456789012:role/airlock-alarms")
	case len(query) > 0:
		return group{}, errors.New("must have no parameters besides function and role")
	}
	return g, nil
}

// Check returns an error if text is not scheduler://group?function=ARN&role=ARN.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// Open returns the alarms that a URL names, scheduler://group?function=ARN&role=ARN. It sends no request.
func Open(ctx context.Context, url string, cfg Config) (*Alarms, error) {
	g, err := parse(url)
	if err != nil {
		return nil, err
	}
	limits := outbound.Limits{Body: maxAnswer, Total: attemptTime}
	loaded, err := awsconfig.Load(ctx, limits, config.WithRetryer(func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff, o.RateLimiter = cmp.Or(cfg.Attempts, 4), attemptTime/4, ratelimit.None
		})
	}))
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	client := scheduler.NewFromConfig(loaded, func(o *scheduler.Options) {
		if cfg.Endpoint != "" {
			o.BaseEndpoint = &cfg.Endpoint
		}
		o.HTTPClient = awsconfig.Bounded(limits, o.HTTPClient)
	})
	return &Alarms{group: g, client: client, now: cfg.Now, are: map[time.Time]bool{}}, nil
}

// Set sets an alarm for a time. It fires in the minute that begins then or next, and not before that time. A time that
// has passed means the next minute. Set returns when the alarm is stored. An alarm that this process has set costs no
// request.
func (a *Alarms) Set(ctx context.Context, at time.Time) error {
	minute := a.minute(at)
	a.mu.Lock()
	is := a.are[minute]
	a.mu.Unlock()
	if is {
		return nil
	}
	_, err := a.client.CreateSchedule(ctx, &scheduler.CreateScheduleInput{
		Name: aws.String(minute.Format("due-20060102T1504")), GroupName: &a.group.name,
		ScheduleExpression:         aws.String(minute.Format("at(2006-01-02T15:04:05)")),
		ScheduleExpressionTimezone: aws.String("UTC"),
		FlexibleTimeWindow:         &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
		ActionAfterCompletion:      types.ActionAfterCompletionDelete,
		Target: &types.Target{Arn: &a.group.function, RoleArn: &a.group.role, RetryPolicy: &types.RetryPolicy{
			MaximumEventAgeInSeconds: aws.Int32(int32(lateAfter / time.Second)),
		}},
	})
	if there := (*types.ConflictException)(nil); errors.As(err, &there) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("set an alarm for %s: %w", minute.Format(time.RFC3339), err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.are) >= remembered {
		clear(a.are)
	}
	a.are[minute] = true
	return nil
}

// minute returns the beginning of the minute whose alarm is for a time.
func (a *Alarms) minute(at time.Time) time.Time {
	if soon := a.now().Add(lead); at.Before(soon) {
		at = soon
	}
	return at.UTC().Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
}

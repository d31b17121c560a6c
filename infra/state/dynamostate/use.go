package dynamostate

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/airlock-run/airlock/functions/execution"
)

// longestJob is how long the bytes of a job count unless it ends before.
const longestJob = 31 * 24 * time.Hour

// slots is the number of parts into which the lifetime of what a quota counts is split.
const slots = 24

// uses count what tenants store.
type uses struct {
	*table
	now     func() time.Time
	storage func(tenant string) execution.Storage
}

// A charge is a number of bytes of a tenant's quota that counts until a time.
type charge struct {
	tenant, quota string
	until         time.Time
	lifetime      time.Duration // the longest of what the quota counts
	bytes         int64
}

func useKey(tenant, quota string) key { return keyOf("use#"+tenantPart(tenant), quota) }

// slot returns the attribute that counts what ends at about a time, and when it ends.
func (c charge) slot() (name string, end time.Time) {
	step := max(c.lifetime/slots, time.Minute)
	end = c.until.Truncate(step).Add(step)
	return "s" + strconv.FormatInt(end.Unix(), 10), end
}

// usedIn returns the bytes that an item counts at a time, when the next of them end, and the slots that have ended.
func usedIn(it item, now time.Time) (used int64, next time.Time, over []string) {
	for name, value := range it {
		text, ok := strings.CutPrefix(name, "s")
		unix, err := strconv.ParseInt(text, 10, 64)
		if !ok || err != nil {
			continue
		}
		end := time.Unix(unix, 0)
		if !end.After(now) {
			over = append(over, name)
			continue
		}
		if n := max(numberOf(value), 0); n > 0 {
			used += n
			if next.IsZero() || end.Before(next) {
				next = end
			}
		}
	}
	return used, next, over
}

// take counts a charge, or returns an *execution.QuotaError if it exceeds most. The item is changed by additions alone,
// so gateways do not wait for each other. An addition whose answer was lost may count twice, until it ends.
func (u uses) take(ctx context.Context, c charge, most int64) error {
	it, err := u.add(ctx, c)
	if err != nil {
		return err
	}
	now := u.now()
	used, next, over := usedIn(it, now)
	if len(over) > slots {
		u.forget(ctx, c, over)
	}
	if used <= most {
		return nil
	}
	c.bytes = -c.bytes
	if _, err := u.add(ctx, c); err != nil {
		return err
	}
	return full(c.quota, used+c.bytes, most, next.Sub(now))
}

// full returns the error of a quota that is used up. Jobs may end at any moment, everything else lapses.
func full(quota string, used, most int64, lapses time.Duration) error {
	after := max(lapses, time.Second)
	if quota == execution.QuotaJobs {
		after = 5 * time.Second
	}
	return &execution.QuotaError{Quota: quota, Used: used, Limit: most, After: after}
}

// add adds to a slot, and returns the item.
func (u uses) add(ctx context.Context, c charge) (item, error) {
	name, _ := c.slot()
	expires := u.now().Add(2 * max(c.lifetime, time.Hour)).Unix()
	update := "ADD #slot :bytes SET #expires = :expires"
	out, err := u.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &u.name, Key: useKey(c.tenant, c.quota),
		UpdateExpression: &update, ReturnValues: types.ReturnValueAllNew,
		ExpressionAttributeNames:  map[string]string{"#slot": name, "#expires": TTLAttribute},
		ExpressionAttributeValues: item{":bytes": number(c.bytes), ":expires": number(expires)}})
	if err != nil {
		return nil, fmt.Errorf("count what a tenant stores: %w", judge(ctx, err))
	}
	return out.Attributes, nil
}

// forget removes slots that have ended. If that fails, a later charge does it.
func (u uses) forget(ctx context.Context, c charge, over []string) {
	names, update := map[string]string{}, "REMOVE "
	for i, name := range over {
		names["#s"+strconv.Itoa(i)] = name
		if i > 0 {
			update += ", "
		}
		update += "#s" + strconv.Itoa(i)
	}
	_, _ = u.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &u.name, Key: useKey(c.tenant, c.quota),
		UpdateExpression: &update, ExpressionAttributeNames: names})
}

// takeForKey counts bytes of a key or of its answer.
func (u uses) takeForKey(ctx context.Context, k execution.Key, until time.Time, bytes int) error {
	allowed := u.storage(k.Tenant)
	c := charge{k.Tenant, execution.QuotaKeys, until, allowed.KeepKeys, int64(bytes)}
	if k.Quota != execution.QuotaDeliveries {
		return u.take(ctx, c, allowed.Keys)
	}
	c.quota, c.lifetime = execution.QuotaDeliveries, allowed.KeepEvents
	return u.take(ctx, c, allowed.Deliveries)
}

// jobCharge returns the charge of so many bytes of a tenant's job.
func jobCharge(tenant string, until time.Time, bytes int64) charge {
	return charge{tenant, execution.QuotaJobs, until, longestJob, bytes}
}

// chargedUntil returns until when the bytes of the job in an item count. A job that exists for longer is counted again.
func (u uses) chargedUntil(it item) (until time.Time, lapsed bool) {
	now := u.now()
	if until = fromMillis(numberOf(it["chargedUntil"])); until.After(now) {
		return until, false
	}
	return now.Add(longestJob), true
}

// moving returns the bytes of a job that change while it exists.
func moving(job execution.Job) int64 { return int64(len(job.Snapshot) + len(job.Result)) }

// roomToGrow returns an *execution.QuotaError if a session would exceed its tenant's quota.
func (u uses) roomToGrow(ctx context.Context, job execution.Job, bytes int64) error {
	if bytes <= 0 || job.Wait == nil || job.Wait.Session == nil {
		return nil
	}
	it, err := u.get(ctx, useKey(job.Tenant, execution.QuotaJobs))
	if err != nil {
		return err
	}
	now, most := u.now(), u.storage(job.Tenant).Jobs
	if used, next, _ := usedIn(it, now); used+bytes > most {
		return full(execution.QuotaJobs, used, most, next.Sub(now))
	}
	return nil
}

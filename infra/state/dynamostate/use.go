package dynamostate

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
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
	latest  *latest
}

// latest holds the items of uses as they were after the last change by this process.
type latest struct {
	mu    sync.Mutex
	items map[[2]string]item // by tenant and quota
}

// maxLatest bounds the items that a process remembers.
const maxLatest = 10_000

func (l *latest) keep(c charge, it item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.items) >= maxLatest {
		clear(l.items)
	}
	l.items[[2]string{c.tenant, c.itemQuota()}] = it
}

// usage returns the bytes that count at a time, by tenant and quota.
func (l *latest) usage(now time.Time) (all []execution.StorageUsage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of, it := range l.items {
		quotas := []string{of[1]}
		if of[1] == execution.QuotaJobs {
			quotas = append(quotas, execution.QuotaResults)
		}
		for _, quota := range quotas {
			if used, _, _ := usedIn(it, quota, now); used > 0 {
				all = append(all, execution.StorageUsage{Tenant: of[0], Quota: quota, Bytes: used})
			}
		}
	}
	return all
}

// A charge is a number of bytes of a tenant's quota that counts until a time.
type charge struct {
	tenant, quota string
	until         time.Time
	lifetime      time.Duration // the longest of what the quota counts
	bytes         int64
}

func useKey(tenant, quota string) key { return keyOf("use#"+tenantPart(tenant), quota) }

// itemQuota returns the quota that names the item of a charge. Results are counted in the item of jobs, because the end
// of a job changes both.
func (c charge) itemQuota() string {
	if c.quota == execution.QuotaResults {
		return execution.QuotaJobs
	}
	return c.quota
}

// slotMark returns the first letter of the slots of a quota.
func slotMark(quota string) string {
	if quota == execution.QuotaResults {
		return "r"
	}
	return "s"
}

// slot returns the attribute that counts what ends at about a time.
func (c charge) slot() string {
	step := max(c.lifetime/slots, time.Minute)
	return slotMark(c.quota) + strconv.FormatInt(c.until.Truncate(step).Add(step).Unix(), 10)
}

// usedIn returns the bytes of a quota that an item counts at a time, when the next of them end, and the slots that have
// ended.
func usedIn(it item, quota string, now time.Time) (used int64, next time.Time, over []string) {
	for name, value := range it {
		text, ok := strings.CutPrefix(name, slotMark(quota))
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
// so gateways do not wait for each other. An addition whose answer was lost may count twice, until it ends. A job is
// refused, too, if the results of its tenant exceed their quota, because their receivers still wait for them.
func (u uses) take(ctx context.Context, c charge, most int64) error {
	it, err := u.add(ctx, c)
	if err != nil {
		return err
	}
	now := u.now()
	used, next, over := usedIn(it, c.quota, now)
	if c.quota == execution.QuotaJobs {
		_, _, more := usedIn(it, execution.QuotaResults, now)
		over = append(over, more...)
	}
	if len(over) > slots {
		u.forget(ctx, c, over)
	}
	var refused error
	if used > most {
		refused = full(c.quota, used-c.bytes, most, next.Sub(now))
	} else if c.quota == execution.QuotaJobs {
		allowed := u.storage(c.tenant).Results
		if kept, _, _ := usedIn(it, execution.QuotaResults, now); kept > allowed {
			refused = full(execution.QuotaResults, kept, allowed, time.Minute)
		}
	}
	if refused == nil {
		return nil
	}
	c.bytes = -c.bytes
	if _, err := u.add(ctx, c); err != nil {
		return err
	}
	return refused
}

// full returns the error of a quota that is used up. Jobs may end at any moment, everything else lapses.
func full(quota string, used, most int64, lapses time.Duration) error {
	after := max(lapses, time.Second)
	if quota == execution.QuotaJobs {
		after = 5 * time.Second
	}
	return &execution.QuotaError{Quota: quota, Used: used, Limit: most, After: after}
}

// add adds to the slots of one item, and returns the item.
func (u uses) add(ctx context.Context, c charge, more ...charge) (item, error) {
	bytes, lifetime := map[string]int64{c.slot(): c.bytes}, c.lifetime
	for _, one := range more {
		if one.bytes != 0 {
			bytes[one.slot()] += one.bytes
			lifetime = max(lifetime, one.lifetime)
		}
	}
	names, values, update := map[string]string{"#expires": TTLAttribute}, item{}, "SET #expires = :expires ADD "
	values[":expires"] = number(u.now().Add(2 * max(lifetime, time.Hour)).Unix())
	for slot, n := range bytes {
		if len(values) > 1 {
			update += ", "
		}
		update += "#" + slot + " :" + slot
		names["#"+slot], values[":"+slot] = slot, number(n)
	}
	out, err := u.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &u.name, Key: useKey(c.tenant, c.itemQuota()), UpdateExpression: &update,
		ReturnValues: types.ReturnValueAllNew, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if err != nil {
		return nil, fmt.Errorf("count what a tenant stores: %w", judge(ctx, err))
	}
	u.latest.keep(c, out.Attributes)
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
	_, _ = u.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &u.name, Key: useKey(c.tenant, c.itemQuota()),
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
func moving(job execution.Job) int64 {
	return int64(job.SnapshotBytes + share.Aside(job).Len() + len(job.Result))
}

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
	if used, next, _ := usedIn(it, execution.QuotaJobs, now); used+bytes > most {
		return full(execution.QuotaJobs, used, most, next.Sub(now))
	}
	return nil
}

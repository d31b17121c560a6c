package dynamostate

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/airlock-run/airlock/functions/execution"
)

// The lists of the index.
const (
	queuedList    = "queued"    // tenant, class, time, ID
	runningList   = "running"   // process, claim
	callbacksList = "callbacks" // time, tenant, ID
	endedList     = "ended"     // time, tenant, ID
	schedulesList = "schedules" // time, tenant, name
)

// An index orders the items that have both of its attributes.
type index struct{ name, hash, sort string }

// dueIndex returns the index of the lists above.
func dueIndex() index { return index{"due", "list", "at"} }

// wakeIndex returns the index of paused jobs by the times at which something is due: status, and then as in a timed
// list.
func wakeIndex() index { return index{"wake", "status", "wake"} }

// pausedIndex returns the index of the paused jobs of each tenant by their IDs.
func pausedIndex() index { return index{"paused", "paused", "pk"} }

// An entry is the place of an item in the index. The zero value is none.
type entry struct{ list, at string }

func (e entry) set(it item) {
	if e == (entry{}) {
		delete(it, "list")
		delete(it, "at")
		return
	}
	it["list"], it["at"] = text(e.list), text(e.at)
}

func entryOf(it item) entry { return entry{textOf(it["list"]), textOf(it["at"])} }

// tenantPart returns a tenant as part of a key. Parts sort like tenants: "/" sorts before every digit.
func tenantPart(tenant string) string { return hex.EncodeToString([]byte(tenant)) + "/" }

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// when returns a time as part of a key.
func when(ms int64) string { return fmt.Sprintf("%015d/", max(ms, 0)) }

// timed returns an entry of a list that is in the order of times.
func timed(list string, at time.Time, tenant, name string) entry {
	return entry{list, when(millis(at)) + tenantPart(tenant) + name}
}

// splitTime splits the place in a timed list into its time and the rest.
func splitTime(at string) (when, rest string) {
	when, rest, _ = strings.Cut(at, "/")
	return when, rest
}

// tenantIn returns the tenant of a timed entry as part of a key.
func tenantIn(e entry) string {
	_, rest := splitTime(e.at)
	tenant, _, _ := strings.Cut(rest, "/")
	return tenant
}

// A listed item is what the index knows of an item.
type listed struct {
	entry
	key key
}

// index passes the entries of a list between two places to fn, until it returns false. The index lags behind.
func (t *table) index(ctx context.Context, list, after, to string, limit int, fn func(listed) (bool, error)) error {
	return t.within(ctx, dueIndex(), list, after, to, limit, fn)
}

// within passes the entries of a list in an index to fn, as the method index does.
func (t *table) within(
	ctx context.Context, x index, list, after, to string, limit int, fn func(listed) (bool, error),
) error {
	return t.query(ctx, &dynamodb.QueryInput{TableName: &t.name, IndexName: &x.name, Limit: page(limit),
		KeyConditionExpression:    aws.String("#list = :list AND #at BETWEEN :after AND :to"),
		ExpressionAttributeNames:  map[string]string{"#list": x.hash, "#at": x.sort},
		ExpressionAttributeValues: item{":list": text(list), ":after": text(after), ":to": text(to)},
	}, func(it item) (bool, error) {
		at := textOf(it[x.sort])
		if at < after || at > to {
			return false, &execution.StoreError{Fault: execution.StoreLost, Err: errEndless}
		}
		return fn(listed{entry{textOf(it[x.hash]), at}, key{"pk": it["pk"], "sk": it["sk"]}})
	})
}

// count returns the number of entries of a list below a prefix, up to a limit.
func (t *table) count(ctx context.Context, x index, list, prefix string, most int) (n int, err error) {
	in := &dynamodb.QueryInput{TableName: &t.name, IndexName: &x.name, Select: types.SelectCount,
		KeyConditionExpression:    aws.String("#list = :list AND begins_with(#at, :prefix)"),
		ExpressionAttributeNames:  map[string]string{"#list": x.hash, "#at": x.sort},
		ExpressionAttributeValues: item{":list": text(list), ":prefix": text(prefix)}}
	for got := (pages{}); ; {
		out, err := t.client.Query(ctx, in)
		if err != nil {
			return 0, judge(ctx, err)
		}
		if n += max(int(out.Count), 0); n >= most {
			return most, nil
		}
		if more, err := got.next(int(out.Count), out.LastEvaluatedKey); err != nil || !more {
			return n, err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

const (
	// first and last are before and behind all places of a list.
	first, last = " ", "~"
	// looked is the number of due entries that are looked at to choose some fairly.
	looked = 1000
)

// due returns at most limit entries of a timed list that are due, in their order. If there are more, each tenant has
// its share.
func (t *table) due(ctx context.Context, x index, list string, now time.Time, limit int) ([]listed, error) {
	byTenant, tenants, n := map[string][]listed{}, []string(nil), 0
	var all []listed
	err := t.within(ctx, x, list, first, when(millis(now)+1), looked, func(l listed) (bool, error) {
		tenant := tenantIn(l.entry)
		if byTenant[tenant] == nil {
			tenants = append(tenants, tenant)
		}
		byTenant[tenant] = append(byTenant[tenant], l)
		all = append(all, l)
		n++
		return n < looked, nil
	})
	if err != nil || len(all) <= limit {
		return all, err
	}
	rand.Shuffle(len(tenants), func(i, j int) { tenants[i], tenants[j] = tenants[j], tenants[i] })
	var out []listed
	for round := 0; len(out) < limit; round++ {
		for _, tenant := range tenants {
			if round < len(byTenant[tenant]) && len(out) < limit {
				out = append(out, byTenant[tenant][round])
			}
		}
	}
	return out, nil
}

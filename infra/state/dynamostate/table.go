package dynamostate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/awsconfig"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/outbound"
)

// A table is the table with the bucket of what is too large for an item.
type table struct {
	name    string
	client  *dynamodb.Client
	objects *s3objects.Store
	alarms  Alarms // nil if processes look for due work by themselves
	// mostKept bounds what one query keeps in memory.
	mostKept int
}

// An item is stored under a key. Its attribute "v" is the token of its last change.
type (
	item = map[string]types.AttributeValue
	key  = item
)

func keyOf(pk, sk string) key { return key{"pk": text(pk), "sk": text(sk)} }

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func binary(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }
func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func textOf(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

func numberOf(v types.AttributeValue) int64 {
	s, _ := v.(*types.AttributeValueMemberN)
	if s == nil {
		return 0
	}
	n, _ := strconv.ParseInt(s.Value, 10, 64) // this package wrote it
	return n
}

const (
	// maxConns is the number of connections to DynamoDB that stay open for the next request.
	maxConns = 64
	// maxAnswer bounds an answer: a page of a query is 1 MB, which base64 and JSON expand.
	maxAnswer = 8 << 20
	// attemptTime bounds each attempt of a request.
	attemptTime = 3 * time.Second
)

func openTable(ctx context.Context, url string, access Access) (*table, error) {
	name, contents, err := Parse(url)
	if err != nil {
		return nil, err
	}
	limits := outbound.Limits{Body: maxAnswer, Total: attemptTime}
	loaded, err := awsconfig.Load(ctx, limits, config.WithRetryer(func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff, o.RateLimiter = cmp.Or(access.Attempts, 4), attemptTime/4, ratelimit.None
		})
	}))
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	objects, err := s3objects.Open(ctx, contents, access.Objects)
	if err != nil {
		return nil, err
	}
	client := dynamodb.NewFromConfig(loaded, func(o *dynamodb.Options) {
		if access.Endpoint != "" {
			o.BaseEndpoint = aws.String(access.Endpoint)
		}
		if c, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
			o.HTTPClient = c.WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = maxConns })
		}
		o.HTTPClient = awsconfig.Bounded(limits, o.HTTPClient)
	})
	return &table{name: name, client: client, objects: objects, mostKept: mostKept}, nil
}

// get returns the item under a key as it is now, or nil.
func (t *table) get(ctx context.Context, k key) (item, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &t.name, Key: k, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, judge(ctx, err)
	}
	return out.Item, nil
}

// put stores an item whose key is free, or replaces the one with a token. Otherwise the error is errMoved. It sets the
// alarm of the item first.
func (t *table) put(ctx context.Context, it item, last string) error {
	if err := t.setAlarm(ctx, it); err != nil {
		return err
	}
	in := &dynamodb.PutItemInput{TableName: &t.name, Item: it, ConditionExpression: aws.String("attribute_not_exists(pk)")}
	if last != "" {
		in.ConditionExpression = aws.String("v = :v")
		in.ExpressionAttributeValues = item{":v": text(last)}
	}
	_, err := t.client.PutItem(ctx, in)
	return judge(ctx, err)
}

// set stores an item, whatever its key holds.
func (t *table) set(ctx context.Context, it item) error {
	_, err := t.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &t.name, Item: it})
	return judge(ctx, err)
}

// move changes attributes of an item that is still listed as an entry says, and returns it. Otherwise the error is
// errMoved. It sets the alarm of the item first.
func (t *table) move(ctx context.Context, k key, e entry, set item) (item, error) {
	listed := item{"list": text(e.list), "at": text(e.at)}
	maps.Copy(listed, set)
	if err := t.setAlarm(ctx, listed); err != nil {
		return nil, err
	}
	in := &dynamodb.UpdateItemInput{TableName: &t.name, Key: k, ReturnValues: types.ReturnValueAllNew,
		ConditionExpression:       aws.String("#list = :wasList AND #at = :wasAt"),
		ExpressionAttributeNames:  map[string]string{"#list": "list", "#at": "at"},
		ExpressionAttributeValues: item{":wasList": text(e.list), ":wasAt": text(e.at)}}
	update := "SET "
	for name, value := range set {
		if len(in.ExpressionAttributeValues) > 2 {
			update += ", "
		}
		update += "#" + name + " = :" + name
		in.ExpressionAttributeNames["#"+name], in.ExpressionAttributeValues[":"+name] = name, value
	}
	in.UpdateExpression = &update
	out, err := t.client.UpdateItem(ctx, in)
	if err != nil {
		return nil, judge(ctx, err)
	}
	return out.Attributes, nil
}

// remove deletes an item, if there is one.
func (t *table) remove(ctx context.Context, k key) error {
	_, err := t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &t.name, Key: k})
	return judge(ctx, err)
}

// below passes the items of a partition to fn in the order of their sort keys, starting after one, until fn returns
// false.
func (t *table) below(ctx context.Context, pk, after string, limit int, fn func(item) (bool, error)) error {
	in := &dynamodb.QueryInput{TableName: &t.name, ConsistentRead: aws.Bool(true), Limit: page(limit),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(pk)}}
	if after != "" {
		in.KeyConditionExpression = aws.String("pk = :pk AND sk > :after")
		in.ExpressionAttributeValues[":after"] = text(after)
	}
	return t.query(ctx, in, func(it item) (bool, error) {
		if textOf(it["sk"]) <= after {
			return false, &execution.StoreError{Fault: execution.StoreLost, Err: errEndless}
		}
		return fn(it)
	})
}

// take deletes an item if it still has a token, and reports whether it had.
func (t *table) take(ctx context.Context, k key, last string) (bool, error) {
	_, err := t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &t.name, Key: k, ConditionExpression: aws.String("v = :v"),
		ExpressionAttributeValues: item{":v": text(last)},
	})
	if err = judge(ctx, err); errors.Is(err, errMoved) {
		return false, nil
	}
	return err == nil, err
}

func (t *table) query(ctx context.Context, in *dynamodb.QueryInput, fn func(item) (bool, error)) error {
	for got := (pages{}); ; {
		out, err := t.client.Query(ctx, in)
		if err != nil {
			return judge(ctx, err)
		}
		for _, it := range out.Items {
			if !within(it) {
				return &execution.StoreError{Fault: execution.StoreLost, Err: errEndless}
			}
			if more, err := fn(it); err != nil || !more {
				return err
			}
		}
		if more, err := got.next(len(out.Items), out.LastEvaluatedKey); err != nil || !more {
			return err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// page returns the size of a page for so many items.
func page(limit int) *int32 { return aws.Int32(int32(min(max(limit, 1), 1000))) }

// changes is how often a change is tried on an item that others change too.
const changes = 100

// change passes the item under a key to fn, or an empty one, and stores what fn makes of it. fn may be called more than
// once. If fn fails, nothing changes and its error is returned. Objects that the old item named and the new one does
// not are deleted, and so are those of an attempt that failed.
func (t *table) change(ctx context.Context, k key, by string, known item, fn func(it item, there bool) error) error {
	for n := range changes {
		was := known
		if known = nil; was == nil {
			var err error
			if was, err = t.get(ctx, k); err != nil {
				return err
			}
			if textOf(was["v"]) == by { // an earlier attempt succeeded and its answer was lost
				return nil
			}
		}
		it := item{"pk": k["pk"], "sk": k["sk"]}
		for name, value := range was {
			it[name] = value
		}
		err := fn(it, len(was) > 0)
		if err == nil {
			it["v"] = text(by)
			err = t.put(ctx, it, textOf(was["v"]))
		}
		if err == nil {
			t.discard(ctx, was, it)
			return nil
		}
		if !errors.Is(err, errMoved) {
			return err // nobody knows whether the item names the new objects
		}
		now, err := t.get(ctx, k)
		if err != nil {
			return err
		}
		if textOf(now["v"]) == by {
			t.discard(ctx, was, it)
			return nil
		}
		t.discard(ctx, it, was, now)
		if err := pause(ctx, mathrand.N(time.Duration(min(n+1, 20))*5*time.Millisecond)); err != nil {
			return err
		}
	}
	return &execution.StoreError{Fault: execution.StoreBusy, Err: errMoved}
}

// token returns a token of a change.
func token() string { return rand.Text() }

// pause waits before the next attempt.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errMoved means that another process was faster.
var errMoved = errors.New("the item was changed meanwhile")

// judge returns an error of DynamoDB as errMoved or an *execution.StoreError.
func judge(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if moved := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &moved) {
		return errMoved
	}
	fault := execution.StoreLost
	var told smithy.APIError
	if errors.As(err, &told) {
		switch told.ErrorCode() {
		case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded",
			"TransactionConflictException", "InternalServerError", "ServiceUnavailable":
			fault = execution.StoreBusy
		case "ValidationException", "ItemCollectionSizeLimitExceededException":
			return err // a defect of this package
		}
	}
	return &execution.StoreError{Fault: fault, Err: err}
}

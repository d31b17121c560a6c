package dynamostate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
)

const (
	// maxInline is the size from which content is an object in the bucket. DynamoDB charges each KiB of an item at every
	// change, so a larger content is cheaper there.
	maxInline = 16 << 10
	// maxObject bounds an object: an answer, twice in base64.
	maxObject = 64 << 20
)

// keep returns the attribute of a content: its bytes, or the key of a new object in a folder.
func (t *table) keep(ctx context.Context, folder string, body []byte) (types.AttributeValue, error) {
	return t.keepParts(ctx, folder, execution.Stored{body})
}

// keepParts returns the attribute of a content in parts, as keep does. It does not copy a large one.
func (t *table) keepParts(ctx context.Context, folder string, parts execution.Stored) (types.AttributeValue, error) {
	if parts.Len() <= maxInline {
		return binary(parts.Bytes()), nil
	}
	at := folder + "/" + token()
	if _, err := t.objects.CreateParts(ctx, at, parts); err != nil {
		return nil, &execution.StoreError{Fault: execution.StoreLost, Err: fmt.Errorf("store a large content: %w", err)}
	}
	return text(at), nil
}

// keepAgain returns the attribute of a content that an item has, if it is the same as before, and else that of keep.
func (t *table) keepAgain(
	ctx context.Context, folder string, had types.AttributeValue, before, body []byte,
) (types.AttributeValue, error) {
	if had != nil && bytes.Equal(before, body) {
		return had, nil
	}
	return t.keep(ctx, folder, body)
}

// load returns the content of an attribute, or nil if there is none. The error is errMoved if its object is gone: the
// item was changed meanwhile.
func (t *table) load(ctx context.Context, value types.AttributeValue) ([]byte, error) {
	switch v := value.(type) {
	case *types.AttributeValueMemberB:
		return v.Value, nil
	case *types.AttributeValueMemberS:
		body, _, err := t.objects.Get(ctx, v.Value, maxObject)
		if errors.Is(err, s3objects.ErrMissing) {
			return nil, errMoved
		}
		if err != nil {
			err = &execution.StoreError{Fault: execution.StoreLost, Err: fmt.Errorf("read a large content: %w", err)}
		}
		return body, err
	}
	return nil, nil
}

// contentAttributes returns the names of the attributes that may name objects.
func contentAttributes() []string {
	return []string{"doc", "aside", "request", "result", "snapshot", "body"}
}

// discard deletes the objects that one item names and others do not. If that fails, they stay for the lifecycle of the
// bucket.
func (t *table) discard(ctx context.Context, from item, others ...item) {
	for _, name := range contentAttributes() {
		at := textOf(from[name])
		named := slices.ContainsFunc(others, func(it item) bool { return textOf(it[name]) == at })
		if at != "" && !named {
			_ = t.objects.Delete(context.WithoutCancel(ctx), at)
		}
	}
}

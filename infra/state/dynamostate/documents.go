package dynamostate

import (
	"context"
	"errors"
	"fmt"

	"github.com/airlock-run/airlock/infra/s3objects"
)

// Documents are small documents beside the state, replaced by compare-and-swap as in a bucket.
type Documents struct{ *table }

// OpenDocuments returns the documents in the table of a state. It sends no request.
func OpenDocuments(ctx context.Context, url string, access Access) (*Documents, error) {
	t, err := openTable(ctx, url, access)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	return &Documents{t}, nil
}

func documentKey(name string) key { return keyOf("document#"+name, "-") }

// Get returns a document and its tag. The error is s3objects.ErrMissing if there is none.
func (d *Documents) Get(ctx context.Context, name string, most int64) (body []byte, tag string, err error) {
	it, err := d.table.get(ctx, documentKey(name))
	if err == nil && len(it) == 0 {
		err = s3objects.ErrMissing
	}
	if err == nil {
		body, err = d.load(ctx, it["body"])
	}
	if err == nil && int64(len(body)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	if err != nil {
		return nil, "", fmt.Errorf("document %s: %w", name, err)
	}
	return body, textOf(it["v"]), nil
}

// Create stores a new document. The error is s3objects.ErrChanged if it exists.
func (d *Documents) Create(ctx context.Context, name string, body []byte) (tag string, err error) {
	return d.write(ctx, name, body, "")
}

// Replace replaces a document that has a tag. The error is s3objects.ErrChanged if it has another by now.
func (d *Documents) Replace(ctx context.Context, name string, body []byte, tag string) (string, error) {
	return d.write(ctx, name, body, tag)
}

func (d *Documents) write(ctx context.Context, name string, body []byte, last string) (tag string, err error) {
	it, was := documentKey(name), item(nil)
	tag = token()
	it["v"] = text(tag)
	if it["body"], err = d.keep(ctx, "documents", body); err == nil {
		if last != "" {
			was, err = d.table.get(ctx, documentKey(name))
		}
		if err == nil {
			err = d.put(ctx, it, last)
		}
	}
	if errors.Is(err, errMoved) {
		now, reading := d.table.get(ctx, documentKey(name))
		switch {
		case reading != nil:
			err = reading
		case textOf(now["v"]) == tag: // an earlier attempt succeeded and its answer was lost
			err = nil
		default:
			d.discard(ctx, it, now)
			err = s3objects.ErrChanged
		}
	}
	if err != nil {
		return "", fmt.Errorf("document %s: %w", name, err)
	}
	d.discard(ctx, was, it)
	return tag, nil
}

package handover

import (
	"context"
	"errors"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
)

// A Store carries invocations from gateway to function. It is safe for concurrent use.
type Store struct{ objects *s3objects.Store }

// Open returns the store at a URL, s3://bucket/prefix; endpoint is that of a service other than AWS. It sends no
// request.
func Open(ctx context.Context, url, endpoint string) (*Store, error) {
	objects, err := s3objects.Open(ctx, url, s3objects.Access{Endpoint: endpoint})
	if err != nil {
		return nil, err
	}
	return &Store{objects}, nil
}

func key(h execution.Handover) string { return h.ID + "/" + h.SHA256 + ".json" }

// Put stores the JSON of an invocation and returns its handover. If it fails with an *execution.Error, nothing has
// run.
func (s *Store) Put(ctx context.Context, id string, payload []byte) (execution.Handover, error) {
	h := execution.NewHandover(id, payload)
	// An object with the same ID and hash is the same invocation.
	if _, err := s.objects.Create(ctx, key(h), payload); err != nil && !errors.Is(err, s3objects.ErrChanged) {
		return h, unavailable("the request could not be handed over to the function", err)
	}
	return h, nil
}

// Get returns the JSON of a handover. If it fails with an *execution.Error, nothing has run.
func (s *Store) Get(ctx context.Context, h execution.Handover) ([]byte, error) {
	payload, _, err := s.objects.Get(ctx, key(h), int64(h.Bytes))
	switch {
	case errors.Is(err, s3objects.ErrMissing):
		return nil, &execution.Error{Code: execution.InvalidRequest, Field: "handover",
			Message: "names nothing that was handed over"}
	case err != nil:
		return nil, unavailable("the request that was handed over could not be read", err)
	case !h.Is(payload):
		return nil, &execution.Error{Code: execution.Internal, Message: "what was handed over is not what was sent"}
	}
	return payload, nil
}

func unavailable(message string, err error) *execution.Error {
	return &execution.Error{Code: execution.Unavailable, Message: message, RetryAfter: time.Second, Err: err}
}

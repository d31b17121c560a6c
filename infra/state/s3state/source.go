package s3state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

// maxObject bounds an object: a request or an answer, twice in base64.
const maxObject = 64 << 20

// ErrReadOnly is the error of every change.
var ErrReadOnly = errors.New("buckets no longer hold state; copy to a folder, postgres://user@host/database or " +
	"dynamodb://table?contents=s3://bucket/prefix")

// A Source is the state below a prefix of a bucket, to copy from.
type Source struct{ objects *s3objects.Store }

var _ transfer.Store = (*Source)(nil)

// Open returns the state at a URL, s3://bucket/prefix. It sends no request.
func Open(ctx context.Context, url string, access s3objects.Access) (*Source, error) {
	objects, err := s3objects.Open(ctx, url, access)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	return &Source{objects}, nil
}

// Import returns ErrReadOnly.
func (s *Source) Import(context.Context, transfer.Item) error { return ErrReadOnly }

// Holds returns ErrReadOnly: only the target of a copy is asked.
func (s *Source) Holds(context.Context) (bool, error) { return false, ErrReadOnly }

// InUse returns false: a bucket does not tell.
func (s *Source) InUse(context.Context) (bool, error) { return false, nil }

// Export passes everything to fn. The time of an event is not kept in a bucket; it is exported as received now.
func (s *Source) Export(ctx context.Context, fn func(transfer.Item) error) error {
	for _, part := range []struct {
		folder string
		read   func(ctx context.Context, key string) (transfer.Item, error)
	}{
		{"functions/", s.function}, {"jobs/", s.job}, {"deliveries/", s.key}, {"events/", s.event}, {"gone/", s.gone},
		{"anchors/", s.anchor},
	} {
		for after := ""; ; {
			keys, err := s.objects.List(ctx, part.folder, after, 1000)
			if err != nil {
				return err
			}
			if len(keys) == 0 {
				break
			}
			for _, key := range keys {
				after = key
				item, err := part.read(ctx, key)
				if errors.Is(err, s3objects.ErrMissing) {
					continue // deleted meanwhile
				}
				if err == nil {
					err = fn(item)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// read decodes an object.
func (s *Source) read(ctx context.Context, key string, to any) error {
	body, _, err := s.objects.Get(ctx, key, maxObject)
	if err == nil {
		err = json.Unmarshal(body, to)
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", key, err)
	}
	return nil
}

// tenantIn splits a key below a folder into its tenant and the rest.
func tenantIn(key string) (tenant, rest string, err error) {
	_, below, _ := strings.Cut(key, "/")
	part, rest, ok := strings.Cut(below, "/")
	text, bad := hex.DecodeString(strings.TrimPrefix(part, "t"))
	if !ok || bad != nil {
		return "", "", fmt.Errorf("%q does not name a tenant", key)
	}
	return string(text), rest, nil
}

func (s *Source) function(ctx context.Context, key string) (transfer.Item, error) {
	var d struct {
		Function execution.SavedFunction `json:"function"`
		Contents map[int]string          `json:"contents"` // by version, the hash
	}
	if err := s.read(ctx, key, &d); err != nil {
		return transfer.Item{}, err
	}
	f := &transfer.Function{Saved: d.Function, Contents: map[int]execution.FunctionContent{}}
	for _, v := range d.Function.Versions {
		sum, ok := d.Contents[v.Version]
		if !ok {
			continue
		}
		at := "contents/" + strings.TrimPrefix(key, "functions/") + "/" + sum
		body, _, err := s.objects.Get(ctx, at, maxObject)
		if errors.Is(err, s3objects.ErrMissing) {
			continue // deleted
		}
		if got := sha256.Sum256(body); err == nil && hex.EncodeToString(got[:]) != sum {
			err = errors.New("the content differs from what was saved")
		}
		var c execution.FunctionContent
		if err == nil {
			c, err = execution.DecodeContent(body)
		}
		if err != nil {
			return transfer.Item{}, fmt.Errorf("read version %d of function %q: %w", v.Version, d.Function.Name, err)
		}
		f.Contents[v.Version] = c
	}
	return transfer.Item{Function: f}, nil
}

func (s *Source) job(ctx context.Context, key string) (transfer.Item, error) {
	var d struct {
		Job     execution.Job     `json:"job"`
		Request execution.Request `json:"request"`
		Result  json.RawMessage   `json:"result"`
	}
	err := s.read(ctx, key, &d)
	d.Job.Request, d.Job.Result = d.Request, d.Result
	return transfer.Item{Job: &d.Job}, err
}

func (s *Source) key(ctx context.Context, key string) (transfer.Item, error) {
	var d struct {
		Key      execution.Key `json:"key"` // none in those of old versions
		Mark     string        `json:"mark"`
		Until    time.Time     `json:"until"`
		Answered bool          `json:"answered"`
		Answer   []byte        `json:"answer"`
	}
	err := s.read(ctx, key, &d)
	k := &transfer.Key{Key: d.Key, Mark: d.Mark, Until: d.Until}
	if d.Answered {
		k.Answer = append([]byte{}, d.Answer...)
	}
	return transfer.Item{Key: k}, err
}

func (s *Source) event(ctx context.Context, key string) (transfer.Item, error) {
	tenant, rest, err := tenantIn(key)
	if err != nil {
		return transfer.Item{}, err
	}
	function, id, _ := strings.Cut(rest, "/")
	e := &transfer.Event{Tenant: tenant, Function: function, ID: id, At: time.Now()}
	return transfer.Item{Event: e}, s.read(ctx, key, &e.Event)
}

func (s *Source) gone(ctx context.Context, key string) (transfer.Item, error) {
	tenant, _, err := tenantIn(key)
	if err != nil {
		return transfer.Item{}, err
	}
	var d struct {
		Until time.Time `json:"until"`
		URL   string    `json:"url"` // none in those of old versions
	}
	err = s.read(ctx, key, &d)
	return transfer.Item{Gone: &transfer.Gone{Tenant: tenant, URL: d.URL, Until: d.Until}}, err
}

func (s *Source) anchor(ctx context.Context, key string) (transfer.Item, error) {
	body, _, err := s.objects.Get(ctx, key, maxObject)
	return transfer.Item{Document: &transfer.Document{Name: key, Body: body}}, err
}

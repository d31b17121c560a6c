package s3state

import (
	"context"
	"crypto/rand"
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

// A Transfer copies from a Store and to it.
type Transfer struct{ *Store }

var _ transfer.Store = Transfer{}

// anchorsFolder holds the anchors, which package anchors writes.
const anchorsFolder = "anchors/"

// Holds reports whether the state holds anything.
func (s Transfer) Holds(ctx context.Context) (bool, error) {
	for _, folder := range []string{"functions/", "jobs/", "deliveries/", anchorsFolder} {
		if keys, err := s.objects.List(ctx, folder, "", 1); err != nil || len(keys) > 0 {
			return true, err
		}
	}
	return false, nil
}

// InUse returns false: a bucket does not tell.
func (s Transfer) InUse(context.Context) (bool, error) { return false, nil }

// Export passes everything to fn. The time of an event is not kept in a bucket; it is exported as received now.
func (s Transfer) Export(ctx context.Context, fn func(transfer.Item) error) error {
	for _, part := range []struct {
		folder string
		read   func(ctx context.Context, key string) (transfer.Item, error)
	}{
		{"functions/", s.exportFunction}, {"jobs/", s.exportJob}, {"deliveries/", s.exportKey}, {"events/", s.exportEvent},
		{"gone/", s.exportGone}, {anchorsFolder, s.exportAnchor},
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
				if errors.Is(err, execution.ErrNotFound) {
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

func (s Transfer) exportFunction(ctx context.Context, key string) (transfer.Item, error) {
	tenant, name, err := tenantIn(key)
	if err != nil {
		return transfer.Item{}, err
	}
	d, err := s.document(ctx, tenant, name)
	if err != nil {
		return transfer.Item{}, err
	}
	f := &transfer.Function{Saved: d.Function, Contents: map[int]execution.FunctionContent{}}
	for _, v := range d.Function.Versions {
		c, err := s.Content(ctx, tenant, name, v.Version)
		if errors.Is(err, execution.ErrNotFound) {
			continue // deleted
		}
		if err != nil {
			return transfer.Item{}, err
		}
		f.Contents[v.Version] = c
	}
	return transfer.Item{Function: f}, nil
}

func (s Transfer) exportJob(ctx context.Context, key string) (transfer.Item, error) {
	job, err := s.Job(ctx, strings.TrimPrefix(key, "jobs/"))
	return transfer.Item{Job: &job}, err
}

func (s Transfer) exportKey(ctx context.Context, key string) (transfer.Item, error) {
	var t taken
	_, there, err := s.read(ctx, key, maxDelivery, &t)
	if err == nil && !there {
		err = execution.ErrNotFound
	}
	k := &transfer.Key{Key: t.Key, Mark: t.Mark, Until: t.Until}
	if t.Answered {
		k.Answer = append([]byte{}, t.Answer...)
	}
	return transfer.Item{Key: k}, err
}

func (s Transfer) exportEvent(ctx context.Context, key string) (transfer.Item, error) {
	tenant, rest, err := tenantIn(key)
	if err != nil {
		return transfer.Item{}, err
	}
	function, id, _ := strings.Cut(rest, "/")
	event, err := s.Event(ctx, tenant, function, id)
	return transfer.Item{Event: &transfer.Event{Tenant: tenant, Function: function, ID: id, At: s.cfg.Now(),
		Event: event}}, err
}

func (s Transfer) exportGone(ctx context.Context, key string) (transfer.Item, error) {
	tenant, _, err := tenantIn(key)
	if err != nil {
		return transfer.Item{}, err
	}
	var g goneReceiver
	_, there, err := s.read(ctx, key, maxDocument, &g)
	if err == nil && !there {
		err = execution.ErrNotFound
	}
	return transfer.Item{Gone: &transfer.Gone{Tenant: tenant, URL: g.URL, Until: g.Until}}, err
}

func (s Transfer) exportAnchor(ctx context.Context, key string) (transfer.Item, error) {
	body, _, err := s.objects.Get(ctx, key, maxDelivery)
	if errors.Is(err, s3objects.ErrMissing) {
		err = execution.ErrNotFound
	}
	return transfer.Item{Document: &transfer.Document{Name: key, Body: body}}, err
}

// Import stores an item, or replaces it.
func (s Transfer) Import(ctx context.Context, item transfer.Item) error {
	switch {
	case item.Function != nil:
		return s.importFunction(ctx, *item.Function)
	case item.Job != nil:
		if !execution.ValidID(item.Job.ID) {
			return fmt.Errorf("job %q cannot be part of a key", item.Job.ID)
		}
		return change(ctx, s.Store, jobKey(item.Job.ID), maxJob, func(d *jobDocument, _ bool) error {
			d.take(*item.Job)
			d.Lease = time.Time{} // a running job is an orphan at once
			return nil
		})
	case item.Key != nil:
		k := item.Key
		return change(ctx, s.Store, keyOf(k.Key.Name), maxDelivery, func(t *taken, _ bool) error {
			*t = taken{By: rand.Text(), Key: k.Key, Mark: k.Mark, Until: k.Until, Answered: k.Answer != nil, Answer: k.Answer}
			return nil
		})
	case item.Event != nil:
		return s.KeepEvent(ctx, item.Event.Tenant, item.Event.Function, item.Event.ID, item.Event.Event, item.Event.At)
	case item.Gone != nil:
		_, err := s.Gone(ctx, item.Gone.Tenant, item.Gone.URL, time.Time{}, item.Gone.Until)
		return err
	}
	name, body := item.Document.Name, item.Document.Body
	_, tag, err := s.objects.Get(ctx, name, maxDelivery)
	switch {
	case errors.Is(err, s3objects.ErrMissing):
		_, err = s.objects.Create(ctx, name, body)
	case err == nil:
		_, err = s.objects.Replace(ctx, name, body, tag)
	}
	return err
}

func (s Transfer) importFunction(ctx context.Context, f transfer.Function) error {
	key, ok := place("functions", f.Saved.Tenant, f.Saved.Name)
	if !ok {
		return fmt.Errorf("function %q cannot be part of a key", f.Saved.Name)
	}
	at, _ := place("contents", f.Saved.Tenant, f.Saved.Name)
	sums := map[int]string{}
	for version, content := range f.Contents {
		body, err := json.Marshal(content)
		if err != nil {
			return err
		}
		sums[version] = hash(body)
		_, err = s.objects.Create(ctx, at+"/"+sums[version], body)
		if err != nil && !errors.Is(err, s3objects.ErrChanged) {
			return err
		}
	}
	return change(ctx, s.Store, key, maxDocument, func(d *document, _ bool) error {
		d.Function, d.Contents = f.Saved, sums
		return nil
	})
}

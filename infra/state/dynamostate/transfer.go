package dynamostate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

// A Transfer copies from a Store and to it.
type Transfer struct{ *Store }

var _ transfer.Store = Transfer{}

// exported returns the prefixes of the partitions that a copy has.
func exported() []string { return []string{"fn#", "job#", "key#", "event#", "gone#", "document#"} }

// scan passes every item of the table to fn, until it returns false.
func (s Transfer) scan(ctx context.Context, fn func(kind string, it item) (bool, error)) error {
	in := &dynamodb.ScanInput{TableName: &s.name, ConsistentRead: aws.Bool(true)}
	for got := (pages{}); ; got.items = 0 { // a table may be large
		out, err := s.client.Scan(ctx, in)
		if err != nil {
			return judge(ctx, err)
		}
		for _, it := range out.Items {
			if textOf(it["pk"]) == "" || !within(it) {
				return &execution.StoreError{Fault: execution.StoreLost, Err: errEndless}
			}
			for _, kind := range exported() {
				if strings.HasPrefix(textOf(it["pk"]), kind) {
					if more, err := fn(kind, it); err != nil || !more {
						return err
					}
				}
			}
		}
		if more, err := got.next(len(out.Items), out.LastEvaluatedKey); err != nil || !more {
			return err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// Holds reports whether the state holds anything.
func (s Transfer) Holds(ctx context.Context) (holds bool, err error) {
	err = s.scan(ctx, func(string, item) (bool, error) {
		holds = true
		return false, nil
	})
	return holds, err
}

// InUse reports whether another process has a heartbeat that is not older than a minute by the clocks of both. A
// gateway that stops deletes its own.
func (s Transfer) InUse(ctx context.Context) (used bool, err error) {
	oldest := s.cfg.Now().Add(keepBeat - max(time.Minute, s.cfg.DeadAfter)).Unix()
	err = s.below(ctx, processes, "", looked, func(it item) (bool, error) {
		used = used || textOf(it["sk"]) != s.id && numberOf(it["expires"]) > oldest
		return !used, nil
	})
	return used, err
}

// Export passes everything to fn.
func (s Transfer) Export(ctx context.Context, fn func(transfer.Item) error) error {
	return s.scan(ctx, func(kind string, it item) (bool, error) {
		out, err := s.export(ctx, kind, it)
		if errors.Is(err, execution.ErrNotFound) || errors.Is(err, errMoved) {
			return true, nil // deleted meanwhile
		}
		if err == nil {
			err = fn(out)
		}
		return true, err
	})
}

func (s Transfer) export(ctx context.Context, kind string, it item) (transfer.Item, error) {
	pk, sk := textOf(it["pk"]), textOf(it["sk"])
	switch kind {
	case "fn#":
		return s.exportFunction(ctx, it)
	case "job#":
		job, err := s.jobOf(ctx, it)
		return transfer.Item{Job: &job}, err
	case "key#":
		return s.exportKey(ctx, it)
	case "event#":
		part, function, _ := strings.Cut(strings.TrimPrefix(pk, kind), "/")
		tenant, bad := hex.DecodeString(part)
		body, err := s.load(ctx, it["body"])
		return transfer.Item{Event: &transfer.Event{Tenant: string(tenant), Function: function, ID: sk,
			At: fromMillis(numberOf(it["received"])), Event: body}}, errors.Join(err, bad)
	case "gone#":
		tenant, bad := s.load(ctx, it["tenant"])
		url, err := s.load(ctx, it["body"])
		return transfer.Item{Gone: &transfer.Gone{Tenant: string(tenant), URL: string(url),
			Until: fromMillis(numberOf(it["until"]))}}, errors.Join(err, bad)
	}
	body, err := s.load(ctx, it["body"])
	return transfer.Item{Document: &transfer.Document{Name: strings.TrimPrefix(pk, kind), Body: body}}, err
}

func (s Transfer) exportFunction(ctx context.Context, it item) (transfer.Item, error) {
	d, err := s.documentOf(ctx, it)
	if err != nil {
		return transfer.Item{}, err
	}
	f := &transfer.Function{Saved: d.Function, Contents: map[int]execution.FunctionContent{}}
	for _, v := range d.Function.Versions {
		c, err := s.Content(ctx, d.Function.Tenant, d.Function.Name, v.Version)
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

func (s Transfer) exportKey(ctx context.Context, it item) (transfer.Item, error) {
	part := map[string]string{}
	for _, name := range []string{"name", "mark", "tenant", "subject", "quota"} {
		raw, err := s.load(ctx, it[name])
		if err != nil {
			return transfer.Item{}, err
		}
		part[name] = string(raw)
	}
	answer, err := s.load(ctx, it["doc"])
	return transfer.Item{Key: &transfer.Key{Mark: part["mark"], Until: fromMillis(numberOf(it["until"])), Answer: answer,
		Key: execution.Key{Quota: part["quota"], Tenant: part["tenant"], Subject: part["subject"], Name: part["name"]}}}, err
}

// Import stores an item, or replaces it.
func (s Transfer) Import(ctx context.Context, in transfer.Item) error {
	switch {
	case in.Function != nil:
		return s.importFunction(ctx, *in.Function)
	case in.Job != nil:
		if !validID(in.Job.ID) {
			return fmt.Errorf("job %q cannot be part of a key", in.Job.ID)
		}
		return s.change(ctx, jobKey(in.Job.ID), token(), nil, func(it item, _ bool) error {
			delete(it, "request")
			delete(it, "result")
			delete(it, "snapshot")
			delete(it, "aside")
			return s.setJob(ctx, it, execution.Job{}, *in.Job) // the owner of a running job has no heartbeat
		})
	case in.Key != nil:
		k := in.Key
		return s.change(ctx, deliveryKey(k.Key.Name), token(), nil, func(it item, _ bool) (err error) {
			setKey(it, k.Key, k.Mark, k.Until)
			it["owner"] = text(transfer.MovedOwner)
			if k.Answer != nil {
				it["doc"], err = s.keep(ctx, "deliveries/"+hash(k.Key.Name), k.Answer)
			}
			return err
		})
	case in.Event != nil:
		e := in.Event
		return s.KeepEvent(ctx, e.Tenant, e.Function, e.ID, e.Event, e.At)
	case in.Gone != nil:
		_, err := s.Gone(ctx, in.Gone.Tenant, in.Gone.URL, time.Time{}, in.Gone.Until)
		return err
	}
	documents, name := Documents{s.table}, in.Document.Name
	_, tag, err := documents.Get(ctx, name, maxObject)
	switch {
	case errors.Is(err, s3objects.ErrMissing):
		_, err = documents.Create(ctx, name, in.Document.Body)
	case err == nil:
		_, err = documents.Replace(ctx, name, in.Document.Body, tag)
	}
	return err
}

func (s Transfer) importFunction(ctx context.Context, f transfer.Function) error {
	tenant, name := f.Saved.Tenant, f.Saved.Name
	if !plainName().MatchString(name) {
		return fmt.Errorf("function %q cannot be part of a key", name)
	}
	d := newDocument(f.Saved)
	for version, content := range f.Contents {
		sum, parts, err := content.Named()
		if err != nil {
			return err
		}
		if err := s.keepContent(ctx, tenant, name, sum, parts); err != nil {
			return err
		}
		d.add(version, sum, parts.Len())
	}
	return s.change(ctx, functionKey(tenant, name), token(), nil, func(it item, _ bool) error {
		return s.setDocument(ctx, it, d)
	})
}

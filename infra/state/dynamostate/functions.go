package dynamostate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// plainName matches the function names that may be part of a key.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

func functionsOf(tenant string) string { return "fn#" + tenantPart(tenant) }

func functionKey(tenant, name string) key { return keyOf(functionsOf(tenant), name) }

func contentsOf(tenant, name string) string { return "content#" + tenantPart(tenant) + name }

func functionFolder(tenant, name string) string { return "functions/t" + tenantPart(tenant) + name }

// A document is a stored function.
type document struct {
	Function execution.SavedFunction `json:"function"`
	// Contents maps version numbers to content hashes, and Sizes hashes to bytes.
	Contents map[int]string   `json:"contents"`
	Sizes    map[string]int64 `json:"sizes"`
}

func newDocument(f execution.SavedFunction) document {
	return document{f, map[int]string{}, map[string]int64{}}
}

// add adds the content of a version.
func (d *document) add(version int, sum string, bytes int) {
	d.Contents[version], d.Sizes[sum] = sum, int64(bytes)
}

// documentOf decodes an item.
func (t *table) documentOf(ctx context.Context, it item) (d document, err error) {
	body, err := t.load(ctx, it["doc"])
	if err != nil {
		return d, err
	}
	if err := share.Decode(body, &d); err != nil {
		return d, unreadable("a function", err)
	}
	return d, nil
}

// setDocument writes a function into its item.
func (t *table) setDocument(ctx context.Context, it item, d document) error {
	f := d.Function
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if it["doc"], err = t.keep(ctx, functionFolder(f.Tenant, f.Name), body); err != nil {
		return err
	}
	bytes := int64(len(body))
	for _, n := range d.Sizes {
		bytes += n
	}
	it["bytes"] = number(bytes)
	e := entry{}
	if f.Schedule != nil && !f.Schedule.Next.IsZero() {
		e = timed(schedulesList, f.Schedule.Next, f.Tenant, f.Name)
	}
	e.set(it)
	return nil
}

// Function returns a saved function. The error is execution.ErrNotFound if there is none.
func (s *Store) Function(ctx context.Context, tenant, name string) (execution.SavedFunction, error) {
	d, err := s.document(ctx, functionKey(tenant, name))
	return d.Function, err
}

func (t *table) document(ctx context.Context, k key) (d document, err error) {
	name := textOf(k["sk"])
	if !plainName().MatchString(name) {
		return d, execution.ErrNotFound
	}
	for range changes {
		it, err := t.get(ctx, k)
		if err != nil {
			return d, fmt.Errorf("read function %q: %w", name, err)
		}
		if len(it) == 0 {
			return d, execution.ErrNotFound
		}
		if d, err = t.documentOf(ctx, it); !errors.Is(err, errMoved) {
			return d, err
		}
	}
	return d, &execution.StoreError{Fault: execution.StoreBusy, Err: errMoved}
}

// Functions returns at most limit functions of a tenant in the order of names, starting after a name.
func (s *Store) Functions(ctx context.Context, tenant, after string,
	limit int) (out []execution.SavedFunction, err error) {
	err = s.below(ctx, functionsOf(tenant), after, limit, func(it item) (bool, error) {
		d, err := s.documentOf(ctx, it)
		if errors.Is(err, errMoved) {
			d, err = s.document(ctx, key{"pk": it["pk"], "sk": it["sk"]})
		}
		if errors.Is(err, execution.ErrNotFound) {
			return true, nil // deleted meanwhile
		}
		if err == nil {
			out = append(out, d.Function)
		}
		return len(out) < limit, err
	})
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	return out, nil
}

// Content returns the content of a version, verified by its hash.
func (s *Store) Content(ctx context.Context, tenant, name string,
	version int) (c execution.FunctionContent, err error) {
	d, err := s.document(ctx, functionKey(tenant, name))
	if err != nil {
		return c, err
	}
	sum, ok := d.Contents[version]
	if !ok {
		return c, execution.ErrNotFound
	}
	var body []byte
	it, err := s.get(ctx, keyOf(contentsOf(tenant, name), sum))
	if err == nil {
		body, err = s.load(ctx, it["body"])
	}
	switch {
	case err == nil && len(it) == 0, errors.Is(err, errMoved):
		return c, execution.ErrNotFound // deleted meanwhile
	case err == nil:
		if c, err = execution.DecodeNamed(sum, body); err != nil {
			err = unreadable("a version", err)
		}
	}
	if err != nil {
		return c, fmt.Errorf("read version %d of function %q: %w", version, name, err)
	}
	return c, nil
}

// keepContent stores the content of a version under its hash. The same hash means the same content. Content that is
// left over from a failed change is unreachable until its function is deleted.
func (t *table) keepContent(ctx context.Context, tenant, name, sum string, parts execution.Stored) (err error) {
	it := keyOf(contentsOf(tenant, name), sum)
	if it["body"], err = t.keepParts(ctx, functionFolder(tenant, name), parts); err != nil {
		return err
	}
	it["v"] = text(token())
	if err = t.put(ctx, it, ""); errors.Is(err, errMoved) { // it is there
		now, reading := t.get(ctx, keyOf(contentsOf(tenant, name), sum))
		if err = reading; err == nil {
			t.discard(ctx, it, now)
		}
	}
	return err
}

// roomFor returns an *execution.QuotaError if a tenant has no room for so much more of a quota that its functions count
// against. of returns what one of them takes.
func (s *Store) roomFor(ctx context.Context, quota, tenant string, added, most int64, of func(item) int64) error {
	used, err := s.tallies.Used(quota, tenant, func() (n int64, err error) {
		err = s.below(ctx, functionsOf(tenant), "", looked, func(it item) (bool, error) {
			n += of(it)
			return true, nil
		})
		return n, err
	})
	if err == nil && used+added > most {
		err = &execution.QuotaError{Quota: quota, Used: used, Limit: most}
	}
	return err
}

// bytesIn returns the bytes of a function with all its versions.
func bytesIn(it item) int64 { return numberOf(it["bytes"]) }

// schedulesIn returns 1 for a function that is scheduled, or 0.
func schedulesIn(it item) int64 {
	if textOf(it["list"]) == schedulesList {
		return 1
	}
	return 0
}

// Change passes a function to fn, or an empty one with tenant and name, and stores the result atomically. fn may be
// called more than once. If fn returns content, it is that of the last version. If fn fails, nothing changes and its
// error is returned. The error is an *execution.QuotaError if the tenant's quota is exceeded; the use of it is counted
// now and then.
func (s *Store) Change(ctx context.Context, tenant, name string,
	fn func(*execution.SavedFunction) (*execution.FunctionContent, error)) error {
	if !plainName().MatchString(name) {
		return fmt.Errorf("save function %q: the name cannot be part of a key", name)
	}
	added, scheduled := 0, int64(0)
	err := s.change(ctx, functionKey(tenant, name), token(), nil, func(it item, there bool) error {
		d := newDocument(execution.SavedFunction{Tenant: tenant, Name: name})
		if there {
			var err error
			if d, err = s.documentOf(ctx, it); err != nil {
				return err
			}
		}
		content, err := fn(&d.Function)
		if err != nil {
			return err
		}
		if d.Function.Schedule != nil && s.cfg.NoJobs {
			return execution.ErrNotKept
		}
		scheduled = -schedulesIn(it)
		if d.Function.Schedule != nil && !d.Function.Schedule.Next.IsZero() {
			scheduled++
		}
		if scheduled > 0 {
			most := s.storage(tenant).Schedules
			if err := s.roomFor(ctx, execution.QuotaSchedules, tenant, scheduled, most, schedulesIn); err != nil {
				return err
			}
		}
		if content != nil {
			sum, parts, err := content.Named()
			if err != nil {
				return err
			}
			if _, has := d.Sizes[sum]; !has {
				added = parts.Len()
				err := s.roomFor(ctx, execution.QuotaFunctions, tenant, int64(added), s.storage(tenant).Functions, bytesIn)
				if err != nil {
					return err
				}
			}
			if err := s.keepContent(ctx, tenant, name, sum, parts); err != nil {
				return err
			}
			d.add(d.Function.Versions[len(d.Function.Versions)-1].Version, sum, parts.Len())
		}
		return s.setDocument(ctx, it, d)
	})
	if err == nil {
		s.tallies.Add(execution.QuotaFunctions, tenant, int64(added))
		s.tallies.Add(execution.QuotaSchedules, tenant, scheduled)
	}
	return err
}

// Delete deletes a function with all its versions and events.
func (s *Store) Delete(ctx context.Context, tenant, name string) error {
	if !plainName().MatchString(name) {
		return execution.ErrNotFound
	}
	it, err := s.get(ctx, functionKey(tenant, name))
	if err != nil {
		return fmt.Errorf("delete function %q: %w", name, err)
	}
	if len(it) == 0 {
		return execution.ErrNotFound
	}
	defer s.tallies.Forget(execution.QuotaFunctions, tenant)
	defer s.tallies.Forget(execution.QuotaSchedules, tenant)
	err = s.remove(ctx, functionKey(tenant, name))
	if err == nil {
		s.discard(ctx, it)
	}
	for _, pk := range []string{contentsOf(tenant, name), eventsOf(tenant, name)} {
		err = errors.Join(err, s.below(ctx, pk, "", looked, func(it item) (bool, error) {
			err := s.remove(ctx, key{"pk": it["pk"], "sk": it["sk"]})
			if err == nil {
				s.discard(ctx, it)
			}
			return true, err
		}))
	}
	if err != nil {
		return fmt.Errorf("delete function %q: %w", name, err)
	}
	return nil
}

// Due returns at most limit functions whose next time has come, fairly: each tenant has its share of the limit.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]execution.SavedFunction, error) {
	due, err := s.due(ctx, dueIndex(), schedulesList, now, limit)
	if err != nil {
		return nil, fmt.Errorf("look for schedules: %w", err)
	}
	slices.SortFunc(due, func(a, b listed) int { return cmp.Compare(a.at, b.at) })
	return s.scheduled(ctx, due)
}

// Scheduled returns at most limit functions with a schedule, due or not, in the order of tenants and names, starting
// after a tenant's name.
func (s *Store) Scheduled(ctx context.Context, tenant, name string, limit int) ([]execution.SavedFunction, error) {
	var all []listed
	held := s.keeping()
	after := tenantPart(tenant) + name
	err := s.index(ctx, schedulesList, first, last, looked, func(l listed) (bool, error) {
		if _, place := splitTime(l.at); place <= after {
			return true, nil
		}
		all = append(all, l)
		return true, held.add(l.at, textOf(l.key["pk"]), textOf(l.key["sk"]))
	})
	if err != nil {
		return nil, fmt.Errorf("look for schedules: %w", err)
	}
	slices.SortFunc(all, func(a, b listed) int {
		_, x := splitTime(a.at)
		_, y := splitTime(b.at)
		return cmp.Compare(x, y)
	})
	return s.scheduled(ctx, all[:min(len(all), limit)])
}

// scheduled returns the functions of entries that are still listed.
func (s *Store) scheduled(ctx context.Context, entries []listed) (out []execution.SavedFunction, err error) {
	for _, l := range entries {
		d, err := s.document(ctx, l.key)
		if errors.Is(err, execution.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f := d.Function
		if f.Schedule != nil && timed(schedulesList, f.Schedule.Next, f.Tenant, f.Name) == l.entry {
			out = append(out, f)
		}
	}
	return out, nil
}

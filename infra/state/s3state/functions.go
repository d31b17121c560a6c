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

	"golang.org/x/sync/errgroup"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
)

const (
	maxDocument = 4 << 20
	maxContent  = execution.MaxInvocationBytes
	readers     = 16 // concurrent requests of one list
)

// A document is a stored function.
type document struct {
	steps
	Function execution.SavedFunction `json:"function"`
	// Contents maps version numbers to content hashes.
	Contents map[int]string `json:"contents"`
}

func (d *document) dueEntry() dueEntry {
	f := d.Function
	if f.Schedule == nil || f.Schedule.Next.IsZero() {
		return dueEntry{}
	}
	return dueEntry{list: schedulesList, when: millis(f.Schedule.Next), step: d.Step,
		name: hex.EncodeToString([]byte(f.Tenant)) + "." + f.Name}
}

// Function returns a saved function. The error is execution.ErrNotFound if there is none.
func (s *Store) Function(ctx context.Context, tenant, name string) (execution.SavedFunction, error) {
	d, err := s.document(ctx, tenant, name)
	return d.Function, err
}

func (s *Store) document(ctx context.Context, tenant, name string) (d document, err error) {
	key, ok := place("functions", tenant, name)
	if !ok {
		return d, execution.ErrNotFound
	}
	body, _, err := s.objects.Get(ctx, key, maxDocument)
	if errors.Is(err, s3objects.ErrMissing) {
		return d, execution.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(body, &d)
	}
	if err != nil {
		return d, fmt.Errorf("read function %q: %w", name, err)
	}
	return d, nil
}

// Functions returns at most limit functions of a tenant in the order of names, starting after a name.
func (s *Store) Functions(ctx context.Context, tenant, after string, limit int) ([]execution.SavedFunction, error) {
	prefix := "functions" + tenantPart(tenant)
	if after != "" {
		after = prefix + after
	}
	keys, err := s.objects.List(ctx, prefix, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	found := make([]execution.SavedFunction, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, key := range keys {
		group.Go(func() (err error) {
			found[i], err = s.Function(ctx, tenant, key[len(prefix):])
			if errors.Is(err, execution.ErrNotFound) {
				return nil // deleted meanwhile
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var out []execution.SavedFunction
	for _, f := range found {
		if f.Name != "" {
			out = append(out, f)
		}
	}
	return out, nil
}

// Content returns the content of a version, verified by its hash.
func (s *Store) Content(ctx context.Context, tenant, name string,
	version int) (c execution.FunctionContent, err error) {
	d, err := s.document(ctx, tenant, name)
	if err != nil {
		return c, err
	}
	sum, ok := d.Contents[version]
	if !ok {
		return c, execution.ErrNotFound
	}
	key, _ := place("contents", tenant, name)
	body, _, err := s.objects.Get(ctx, key+"/"+sum, maxContent)
	if errors.Is(err, s3objects.ErrMissing) {
		return c, execution.ErrNotFound // deleted meanwhile
	}
	if err == nil && hash(body) != sum {
		err = errors.New("the content differs from what was saved")
	}
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read version %d of function %q: %w", version, name, err)
	}
	return c, nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Change passes a function to fn, or an empty one with tenant and name, and stores the result atomically. fn may be
// called more than once. If fn returns content, it is that of the last version. If fn fails, nothing changes and its
// error is returned. The error is an *execution.QuotaError if the tenant's quota is exceeded; the use of it is counted
// now and then.
func (s *Store) Change(ctx context.Context, tenant, name string,
	fn func(*execution.SavedFunction) (*execution.FunctionContent, error)) error {
	key, ok := place("functions", tenant, name)
	if !ok {
		return fmt.Errorf("save function %q: the name cannot be part of a key", name)
	}
	return change(ctx, s, key, maxDocument, func(d *document, there bool) error {
		if !there {
			d.Function.Tenant, d.Function.Name, d.Contents = tenant, name, map[int]string{}
		}
		content, err := fn(&d.Function)
		switch {
		case err != nil:
			return err
		case d.Function.Schedule != nil && s.cfg.NoJobs:
			return execution.ErrNotKept
		case content == nil:
			return nil
		}
		body, err := json.Marshal(content)
		if err != nil {
			return err
		}
		sum := hash(body)
		d.Contents[d.Function.Versions[len(d.Function.Versions)-1].Version] = sum
		at, _ := place("contents", tenant, name)
		// The same hash means the same content. Content that is left over from a failed change is unreachable.
		if err := s.roomForContent(ctx, tenant, len(body)); err != nil {
			return err
		}
		_, err = s.objects.Create(ctx, at+"/"+sum, body)
		switch {
		case errors.Is(err, s3objects.ErrChanged):
			return nil
		case err == nil:
			s.tallies.Add(execution.QuotaFunctions, tenant, int64(len(body)))
		}
		return err
	})
}

// Delete deletes a function with all its versions.
func (s *Store) Delete(ctx context.Context, tenant, name string) error {
	if _, err := s.document(ctx, tenant, name); err != nil {
		return err
	}
	defer s.tallies.Forget(execution.QuotaFunctions, tenant)
	key, _ := place("functions", tenant, name)
	if err := s.objects.Delete(ctx, key); err != nil {
		return err
	}
	at, _ := place("contents", tenant, name)
	contents, err := s.objects.List(ctx, at+"/", "", 10_000)
	for _, content := range contents {
		err = errors.Join(err, s.objects.Delete(ctx, content))
	}
	return err
}

// stale is how long a due-entry may be ahead of its function. No change takes that long.
const stale = time.Hour

// Scheduled returns at most limit functions with a schedule, in the order of their next times. It does not page:
// after the first page it returns nothing.
func (s *Store) Scheduled(ctx context.Context, tenant, name string, limit int) ([]execution.SavedFunction, error) {
	if tenant != "" || name != "" {
		return nil, nil // the first page was the only one
	}
	const farAway = 100 * 366 * 24 * time.Hour
	return s.Due(ctx, s.cfg.Now().Add(farAway), limit)
}

// Due returns at most limit functions whose next time has come.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]execution.SavedFunction, error) {
	entries, err := s.due(ctx, schedulesList, now, limit)
	if err != nil {
		return nil, fmt.Errorf("look for schedules: %w", err)
	}
	var out []execution.SavedFunction
	for _, e := range entries {
		tenant, name, _ := strings.Cut(e.name, ".")
		text, err := hex.DecodeString(tenant)
		if err != nil {
			return nil, fmt.Errorf("look for schedules: %q is not a due-entry", e.key())
		}
		d, err := s.document(ctx, string(text), name)
		if err != nil && !errors.Is(err, execution.ErrNotFound) {
			return nil, err
		}
		switch there := err == nil; {
		case there && d.dueEntry() == e:
			out = append(out, d.Function)
		case now.Sub(time.UnixMilli(e.when)) > stale:
			s.erase(ctx, e)
		default:
			s.settle(ctx, e, there, d.Step)
		}
	}
	return out, nil
}

package packages

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/airlock-run/airlock/infra/s3objects"
)

// A bucket has the lock and the findings of a folder in one object, so that readers see one state of both, and each
// archive under its SHA-512. Push writes the archives first. It deletes none: others may be reading an older state.
const (
	indexKey = "packages.json"
	// transfers is the number of archives that are copied at once, each of at most maxArchive bytes.
	transfers = 4
)

// ErrNoPackages means that a bucket has no packages below a prefix.
var ErrNoPackages = errors.New("the bucket has no " + indexKey + " under this prefix; airlock packages push writes it")

type index struct {
	Lock  json.RawMessage `json:"lock"`
	Notes map[string]Note `json:"notes"`
}

// archiveKey returns the key of an archive in a bucket.
func archiveKey(integrity string) (string, error) {
	sum, err := digest(integrity)
	return archivesDir + "/" + hex.EncodeToString(sum[:]) + archiveEnding, err
}

// Pull makes the folder dir a copy of a bucket. It transfers the archives that the folder lacks, and accepts none whose
// SHA-512 is not the lock's. If it fails, the folder has the packages that it had before.
func Pull(ctx context.Context, bucket *s3objects.Store, dir string) (*Store, error) {
	text, _, err := bucket.Get(ctx, indexKey, maxLock+maxNotes)
	switch {
	case errors.Is(err, s3objects.ErrMissing):
		return nil, ErrNoPackages
	case err != nil:
		return nil, err
	}
	var all index
	next := newStore(dir)
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", indexKey, err)
	}
	if next.lock, err = readLock(all.Lock); err != nil {
		return nil, fmt.Errorf("%s: %w", indexKey, err)
	}
	next.notes = checkedNotes(all.Notes)
	var mu sync.Mutex
	archives, total := map[string][]byte{}, 0
	err = next.lock.transfer(ctx, func(ctx context.Context, place string, e *entry) error {
		archive, err := next.archive(place, e)
		if err != nil { // it is not there yet, or is broken
			archive, err = pullArchive(ctx, bucket, place, e)
		}
		mu.Lock()
		defer mu.Unlock()
		if total += len(archive); err == nil && total > maxArchives {
			err = errTooLarge
		}
		archives[place] = archive
		return err
	})
	if err != nil {
		return nil, err
	}
	next.archives = archives
	return next, next.Save()
}

func pullArchive(ctx context.Context, bucket *s3objects.Store, place string, e *entry) ([]byte, error) {
	key, err := archiveKey(e.Integrity)
	if err != nil {
		return nil, err
	}
	archive, _, err := bucket.Get(ctx, key, maxArchive)
	if err == nil {
		err = check(archive, e.Integrity)
	}
	if err != nil {
		return nil, fmt.Errorf("package %s@%s: %w", nameAt(place), e.Version, err)
	}
	return archive, nil
}

// Push makes a bucket a copy of the store. If somebody else pushes meanwhile, one of them gets an error.
func (s *Store) Push(ctx context.Context, bucket *s3objects.Store) error {
	_, tag, err := bucket.Get(ctx, indexKey, maxLock+maxNotes)
	if err != nil && !errors.Is(err, s3objects.ErrMissing) {
		return err
	}
	err = s.lock.transfer(ctx, func(ctx context.Context, place string, e *entry) error {
		archive, err := s.archive(place, e)
		if err != nil {
			return err
		}
		key, err := archiveKey(e.Integrity)
		if err == nil {
			_, err = bucket.Create(ctx, key, archive)
		}
		return err
	})
	if err != nil {
		return err
	}
	lock, err := s.lock.encode()
	if err != nil {
		return err
	}
	text, err := json.Marshal(index{lock, s.notes})
	if err != nil {
		return err
	}
	if tag == "" {
		_, err = bucket.Create(ctx, indexKey, text)
	} else {
		_, err = bucket.Replace(ctx, indexKey, text, tag)
	}
	if errors.Is(err, s3objects.ErrChanged) {
		return errors.New("the packages of the bucket have changed in the meantime; try again")
	}
	return err
}

// transfer calls f for each package of the lock, several at once, until one call fails.
func (l *lock) transfer(ctx context.Context, f func(ctx context.Context, place string, e *entry) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	places := make(chan string)
	for range transfers {
		all.Go(func() {
			for place := range places {
				if ctx.Err() != nil {
					continue
				}
				if err := f(ctx, place, l.Packages[place]); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, place := range slices.Sorted(maps.Keys(l.Packages)) {
		if place != "" {
			places <- place
		}
	}
	close(places)
	all.Wait()
	return context.Cause(ctx)
}

package results

import (
	"container/list"
	"errors"
	"sync"
)

// Store is a cache with least-recently-used eviction, bounded by count and by bytes. It is safe for concurrent use.
// Values are shared: nobody may change one after Put.
type Store[V any] struct {
	maxCount int
	maxBytes int

	mu     sync.Mutex
	bytes  int
	byKey  map[string]*list.Element
	recent *list.List // of *entry[V], most recent first
}

type entry[V any] struct {
	key   string
	value V
	size  int
}

// New makes a store for at most maxCount entries and maxBytes bytes; both must be positive.
func New[V any](maxCount, maxBytes int) (*Store[V], error) {
	if maxCount < 1 || maxBytes < 1 {
		return nil, errors.New("results: room for at least one entry and one byte is needed")
	}
	return &Store[V]{maxCount: maxCount, maxBytes: maxBytes, byKey: make(map[string]*list.Element), recent: list.New()}, nil
}

// Put keeps a value that takes size bytes, in place of one with the same key, and makes room for it. A value larger
// than the whole store is not kept.
func (s *Store[V]) Put(key string, value V, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.drop(e)
	}
	size += len(key)
	if size > s.maxBytes {
		return
	}
	s.byKey[key] = s.recent.PushFront(&entry[V]{key, value, size})
	s.bytes += size
	for s.recent.Len() > s.maxCount || s.bytes > s.maxBytes {
		s.drop(s.recent.Back())
	}
}

// Get gives the value kept under key.
func (s *Store[V]) Get(key string) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	s.recent.MoveToFront(e)
	return e.Value.(*entry[V]).value, true // the list holds nothing else
}

// Len is how many values are kept, and Bytes what they take.
func (s *Store[V]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recent.Len()
}

// Bytes is what the kept values take.
func (s *Store[V]) Bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

func (s *Store[V]) drop(e *list.Element) {
	old := s.recent.Remove(e).(*entry[V]) // as above
	delete(s.byKey, old.key)
	s.bytes -= old.size
}

package results

import (
	"container/heap"
	"container/list"
	"errors"
	"sync"
)

// Store is a cache with least-recently-used eviction, bounded by count and by bytes. If there is no room, the owner
// who uses most of it loses their least recently used value: an owner who fills the store evicts their own values. It
// is safe for concurrent use. Values are shared and must not be changed after Put.
type Store[V any] struct {
	maxCount int
	maxBytes int

	mu     sync.Mutex
	bytes  int
	byKey  map[string]*list.Element // of *entry[V]
	owners map[string]*ownerValues
	order  ownersByShare
}

type entry[V any] struct {
	key   string
	value V
	size  int
	of    *ownerValues
}

// ownerValues holds the values of one owner, most recent first.
type ownerValues struct {
	owner  string
	recent *list.List
	bytes  int
	place  int     // in the heap
	share  float64 // of the store, by count or by bytes, whichever is more
}

// ownersByShare is a heap whose first element has the largest share.
type ownersByShare []*ownerValues

// Len implements heap.Interface.
func (s ownersByShare) Len() int { return len(s) }

// Less implements heap.Interface.
func (s ownersByShare) Less(i, j int) bool { return s[i].share > s[j].share }

// Swap implements heap.Interface.
func (s ownersByShare) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i, j
}

// Push implements heap.Interface.
func (s *ownersByShare) Push(x any) {
	added, _ := x.(*ownerValues)
	added.place = len(*s)
	*s = append(*s, added)
}

// Pop implements heap.Interface.
func (s *ownersByShare) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// New returns a store for at most maxCount entries and maxBytes bytes. Both must be positive.
func New[V any](maxCount, maxBytes int) (*Store[V], error) {
	if maxCount < 1 || maxBytes < 1 {
		return nil, errors.New("results: room for at least one entry and one byte is needed")
	}
	return &Store[V]{
		maxCount: maxCount, maxBytes: maxBytes, byKey: make(map[string]*list.Element), owners: make(map[string]*ownerValues),
	}, nil
}

// Put keeps a value of an owner that takes size bytes, replaces the value with the same key, and makes room for it.
// It does not keep a value larger than the whole store.
func (s *Store[V]) Put(owner, key string, value V, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.drop(e)
	}
	size += len(key)
	if size > s.maxBytes {
		return
	}
	of := s.owners[owner]
	if of == nil {
		of = &ownerValues{owner: owner, recent: list.New()}
		s.owners[owner] = of
		heap.Push(&s.order, of)
	}
	s.byKey[key] = of.recent.PushFront(&entry[V]{key, value, size, of})
	s.change(of, size)
	for len(s.byKey) > s.maxCount || s.bytes > s.maxBytes {
		s.drop(s.order[0].recent.Back())
	}
}

// Get returns the value of a key.
func (s *Store[V]) Get(key string) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	found := e.Value.(*entry[V]) // the lists hold nothing else
	found.of.recent.MoveToFront(e)
	return found.value, true
}

// Len returns how many values are kept.
func (s *Store[V]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byKey)
}

// Bytes returns the size of the kept values.
func (s *Store[V]) Bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

func (s *Store[V]) drop(e *list.Element) {
	old := e.Value.(*entry[V]) // as above
	old.of.recent.Remove(e)
	delete(s.byKey, old.key)
	s.change(old.of, -old.size)
}

// change adds to the size of what an owner has, and forgets an owner who has nothing.
func (s *Store[V]) change(of *ownerValues, bytes int) {
	s.bytes += bytes
	of.bytes += bytes
	of.share = max(float64(of.recent.Len())/float64(s.maxCount), float64(of.bytes)/float64(s.maxBytes))
	if of.recent.Len() == 0 {
		heap.Remove(&s.order, of.place)
		delete(s.owners, of.owner)
		return
	}
	heap.Fix(&s.order, of.place)
}

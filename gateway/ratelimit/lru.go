package ratelimit

import (
	"container/list"
	"time"
)

// lru remembers a bounded number of values for a time after each was last put. It is not safe for concurrent use.
type lru[V any] struct {
	most  int
	keeps time.Duration
	of    map[string]*list.Element
	order *list.List // of entry[V], most recently put first
}

type entry[V any] struct {
	key   string
	value V
	at    time.Duration
}

func newLRU[V any](most int, keeps time.Duration) *lru[V] {
	return &lru[V]{most: most, keeps: keeps, of: map[string]*list.Element{}, order: list.New()}
}

func (l *lru[V]) get(key string, now time.Duration) (value V, ok bool) {
	e, ok := l.of[key]
	if !ok {
		return value, false
	}
	found := e.Value.(entry[V]) // the list holds nothing else
	if now-found.at > l.keeps {
		l.drop(e)
		return value, false
	}
	return found.value, true
}

func (l *lru[V]) put(key string, value V, now time.Duration) {
	if e, ok := l.of[key]; ok {
		l.drop(e)
	} else if len(l.of) >= l.most {
		l.drop(l.order.Back())
	}
	l.of[key] = l.order.PushFront(entry[V]{key, value, now})
}

func (l *lru[V]) drop(e *list.Element) {
	delete(l.of, l.order.Remove(e).(entry[V]).key)
}

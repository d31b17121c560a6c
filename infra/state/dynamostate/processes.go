package dynamostate

import (
	"context"
	"sync"
	"time"

	"github.com/airlock-run/airlock/infra/state/internal/share"
)

const processes = "processes"

func processKey(id string) key { return keyOf(processes, id) }

// A heartbeat shows other processes that this one is alive, and watches theirs.
type heartbeat struct {
	*table
	id        string // of this process
	now       func() time.Time
	deadAfter time.Duration
	lease     share.Lease
	stop      context.CancelFunc
	done      chan struct{}

	mu      sync.Mutex
	last    time.Time           // of the last success
	resumed time.Time           // of the last success after a gap
	seen    map[string]sighting // of other processes
}

// A sighting is what this process has seen of another.
type sighting struct {
	beat    string    // its last heartbeat; "" if it has none
	written time.Time // by the clock of its process
	since   time.Time // since when it is the same
}

const (
	// keepBeat is how long the table keeps a heartbeat.
	keepBeat = 24 * time.Hour
	// surely is the age, by the clock of its writer, at which a heartbeat is too old in any case. AWS accepts no
	// request whose clock is wrong by that much. A process that lives too shortly to see a heartbeat stay the same
	// needs it.
	surely = 15 * time.Minute
)

// register writes a heartbeat. If that fails, the sightings are void: others could not write theirs either.
func (h *heartbeat) register(ctx context.Context) error {
	it := processKey(h.id)
	sent := h.now()
	it["v"], it["expires"] = text(token()), number(sent.Add(keepBeat).Unix())
	err := h.set(ctx, it)
	now := h.now()
	if err == nil {
		h.lease.Renew(sent, now)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil || now.Before(h.last) {
		clear(h.seen)
	}
	if now.Sub(h.last) > h.deadAfter || now.Before(h.last) {
		h.resumed = now
	}
	if err == nil {
		h.last = now
	}
	return err
}

// hasResumed reports whether this process was suspended until recently. Others may have been, too.
func (h *heartbeat) hasResumed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now().Sub(h.resumed) < h.deadAfter/2
}

// awake writes a heartbeat unless the last one is recent: a process that claims something must count as alive. A
// process on Lambda is suspended between requests.
func (h *heartbeat) awake(ctx context.Context) error {
	h.mu.Lock()
	age := h.now().Sub(h.last)
	h.mu.Unlock()
	if age >= 0 && age <= h.deadAfter/2 {
		return nil
	}
	return h.register(ctx)
}

func (h *heartbeat) start() {
	ctx, cancel := context.WithCancel(context.Background())
	h.stop, h.done = cancel, make(chan struct{})
	go func() {
		defer close(h.done)
		tick := time.NewTicker(h.deadAfter / 4)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if h.register(ctx) == nil { // its failure is noted, and Ready reports it
				_ = h.look(ctx)
			}
		}
	}()
}

func (h *heartbeat) end() {
	h.stop()
	<-h.done
}

// look reads the heartbeats of all processes.
func (h *heartbeat) look(ctx context.Context) error {
	beats := map[string]item{}
	held := h.keeping()
	err := h.below(ctx, processes, "", looked, func(it item) (bool, error) {
		id := textOf(it["sk"])
		beats[id] = item{"v": it["v"], "expires": it["expires"]}
		return true, held.add(id, textOf(it["v"]))
	})
	if err != nil {
		return err
	}
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.seen {
		h.note(id, beats[id], now)
	}
	for id, it := range beats {
		h.note(id, it, now)
	}
	return nil
}

// note records a sighting. The caller holds the lock.
func (h *heartbeat) note(id string, it item, now time.Time) {
	const maxSeen = 10_000 // more than the number of gateways
	if len(h.seen) >= maxSeen {
		clear(h.seen)
	}
	beat := textOf(it["v"])
	if had, ok := h.seen[id]; !ok || had.beat != beat {
		h.seen[id] = sighting{beat, time.Unix(numberOf(it["expires"]), 0).Add(-keepBeat), now}
	}
}

// silence returns for how long a process has certainly written no heartbeat, and whether it has died.
func (g sighting) silence(now time.Time, deadAfter time.Duration) (silence time.Duration, died bool) {
	silence = now.Sub(g.since)
	if g.beat == "" {
		return silence, true
	}
	silence = max(silence, now.Sub(g.written)-surely)
	return silence, silence >= deadAfter
}

// silence returns for how long a process has certainly written no heartbeat, and whether it has died, according to the
// last look.
func (h *heartbeat) silence(id string) (silence time.Duration, died bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if _, ok := h.seen[id]; !ok {
		h.note(id, nil, now) // it has no heartbeat
	}
	return h.seen[id].silence(now, h.deadAfter)
}

// lives reports whether a process may be alive, for a reader that does not watch heartbeats regularly.
func (h *heartbeat) lives(ctx context.Context, id string) (bool, error) {
	if id == h.id {
		return true, nil
	}
	it, err := h.get(ctx, processKey(id))
	if err != nil {
		return false, err
	}
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note(id, it, now)
	_, died := h.seen[id].silence(now, h.deadAfter)
	return !died, nil
}

package s3records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/airlock-run/airlock/policy/audit"
)

// headPause is the time between two writes of heads while records are written all the time. The first record after a
// quieter time has its head at once.
const headPause = time.Second

// A headKeeper writes the objects that say how far each writer has come. It runs behind the records, one request at a
// time, always with the newest state, and pauses in between; only Close waits for it. The next head makes up for one
// that could not be written.
type headKeeper struct {
	store *Store
	wake  chan struct{}
	last  chan struct{} // closed by close
	done  chan struct{}

	mu      sync.Mutex
	pending map[string]note // by writer: this one's, and those it sends spooled records for
	runs    map[string][]run
	over    bool
}

// note is a stored head before its sum.
type note struct {
	audit.Head
	ID string `json:"id"`
	// Runs tell which part of the chain is filed under which day, so that a verification knows what lifecycle rules
	// removed.
	Runs []run `json:"runs,omitempty"`
}

// A run is records From to Seq of a chain, all of one day; Hash is that of the last.
type run struct {
	Day  string `json:"day"`
	From int64  `json:"from"`
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// maxRuns bounds a head; the oldest runs are dropped. Around midnight a chain has several per day.
const maxRuns = 2000

func keepHead(s *Store) *headKeeper {
	k := &headKeeper{store: s, wake: make(chan struct{}, 1), last: make(chan struct{}), done: make(chan struct{}),
		pending: map[string]note{},
		runs:    map[string][]run{}}
	go k.run()
	return k
}

// note notes that a record is in the bucket.
func (k *headKeeper) note(r audit.Sealed) {
	k.mu.Lock()
	w := r.Chain.Writer
	if runs := k.runs[w]; len(runs) == 0 || r.Chain.Seq > runs[len(runs)-1].Seq {
		k.runs[w] = extended(runs, run{r.Day, r.Chain.Seq, r.Chain.Seq, r.Chain.Hash})
		k.pending[w] = note{r.Head(), r.ID, slices.Clone(k.runs[w])}
	}
	k.mu.Unlock()
	k.poke()
}

// extended adds a record to runs, or runs to earlier ones.
func extended(runs []run, more ...run) []run {
	for _, r := range more {
		if n := len(runs); n > 0 && runs[n-1].Day == r.Day && runs[n-1].Seq == r.From-1 {
			runs[n-1].Seq, runs[n-1].Hash = r.Seq, r.Hash
			continue
		}
		runs = append(runs, r)
	}
	return runs[max(len(runs)-maxRuns, 0):]
}

// recalled adds the earlier runs from the head of another writer, whose spooled records this process sends.
func (k *headKeeper) recalled(n note) note {
	if len(n.Runs) == 0 || n.Runs[0].From == 1 {
		return n
	}
	doc, err := k.store.read(context.Background(), k.store.root(writers+n.Writer+suffix))
	if err != nil {
		return n // there is none, or this role may not read
	}
	old, err := readNote(doc, k.store.cfg.Key)
	if err != nil {
		return n
	}
	before := slices.DeleteFunc(old.Runs, func(r run) bool { return r.Seq >= n.Runs[0].From })
	n.Runs = extended(before, n.Runs...)
	return n
}

func (k *headKeeper) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *headKeeper) close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.over = true
	k.mu.Unlock()
	close(k.last)
	k.poke()
	<-k.done
}

func (k *headKeeper) run() {
	defer close(k.done)
	for range k.wake {
		k.mu.Lock()
		heads, over := k.pending, k.over
		k.pending = map[string]note{}
		k.mu.Unlock()
		for _, writer := range slices.Sorted(maps.Keys(heads)) {
			if err := k.write(heads[writer]); err != nil {
				k.store.cfg.Log.Warn("a writer's head was not written", "writer", writer, "error", err)
			}
		}
		if over {
			return
		}
		pause := time.NewTimer(headPause)
		select {
		case <-pause.C:
		case <-k.last:
			pause.Stop()
		}
	}
}

func (k *headKeeper) write(n note) error {
	doc, err := json.Marshal(k.recalled(n))
	if err != nil {
		return err
	}
	doc = audit.AppendSum(doc[:len(doc)-1], 0, k.store.cfg.Key)
	s := k.store
	in := &s3.PutObjectInput{
		Bucket: &s.cfg.Bucket, Key: aws.String(s.root(writers + n.Writer + suffix)), Body: bytes.NewReader(doc),
		ContentType: aws.String("application/json"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	}
	s.encrypt(in)
	_, err = s.client.PutObject(context.Background(), in)
	return err
}

// readNote checks and returns a head.
func readNote(doc, key []byte) (note, error) {
	var n note
	if err := audit.CheckSum(doc, key); err != nil {
		return n, err
	}
	if err := json.Unmarshal(doc, &n); err != nil {
		return n, fmt.Errorf("decode head: %w", err)
	}
	return n, nil
}

// tagging returns tags in the form of S3.
func tagging(tags map[string]string) string {
	v := url.Values{}
	for name, value := range tags {
		v.Set(name, value)
	}
	return v.Encode()
}

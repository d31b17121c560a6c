package s3records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/airlock-run/airlock/policy/audit"
)

// headKeeper writes the object that says how far a writer has come. It runs behind the records, one request at a time,
// always with the newest; nobody waits for it but Close. A head that was not written is made up for by the next.
type headKeeper struct {
	store *Store
	wake  chan struct{}
	done  chan struct{}

	mu      sync.Mutex
	pending map[string]note // by writer: this one's, and those it sends spooled records for
	over    bool
}

// note is a head as it is stored, before its sum.
type note struct {
	audit.Head
	ID string `json:"id"`
}

func keepHead(s *Store) *headKeeper {
	k := &headKeeper{store: s, wake: make(chan struct{}, 1), done: make(chan struct{}), pending: map[string]note{}}
	go k.run()
	return k
}

// note remembers that a record is in the bucket.
func (k *headKeeper) note(r audit.Sealed) {
	k.mu.Lock()
	if r.Chain.Seq > k.pending[r.Chain.Writer].Seq {
		k.pending[r.Chain.Writer] = note{r.Head(), r.ID}
	}
	k.mu.Unlock()
	k.poke()
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
		for _, writer := range sorted(heads) {
			if err := k.write(heads[writer]); err != nil {
				k.store.cfg.Log.Warn("a writer's head was not written", "writer", writer, "error", err)
			}
		}
		if over {
			return
		}
	}
}

func (k *headKeeper) write(n note) error {
	doc, err := json.Marshal(n)
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

// readNote proves a head that was read.
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

// tagging writes tags the way S3 takes them.
func tagging(tags map[string]string) string {
	v := url.Values{}
	for name, value := range tags {
		v.Set(name, value)
	}
	return v.Encode()
}

// sorted gives the keys of a map in order.
func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

package dynamostate

import (
	"errors"
	"reflect"

	"github.com/airlock-run/airlock/functions/execution"
)

var errEndless = errors.New("the answers of DynamoDB do not end, or have items that were not asked for")

const (
	// mostIdle is the number of pages without an item that an answer may have in a row.
	mostIdle = 1000
	// mostItems bounds one query. No list of a deployment comes near it.
	mostItems = 10_000_000
	// mostKept is the number of bytes of the keys that a query keeps in memory. A million jobs have less.
	mostKept = 128 << 20
	// mostHash and mostSort are the number of bytes that DynamoDB allows in the parts of a key.
	mostHash, mostSort = 2048, 1024
)

// within reports whether the parts of an item's key are as long as DynamoDB allows.
func within(it item) bool {
	return len(textOf(it["pk"])) <= mostHash && len(textOf(it["sk"])) <= mostSort
}

// kept counts the bytes of the keys that a query keeps in memory. A server may send more than was ever stored.
type kept struct{ bytes, most int }

func (t *table) keeping() *kept { return &kept{most: t.mostKept} }

// add counts another key, with what keeping it takes beside its bytes.
func (k *kept) add(parts ...string) error {
	k.bytes += 64
	for _, part := range parts {
		k.bytes += len(part)
	}
	if k.bytes > k.most {
		return &execution.StoreError{Fault: execution.StoreLost, Err: errEndless}
	}
	return nil
}

// pages follows the pages of an answer. A server could otherwise keep a caller busy forever.
type pages struct {
	last        key
	items, idle int
}

// next takes a page of so many items. It reports whether there is another page, which begins behind a key.
func (p *pages) next(items int, behind key) (bool, error) {
	if len(behind) == 0 {
		return false, nil
	}
	p.idle++
	if items > 0 {
		p.idle = 0
	}
	p.items += items
	if p.idle == mostIdle || p.items > mostItems || reflect.DeepEqual(behind, p.last) {
		return false, &execution.StoreError{Fault: execution.StoreLost, Err: errEndless}
	}
	p.last = behind
	return true, nil
}

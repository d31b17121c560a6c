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
	// mostItems bounds one query, whose items may stay in memory. No list of a deployment comes near it.
	mostItems = 10_000_000
)

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

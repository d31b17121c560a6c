package auditindex

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/airlock-run/airlock/policy/audit"
)

const (
	defaultLimit = 50
	maxLimit     = 500
)

// place is a record's position in the order of time, and the position of its line.
type place struct {
	time int64
	id   string
	day  string
	at   string // an offset, or the name of an object
}

// List returns records newest first, by the time they were received. Records that arrive meanwhile shift nothing. It
// skips lines that cannot be read any more. While the index is behind, the record store answers; its cursors stay
// valid to the end of that list.
func (x *Index) List(ctx context.Context, q audit.Query) (audit.Page, error) {
	from, ours := parseCursor(q.Cursor)
	if !ours {
		return x.Store.List(ctx, q)
	}
	if err := x.fresh(ctx); err != nil {
		if q.Cursor != "" || !errors.Is(err, audit.ErrBehind) {
			return audit.Page{}, err
		}
		return x.Store.List(ctx, q)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	places, err := x.places(ctx, q, from, limit+1)
	if err != nil {
		return audit.Page{}, fmt.Errorf("list records: %w", x.noted(err))
	}
	page := audit.Page{Items: []audit.Record{}}
	if len(places) > limit {
		places = places[:limit]
		page.Next = places[limit-1].cursor()
	}
	items, n, err := x.load(ctx, places)
	if err != nil {
		return audit.Page{}, err
	}
	page.Items = items
	if n < len(places) {
		page.Next = places[n-1].cursor()
	}
	return page, nil
}

// Threats returns the newest records of a query's tenant and time whose score is above 0, at most q.Limit (default
// 50, at most 500), without their content.
func (x *Index) Threats(ctx context.Context, q audit.Query) ([]audit.Record, error) {
	if err := x.fresh(ctx); err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	where, args := window(q, place{time: math.MaxInt64})
	if q.Tenant != "" {
		where += " AND tenant = (SELECT id FROM tenants WHERE name = ?)"
		args = append(args, q.Tenant)
	}
	index := "threats"
	if q.Tenant != "" {
		index = "threats_tenant"
	}
	places, err := x.find(ctx, index, where+" AND score > 0", args, min(limit, maxLimit))
	if err != nil {
		return nil, fmt.Errorf("list threats: %w", x.noted(err))
	}
	var threats []audit.Record
	for len(places) > 0 {
		records, n, err := x.load(ctx, places)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			threats = append(threats, r.WithoutContent())
		}
		places = places[n:]
	}
	return threats, nil
}

// places returns the first records after from. A list by tenant, function, status or policy is merged from the lists
// of all combinations of status and policy, each of which is ordered in an index: there are few.
func (x *Index) places(ctx context.Context, q audit.Query, from place, limit int) ([]place, error) {
	where, args := window(q, from)
	if q.Tenant == "" && q.Function == "" && q.Status == "" && q.Policy == "" {
		return x.find(ctx, "", where, args, limit)
	}
	classes, err := x.ids(ctx, "SELECT id FROM classes WHERE (?1 = '' OR status = ?1) AND (?2 = '' OR policy = ?2)",
		q.Status, q.Policy)
	if err != nil {
		return nil, err
	}
	if q.Function != "" {
		// Each tenant with a function of that name has its own list.
		functions, err := x.ids(ctx, "SELECT id FROM functions WHERE name = ?1 AND (?2 = '' OR tenant = (SELECT id FROM "+
			"tenants WHERE name = ?2))", q.Function, q.Tenant)
		if err != nil {
			return nil, err
		}
		var all []place
		for _, function := range functions {
			some, err := x.merge(ctx, "records_function", where+" AND function > 0 AND function = ?",
				append(slices.Clip(args), function), classes, limit)
			if err != nil {
				return nil, err
			}
			all = first(append(all, some...), limit)
		}
		return all, nil
	}
	if q.Tenant != "" {
		where += " AND tenant = (SELECT id FROM tenants WHERE name = ?)"
		return x.merge(ctx, "records_tenant", where, append(args, q.Tenant), classes, limit)
	}
	return x.merge(ctx, "records_class", where, args, classes, limit)
}

// merge returns the first records of some classes.
func (x *Index) merge(
	ctx context.Context, index, where string, args []any, classes []int64, limit int,
) (all []place, err error) {
	for _, class := range classes {
		some, err := x.find(ctx, index, where+" AND class = ?", append(slices.Clip(args), class), limit)
		if err != nil {
			return nil, err
		}
		all = first(append(all, some...), limit)
	}
	return all, nil
}

// first sorts places, newest first, and returns at most limit.
func first(all []place, limit int) []place {
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.time, a.time), strings.Compare(b.id, a.id))
	})
	return all[:min(len(all), limit)]
}

func (x *Index) ids(ctx context.Context, query string, args ...any) (_ []int64, err error) {
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, rows.Err()
}

// window returns the condition on the time of a record and on its place after from. It has one upper bound, the
// cursor's place or that of q.Until: with two, SQLite would start at the first and skip everything above the second.
func window(q audit.Query, from place) (string, []any) {
	if !q.Until.IsZero() && nanos(q.Until) <= from.time {
		from = place{time: nanos(q.Until)}
	}
	where, args := "(time, id) < (?, ?)", []any{from.time, from.id}
	if !q.Since.IsZero() {
		where, args = where+" AND time >= ?", append(args, nanos(q.Since))
	}
	return where, args
}

// nanos clamps a time to what the index can hold: the years 1678 to 2261.
func nanos(t time.Time) int64 {
	switch {
	case t.Year() < 1678:
		return math.MinInt64
	case t.Year() > 2261:
		return math.MaxInt64
	}
	return t.UnixNano()
}

// find returns places in order. index names the index to use, or "" for the order of the table: without statistics
// SQLite would guess.
func (x *Index) find(ctx context.Context, index, where string, args []any, limit int) (_ []place, err error) {
	hint := "NOT INDEXED"
	if index != "" {
		hint = "INDEXED BY " + index
	}
	rows, err := x.db.QueryContext(ctx,
		"SELECT time, id, (SELECT day FROM files WHERE files.id = file), at FROM records "+hint+" WHERE "+where+
			" ORDER BY time DESC, id DESC LIMIT ?", append(slices.Clip(args), limit)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []place
	for rows.Next() {
		var p place
		if err := rows.Scan(&p.time, &p.id, &p.day, &p.at); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// load reads the records at the first n places from the store: as many as audit.MaxPage allows, and at least one.
// Several goroutines decode them.
func (x *Index) load(ctx context.Context, places []place) (_ []audit.Record, n int, err error) {
	found, room := make(map[place][]byte, len(places)), audit.MaxPage
	for some := len(places); n < len(places); {
		some = min(some, len(places)-n)
		most := room
		if n == 0 && some == 1 {
			most = audit.MaxBytes
		}
		lines, size, err := x.read(ctx, places[n:n+some], most)
		if err == nil {
			maps.Copy(found, lines)
			n, room = n+some, room-size
			continue
		}
		full := errors.Is(err, errLarge)
		if full && some == 1 && n > 0 {
			break
		}
		if !full || some == 1 {
			return nil, 0, fmt.Errorf("read records: %w", err)
		}
		some = (some + 3) / 4
	}
	places = places[:n]
	records := make([]audit.Record, len(places))
	const share = 50
	var group errgroup.Group
	for start := 0; start < len(places); start += share {
		group.Go(func() error {
			for i, p := range places[start:min(start+share, len(places))] {
				if r, err := audit.Decode(found[p]); err == nil && r.ID == p.id {
					records[start+i] = r
				}
			}
			return nil
		})
	}
	_ = group.Wait() // none of them fails: a line that cannot be read is passed over
	return slices.DeleteFunc(records, func(r audit.Record) bool { return r.ID == "" }), n, nil
}

// errLarge is the error of reading more than there is room for.
var errLarge = errors.New("the records are too large")

// read returns the lines at places, and their size. It returns none if they are larger than room.
func (x *Index) read(ctx context.Context, places []place, room int) (_ map[place][]byte, size int, err error) {
	lines := make(map[place][]byte, len(places))
	err = x.feed.lines(ctx, places, func(at place, line []byte) error {
		if size += len(line); size > room {
			return errLarge
		}
		lines[at] = bytes.Clone(line)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return lines, size, nil
}

// ownMark is the prefix of an index's cursors. No store's cursor has it.
const ownMark = "i."

type position struct {
	Time int64  `json:"t"`
	ID   string `json:"i"`
}

func (p place) cursor() string {
	doc, _ := json.Marshal(position{p.time, p.id}) // a number and a string always encode
	return ownMark + base64.RawURLEncoding.EncodeToString(doc)
}

// parseCursor returns the place of an index's cursor; ours reports whether it is one.
func parseCursor(text string) (_ place, ours bool) {
	if text == "" {
		return place{time: math.MaxInt64}, true
	}
	text, ours = strings.CutPrefix(text, ownMark)
	if !ours {
		return place{}, false
	}
	doc, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return place{}, false
	}
	var p position
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	if dec.Decode(&p) != nil || !audit.ValidID(p.ID) {
		return place{}, false
	}
	return place{time: p.Time, id: p.ID}, true
}

package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// MaxBytes bounds one stored record, including the end of its line.
const MaxBytes = 32 << 20

// ErrAltered is returned for a line whose bytes are not those that were hashed.
var ErrAltered = errors.New("the record does not match its hash")

// A Head is the newest record of one writer. A zero Seq means that the writer has no record yet.
type Head struct {
	Writer string `json:"writer"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
	// ID is the id of the record, if it is known.
	ID string `json:"-"`
}

// A Sealed record is one as it is stored.
type Sealed struct {
	ID string
	// Day is the day that it is filed under: see [Day]. Time is the record's.
	Day   string
	Time  time.Time
	Chain Chain
	// Line holds the stored bytes, which end in one \n.
	Line []byte
}

// Head returns what the writer's next record is chained to.
func (s Sealed) Head() Head {
	return Head{Writer: s.Chain.Writer, Seq: s.Chain.Seq, Hash: s.Chain.Hash, ID: s.ID}
}

const (
	openTail = `,"hash":""}}`
	hashMark = `,"hash":"`
	macMark  = `","mac":"`
	lineEnd  = "\"}}\n"
	hexSize  = 2 * sha256.Size
)

// Seal returns the line of the record that follows last. With a key the line also carries its HMAC. Seal refuses an id
// that is not [ValidID], JSON members that are not JSON, and a record of more than [MaxBytes]. A record that is larger
// only because of its code and its request is sealed without them, and says so: the execution has happened, and its
// caller must not be able to keep it out of the records by what it sends.
func Seal(r Record, last Head, key []byte) (Sealed, error) {
	s, size, err := seal(r, last, key)
	if size <= MaxBytes || len(r.Code)+len(r.Request) == 0 {
		return s, err
	}
	r.Code, r.Request = "", nil
	r.Reasons = append(slices.Clone(r.Reasons),
		fmt.Sprintf("the code and the request are not stored: with them the record has %d bytes", size))
	s, _, err = seal(r, last, key)
	return s, err
}

// seal returns a line, and its size if it could be made.
func seal(r Record, last Head, key []byte) (s Sealed, size int, err error) {
	if !ValidID(r.ID) {
		return Sealed{}, 0, fmt.Errorf("record id %.40q: 1 to %d letters, digits, - and _ are accepted", r.ID, maxIDBytes)
	}
	r.Time = r.Time.UTC()
	r.Chain = Chain{Writer: last.Writer, Seq: last.Seq + 1, Prev: last.Hash, PrevID: last.ID}
	doc, err := Encode(r)
	if err != nil {
		return Sealed{}, 0, fmt.Errorf("encode record %s: %w", r.ID, err)
	}
	content, ok := bytes.CutSuffix(doc, []byte(openTail))
	if !ok {
		return Sealed{}, 0, fmt.Errorf("encode record %s: chain is not its last member", r.ID)
	}
	sum := sha256.Sum256(content)
	r.Chain.Hash = hex.EncodeToString(sum[:])
	line := append(content, hashMark...)
	if len(key) > 0 {
		r.Chain.MAC = mac(content[:len(content):len(content)], key)
		line = append(append(line, r.Chain.Hash...), macMark...)
		line = append(line, r.Chain.MAC...)
	} else {
		line = append(line, r.Chain.Hash...)
	}
	line = append(line, lineEnd...)
	if len(line) > MaxBytes {
		err = fmt.Errorf("record %s: %d bytes, at most %d are stored", r.ID, len(line), MaxBytes)
		return Sealed{}, len(line), err
	}
	return Sealed{ID: r.ID, Day: Day(r.ID, r.Time), Time: r.Time, Chain: r.Chain, Line: line}, len(line), nil
}

// Encode encodes a value as encoding/json does, but in one pass, and without writing <, > and & with six characters. It
// is for records and other values that may hold megabytes of what callers sent.
func Encode(v any) ([]byte, error) {
	return jsonv2.Marshal(v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))
}

// Unseal parses the outline of a stored line and verifies its hash and, given a key, its HMAC. With ErrAltered it still
// returns what the line claims, as far as it can be parsed. The final \n may be absent.
func Unseal(line, key []byte) (Sealed, error) { return unseal(line, cut(line).short, key) }

// unseal parses the outline in a line without its long members.
func unseal(line, short, key []byte) (Sealed, error) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	var claim struct {
		ID    string    `json:"id"`
		Time  time.Time `json:"time"`
		Chain Chain     `json:"chain"`
	}
	err := json.Unmarshal(short, &claim)
	s := Sealed{ID: claim.ID, Day: Day(claim.ID, claim.Time), Time: claim.Time, Chain: claim.Chain, Line: line}
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrAltered, err)
	}
	content, hash, code, ok := split(line)
	if !ok || claim.Chain.Hash != hash || claim.Chain.MAC != code {
		return s, fmt.Errorf("%w: it does not end with its chain", ErrAltered)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != hash {
		return s, ErrAltered
	}
	if len(key) > 0 && !hmac.Equal([]byte(mac(content, key)), []byte(code)) {
		return s, fmt.Errorf("%w: its mac was not made with this key", ErrAltered)
	}
	return s, nil
}

// Decode parses a stored line as a Record without verifying it. Of a long request and a long journal it checks no more
// than where they end.
func Decode(line []byte) (Record, error) { return cut(line).decode() }

func decode(line []byte) (Record, error) {
	var r Record
	err := jsonv2.Unmarshal(line, &r, jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))
	if err != nil {
		return Record{}, fmt.Errorf("decode record: %w", err)
	}
	return r, nil
}

// split splits a line at the end of its chain into what is hashed, the hash, and the mac or "".
func split(line []byte) (content []byte, hash, code string, ok bool) {
	tail, ok := bytes.CutSuffix(line, []byte(`"}}`))
	if !ok || len(tail) < len(hashMark)+hexSize {
		return nil, "", "", false
	}
	last := string(tail[len(tail)-hexSize:])
	front := tail[:len(tail)-hexSize]
	if c, ok := bytes.CutSuffix(front, []byte(hashMark)); ok {
		return c, last, "", true
	}
	front, ok = bytes.CutSuffix(front, []byte(macMark))
	if !ok || len(front) < len(hashMark)+hexSize {
		return nil, "", "", false
	}
	hash = string(front[len(front)-hexSize:])
	c, ok := bytes.CutSuffix(front[:len(front)-hexSize], []byte(hashMark))
	return c, hash, last, ok
}

func mac(content, key []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

package governance

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
)

// A paused execution keeps what it was granted, in front of the snapshot of its guest: the text grantsMagic, the length
// of the grants as an unsigned varint, the grants as JSON, and the snapshot. They are encrypted together. A snapshot of
// an earlier release has no grants.
const grantsMagic = "airlock grants 1\n"

// keptGrants are grants in JSON that loses nothing but Waits.MaxAge. That of [policy.Grants] rounds durations.
type keptGrants policy.Grants

// WithGrants returns the snapshot of a segment with its grants.
func WithGrants(snapshot []byte, g policy.Grants) []byte {
	text, err := json.Marshal(keptGrants(g))
	if err != nil {
		panic(err) // the type has no value that cannot be encoded
	}
	out := make([]byte, 0, len(grantsMagic)+binary.MaxVarintLen64+len(text)+len(snapshot))
	out = binary.AppendUvarint(append(out, grantsMagic...), uint64(len(text)))
	return append(append(out, text...), snapshot...)
}

// takeGrants returns a snapshot without its grants. ok is false if it has none.
func takeGrants(kept []byte) (snapshot []byte, g policy.Grants, ok bool, err error) {
	rest, ok := bytes.CutPrefix(kept, []byte(grantsMagic))
	if !ok {
		return kept, g, false, nil
	}
	size, n := binary.Uvarint(rest)
	if n <= 0 || size > uint64(len(rest)-n) {
		return nil, g, false, errors.New("the grants of a paused execution are damaged")
	}
	text := rest[n:]
	var then keptGrants
	if err := json.Unmarshal(text[:size], &then); err != nil {
		return nil, g, false, errors.New("the grants of a paused execution are damaged")
	}
	return text[size:], policy.Grants(then), true, nil
}

// Narrowed returns what a segment that continues with r is granted, of what the policy grants now: no more than the
// segment before it had. It also returns the snapshot without those grants.
func Narrowed(now policy.Grants, r *execution.Resume) (policy.Grants, []byte, error) {
	if r == nil || len(r.Snapshot) == 0 {
		return now, nil, nil
	}
	snapshot, then, ok, err := takeGrants(r.Snapshot)
	if err != nil {
		return policy.Grants{}, nil, err
	}
	if ok {
		now = policy.Narrow(now, then)
	}
	return now, snapshot, nil
}

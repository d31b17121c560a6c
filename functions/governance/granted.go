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
	text := EncodeGrants(g)
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

// EncodeGrants returns grants in JSON that loses nothing but Waits.MaxAge.
func EncodeGrants(g policy.Grants) json.RawMessage { return Encode(keptGrants(g)) }

// Narrowed returns what an execution is granted of what the policy grants now: a segment that continues one has no more
// than the segment before it, and a step has no more than its session at its beginning. It also returns the snapshot of
// the segment without those grants.
func Narrowed(now policy.Grants, of execution.Segments) (g policy.Grants, snapshot []byte, err error) {
	if step := of.Session; step != nil && len(step.Granted) > 0 {
		var then keptGrants
		if err := json.Unmarshal(step.Granted, &then); err != nil {
			return g, nil, errors.New("the grants of a session are damaged")
		}
		return policy.Narrow(now, policy.Grants(then)), nil, nil
	}
	if of.Resume == nil || len(of.Resume.Snapshot) == 0 {
		return now, nil, nil
	}
	snapshot, then, ok, err := takeGrants(of.Resume.Snapshot)
	if err != nil {
		return g, nil, err
	}
	if ok {
		now = policy.Narrow(now, then)
	}
	return now, snapshot, nil
}

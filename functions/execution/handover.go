package execution

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// A Handover replaces an [Invocation] that is too large for its transport. The invocation's JSON lies in a store that
// the gateway and the function share, and the function receives {"airlock": 1, "handover": {…}}.
//
// A forged handover gains nothing: it names its bytes by their hash and not by a location, so anybody who can name them
// already has them.
type Handover struct {
	// ID is the ID of the execution.
	ID string `json:"id"`
	// SHA256 is the hash of the bytes in 64 lower-case hexadecimal digits; Bytes is their number.
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// NewHandover returns the handover of an invocation's JSON.
func NewHandover(id string, payload []byte) Handover {
	sum := sha256.Sum256(payload)
	return Handover{ID: id, SHA256: hex.EncodeToString(sum[:]), Bytes: len(payload)}
}

type wireHandover struct {
	Airlock  int      `json:"airlock"`
	Handover Handover `json:"handover"`
}

// Payload returns the payload that the function receives.
func (h Handover) Payload() []byte {
	return fmt.Appendf(nil, `{"airlock":%d,"handover":{"id":%q,"sha256":%q,"bytes":%d}}`, InvocationVersion, h.ID,
		h.SHA256, h.Bytes)
}

// Is reports whether payload has the bytes that h names.
func (h Handover) Is(payload []byte) bool { return h == NewHandover(h.ID, payload) }

// DecodeHandover reads the payload of a function. is reports whether it is a handover. If it is an invalid one, the
// error is an *[Error] with code [InvalidRequest].
func DecodeHandover(b []byte) (h Handover, is bool, err error) {
	if len(b) > 1024 || !hasMember(b, "airlock") || !hasMember(b, "handover") {
		return Handover{}, false, nil
	}
	var w wireHandover
	duplicates, err := precheck(b)
	if err != nil {
		return Handover{}, true, err
	}
	if err := decodeStrict(b, &w, duplicates); err != nil {
		return Handover{}, true, invalid("handover", "must be {id, sha256, bytes} and the only member besides airlock")
	}
	h = w.Handover
	switch sum, bad := hex.DecodeString(h.SHA256); {
	case w.Airlock != InvocationVersion:
		return Handover{}, true, invalid("airlock", "must be %d, the version of the envelope this build understands; got %d",
			InvocationVersion, w.Airlock)
	case !ValidID(h.ID):
		return Handover{}, true, invalid("handover.id", `must be "exec_" and 10 to 64 letters or digits`)
	case bad != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != h.SHA256:
		return Handover{}, true, invalid("handover.sha256", "must be 64 lower-case hexadecimal digits")
	case h.Bytes < 1 || h.Bytes > MaxInvocationBytes:
		return Handover{}, true, invalid("handover.bytes", "must be a number from 1 to %d", MaxInvocationBytes)
	}
	return h, true, nil
}

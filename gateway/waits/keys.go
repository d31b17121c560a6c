package waits

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
)

// ErrSealed reports a snapshot that was changed, or that belongs to another execution, segment, engine or request.
var ErrSealed = errors.New("the snapshot is not the one that was stored for this execution")

// ErrNoKey reports a snapshot whose key this gateway does not have. The snapshot opens when the key is back.
var ErrNoKey = errors.New("this gateway does not have the key of the snapshot: add it to SNAPSHOT_KEYS")

// A sealed snapshot is
//
//	magic    4 bytes: "ALS2"; snapshots of older versions begin with "ALS1", and the hash in their binding is another
//	key ID   1 byte of length, then the ID
//	nonce    12 bytes
//	body     AES-256-GCM of the snapshot, with a key derived for the tenant
//
// The additional data are the magic and the key ID, and what the snapshot is bound to, each with its length.
const (
	magic    = "ALS2"
	magicOld = "ALS1"
)

const (
	keyBytes   = 32
	maxKeyName = 32
)

// Keys encrypts and authenticates snapshots. It is safe for concurrent use.
type Keys struct {
	first string
	keys  map[string][]byte
}

// unnamed is the name of a key that has none.
const unnamed = "0"

// ParseKeys reads "id:base64,id:base64": names and keys of 32 bytes. The first key encrypts, all of them decrypt. The
// name and the padding of the base64 are optional, because generators of passwords write neither.
func ParseKeys(text string) (*Keys, error) {
	k := &Keys{keys: map[string][]byte{}}
	for entry := range strings.SplitSeq(text, ",") {
		name, encoded, ok := strings.Cut(strings.TrimSpace(entry), ":")
		if !ok {
			name, encoded = unnamed, name
		}
		key, err := base64.RawStdEncoding.DecodeString(strings.TrimSuffix(encoded, "="))
		if name == "" || len(name) > maxKeyName || err != nil || len(key) != keyBytes {
			return nil, errors.New("must be NAME:KEY, or a comma-separated list of them: a name of at most 32 bytes and " +
				"base64 of 32 random bytes; `echo \"k1:$(openssl rand -base64 32)\"` makes one")
		}
		if k.keys[name] != nil {
			return nil, fmt.Errorf("has two keys named %q", name)
		}
		if k.first == "" {
			k.first = name
		}
		k.keys[name] = key
	}
	return k, nil
}

// NewKey returns a key with a name, as ParseKeys reads it.
func NewKey(name string) string {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return name + ":" + base64.StdEncoding.EncodeToString(key)
}

// Seal encrypts the snapshot of a job and binds it to the job as Park left it.
func (k *Keys) Seal(j execution.Job, snapshot []byte) ([]byte, error) {
	head := append([]byte(magic), byte(len(k.first)))
	head = append(head, k.first...)
	box, err := k.box(k.first, j.Tenant)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	bound, err := binding(head, j, j.Wait.Segment)
	if err != nil {
		return nil, err
	}
	out := append(head[:len(head):len(head)], nonce...)
	return box.Seal(out, nonce, snapshot, bound), nil
}

// Has returns ErrNoKey if the key of the snapshot of a paused job is not configured, and ErrSealed if the snapshot
// names none. It reads nothing else of the snapshot. The error is ErrApart if it needs the snapshot, and the job was
// read without it.
func (k *Keys) Has(j execution.Job) error {
	if name := j.Wait.Key; name != "" {
		return k.has(name)
	}
	if err := isHere(&j); err != nil {
		return err
	}
	_, _, err := k.keyOf(j.Snapshot)
	return err
}

func (k *Keys) has(name string) error {
	if k.keys[name] == nil {
		return fmt.Errorf("%w (its name is %q)", ErrNoKey, name)
	}
	return nil
}

// headOf returns the magic and the key ID of a snapshot.
func headOf(sealed []byte) (head []byte, ok bool) {
	if len(sealed) < len(magic)+1 || string(sealed[:len(magic)]) != magic && string(sealed[:len(magic)]) != magicOld {
		return nil, false
	}
	end := len(magic) + 1 + int(sealed[len(magic)])
	if len(sealed) < end {
		return nil, false
	}
	return sealed[:end:end], true
}

// keyOf returns the magic and the key ID of a snapshot, and the name of its key, which is configured.
func (k *Keys) keyOf(sealed []byte) (head []byte, name string, err error) {
	head, ok := headOf(sealed)
	if !ok {
		return nil, "", ErrSealed
	}
	name = string(head[len(magic)+1:])
	return head, name, k.has(name)
}

// Open decrypts the snapshot that the queued segment of a job continues from. The error is ErrSealed if it is another,
// and ErrNoKey if its key is not configured. Answers may follow it.
func (k *Keys) Open(j execution.Job, sealed []byte) ([]byte, error) {
	if n := j.Wait.Sealed; n > len(sealed) {
		return nil, ErrSealed
	} else if n > 0 {
		sealed = sealed[:n]
	}
	return k.open(j, sealed, j.Wait.Segment-1)
}

// OpenStep decrypts the snapshot of a session after a step. The error is ErrSealed if it is not that, and ErrNoKey if
// its key is not configured.
func (k *Keys) OpenStep(j execution.Job, sealed []byte, step int) ([]byte, error) {
	return k.open(j, sealed, step)
}

// open decrypts a snapshot that a segment of a job made.
func (k *Keys) open(j execution.Job, sealed []byte, segment int) ([]byte, error) {
	head, name, err := k.keyOf(sealed)
	if err != nil {
		return nil, err
	}
	box, err := k.box(name, j.Tenant)
	if err != nil {
		return nil, err
	}
	end := len(head)
	if len(sealed) < end+box.NonceSize() {
		return nil, ErrSealed
	}
	bound, err := binding(head, j, segment)
	if err != nil {
		return nil, err
	}
	plain, err := box.Open(nil, sealed[end:end+box.NonceSize()], sealed[end+box.NonceSize():], bound)
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// box returns the cipher of a tenant.
func (k *Keys) box(name, tenant string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, k.keys[name], nil, "airlock snapshot\x00"+tenant, keyBytes)
	if err != nil {
		return nil, fmt.Errorf("derive the key of a tenant: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("derive the key of a tenant: %w", err)
	}
	return cipher.NewGCM(block)
}

// binding returns the additional data of a snapshot that a segment of a job made: its tenant, ID, segment, engine build
// and tier, and the hash of its request.
func binding(head []byte, j execution.Job, segment int) ([]byte, error) {
	sum, err := requestSum(j.Request, string(head[:len(magic)]))
	if err != nil {
		return nil, fmt.Errorf("encode the request of a paused execution: %w", err)
	}
	out := append([]byte(nil), head...)
	for _, part := range [][]byte{
		[]byte(j.Tenant), []byte(j.Subject), []byte(j.ID), binary.BigEndian.AppendUint64(nil, uint64(segment)),
		[]byte(j.Wait.EngineBuild), []byte(j.Wait.Tier), sum[:],
	} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(part)))
		out = append(out, part...)
	}
	return out, nil
}

// requestSum returns the hash of a request as it is stored: of what takes no further scan of its input and its sources.
// If execution.Stored changes, the magic must change, too.
func requestSum(r execution.Request, magic string) (sum [sha256.Size]byte, err error) {
	if magic == magicOld {
		r, sources := r.Condensed("")
		text, err := json.Marshal(r)
		return sha256.Sum256(append(text, sources...)), err
	}
	parts, err := r.Stored()
	h := sha256.New()
	for _, part := range parts {
		h.Write(part)
	}
	return [sha256.Size]byte(h.Sum(nil)), err
}

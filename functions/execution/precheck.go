package execution

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/airlock-run/airlock/policy/depth"
)

// precheck scans the bytes once, before anything is decoded, and reports whether an object may have a duplicate name.
// It finds every duplicate in valid JSON, so later steps need not check, which would cost ten times this pass.
func precheck(b []byte) (duplicates bool, err error) { return precheckUpTo(b, MaxRequestBytes) }

// precheckUpTo scans like precheck, and accepts at most so many bytes.
func precheckUpTo(b []byte, most int) (duplicates bool, err error) {
	return precheckAny(b, most, maxMembers)
}

// precheckAny scans like precheck, and accepts at most so many bytes, and members of the outermost object. With 0, it
// accepts any number of members, and of entries in them: the text is no request.
func precheckAny(b []byte, most, members int) (duplicates bool, err error) {
	switch {
	case len(b) == 0:
		return false, invalid("", "the body is empty; send a JSON object with the member code")
	case len(b) > most:
		return false, tooLong(len(b), most)
	case !validUTF8(b):
		return false, invalid("", "the body is not valid UTF-8 (byte %d)", firstInvalid(b))
	}
	s := shape{b: b, names: newMemberNames(), mostMembers: members}
	return s.walk()
}

func tooLong(size, most int) *Error {
	return &Error{Code: TooLarge, Message: fmt.Sprintf("the request has %d bytes; at most %d are accepted", size, most)}
}

// shape is the state of precheck.
type shape struct {
	b     []byte
	depth int
	// objects holds, for each depth, the number of the object there, or 0 for an array.
	objects [MaxDepth + envelopeDepth + 1]uint32
	serial  uint32
	names   memberNames
	// most is the number of entries that the current member of the outermost object may have; 0 means any number.
	most, entries int
	member        string
	// members counts those of the outermost object, which may have mostMembers; 0 means any number, also of entries.
	members, mostMembers int
}

// maxMembers is how many members the outermost object of a request, or of its files, may have: few enough that a body
// of names alone is refused before they are compared.
const maxMembers = MaxFiles

const tooManyMembers = "the object has more than %d members; what is accepted here has far fewer"

func (s *shape) walk() (duplicates bool, err error) {
	for i := 0; i < len(s.b); i++ {
		switch s.b[i] {
		case '"':
			end := stringEnd(s.b, i)
			if s.objects[s.depth] > 0 && namesMember(s.b, end) {
				duplicates = s.names.add(s.b[i:end], s.objects[s.depth]) || duplicates
				if s.depth == 1 {
					if err := s.enter(plainName(s.b[i:end])); err != nil {
						return false, err
					}
				}
			}
			i = end - 1
		case '{', '[':
			if s.depth++; s.depth > MaxDepth+envelopeDepth {
				// Only a value inside the envelope can be deeper than MaxDepth here.
				return false, tooDeep(depth.Over(s.b, "", MaxDepth+envelopeDepth), MaxDepth)
			}
			s.objects[s.depth] = 0
			if s.b[i] == '{' {
				s.serial++
				s.objects[s.depth] = s.serial
			}
		case '}', ']':
			s.depth = max(s.depth-1, 0)
		case ',':
			if s.depth != 2 || s.most == 0 {
				break
			}
			if s.entries++; s.entries > s.most {
				return false, invalid(s.member, "has more than %d entries; at most %d are accepted", s.most, s.most)
			}
		}
	}
	return duplicates, nil
}

// enter begins a member of the outermost object.
func (s *shape) enter(member string) error {
	if s.mostMembers == 0 {
		return nil
	}
	if s.members++; s.members > s.mostMembers {
		return invalid("", tooManyMembers, s.mostMembers)
	}
	s.member = member
	s.most, s.entries = mostEntries(member), 1
	return nil
}

// mostEntries returns how many entries a member of a request may have; 0 means any number.
func mostEntries(member string) int {
	switch member {
	case "context":
		return MaxContext
	case "args":
		return MaxArgs
	case "tools":
		return MaxTools
	case "files":
		return MaxFiles
	case "hosts":
		return MaxHosts
	case "secrets":
		return MaxSecrets
	}
	return 0
}

// stringEnd returns the offset behind the string that begins at an offset.
func stringEnd(b []byte, start int) int {
	for i := start + 1; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		escaped := false
		for j := i + n - 1; j > start && b[j] == '\\'; j-- {
			escaped = !escaped
		}
		if i += n + 1; !escaped {
			return i
		}
		// Where there is one escape there may be many, each of which costs a search more than a step.
		for plain := 0; plain < 16 && i < len(b); i++ {
			if plain++; b[i] == '"' {
				return i + 1
			} else if b[i] == '\\' {
				i, plain = i+1, 0
			}
		}
	}
	return len(b)
}

// namesMember reports whether a colon follows.
func namesMember(b []byte, at int) bool {
	for ; at < len(b); at++ {
		switch b[at] {
		case ' ', '\t', '\r', '\n':
		default:
			return b[at] == ':'
		}
	}
	return false
}

// plainName returns the name that a JSON string stands for, or "" if it is longer than every known name.
func plainName(quoted []byte) string {
	if len(quoted) > 128 {
		return ""
	}
	plain, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return ""
	}
	return string(plain)
}

// memberNames holds the hashes of the names of all objects of a body in a growing table, at a sixteenth of the cost of
// a map. Two names with the same hash are taken for duplicates, which the callers confirm. The seed is random, so a
// body cannot be made to have many.
type memberNames struct {
	seed  maphash.Seed
	slots []uint64 // 0 means none
	n     int
}

func newMemberNames() memberNames {
	return memberNames{seed: maphash.MakeSeed(), slots: make([]uint64, 64)}
}

// add reports whether the object may already have the name, which is a JSON string.
func (m *memberNames) add(name []byte, object uint32) bool {
	if 2*m.n >= len(m.slots) {
		old := m.slots
		m.slots = make([]uint64, 2*len(old))
		for _, hash := range old {
			if hash != 0 {
				at, _ := m.find(hash)
				m.slots[at] = hash
			}
		}
	}
	hash := max(maphash.Bytes(m.seed, unescaped(name))+uint64(object)*0x9e3779b97f4a7c15, 1)
	at, found := m.find(hash)
	if !found {
		m.slots[at] = hash
		m.n++
	}
	return found
}

// find returns the slot of a hash, or the one that it would take.
func (m *memberNames) find(hash uint64) (at uint64, found bool) {
	mask := uint64(len(m.slots) - 1)
	for at = hash & mask; m.slots[at] != 0; at = (at + 1) & mask {
		if m.slots[at] == hash {
			return at, true
		}
	}
	return at, false
}

// unescaped returns the text of a JSON string, or the argument if it is not one.
func unescaped(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted
	}
	plain, err := jsontext.AppendUnquote([]byte{'"'}, quoted)
	if err != nil {
		return quoted
	}
	return append(plain, '"')
}

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

package execution

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Member is one member of a JSON object: its name, and its value as it was written. Both alias the object.
type Member struct {
	Name  string
	Value stdjson.RawMessage
}

// Members returns the members of a JSON object in their order. It refuses what [DecodeRequest] refuses of an object:
// duplicate names, deep nesting, invalid JSON. Values may still hold numbers or strings that DecodeRequest refuses.
func Members(b []byte) ([]Member, error) {
	duplicates, err := precheck(b)
	if err != nil {
		return nil, err
	}
	return membersOf(b, abridge(b, true, anyText), duplicates)
}

// SplitMembers returns the members of a JSON object as [Members] does. It leaves the check of long strings to the
// decoder of the members.
func SplitMembers(b []byte) ([]Member, error) {
	if len(b) > MaxRequestBytes {
		return nil, tooLong(len(b), MaxRequestBytes)
	}
	a := Abridge(b)
	duplicates, err := precheck(a.Short)
	if err != nil {
		return nil, err
	}
	return membersOf(b, a, duplicates)
}

// Loose is a JSON object of another service's API, whose long strings of some members are decoded apart. Text decodes
// them.
type Loose struct{ a Abridged }

// A Text is a string in an object that a [Loose] decodes, in UTF-8. It may be part of the whole text, so it must not be
// changed.
type Text []byte

// DecodeLoose refuses what [Members] refuses. Text decodes the strings of 4 KiB and more for which long returns true,
// by the member of the outermost object and the depth. Short has stand-ins for them.
func DecodeLoose(b []byte, long func(member string, depth int) bool) (Loose, error) {
	duplicates, err := precheck(b)
	if err != nil {
		return Loose{}, err
	}
	l := Loose{abridge(b, true, long)}
	_, err = membersOf(b, l.a, duplicates)
	return l, err
}

// Short returns the object with stand-ins in place of the long strings.
func (l Loose) Short() []byte { return l.a.Short }

// Texts decodes the object into v, whose fields of type Text hold the whole strings. It ignores members that v does not
// have.
func (l Loose) Texts(v any) error {
	return json.Unmarshal(l.a.Short, v, jsontext.AllowDuplicateNames(true), json.WithUnmarshalers(json.UnmarshalFromFunc(
		func(dec *jsontext.Decoder, t *Text) error {
			v, err := dec.ReadValue()
			if err != nil || v.Kind() == 'n' {
				return err
			}
			if long, ok := l.a.within(dec.InputOffset()-int64(len(v)), dec.InputOffset()); ok && v.Kind() == '"' {
				*t = long.plain
				return nil
			}
			*t, err = jsontext.AppendUnquote(nil, v)
			return err
		})))
}

// membersOf returns the members of an abridged object.
func membersOf(b []byte, a Abridged, duplicates bool) ([]Member, error) {
	var object map[string]jsontext.Value
	if duplicates {
		if err := a.decodeStrict(&object, true, nil); err != nil {
			return nil, err
		}
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(a.Short), jsontext.AllowDuplicateNames(true))
	if kind := dec.PeekKind(); kind != '{' {
		if err := a.decodeStrict(&object, false, nil); err != nil {
			return nil, err
		}
		return nil, invalid("", "the body must be a JSON object; got null")
	}
	members, err := readMembers(dec, a, b)
	if err != nil {
		return nil, cmp.Or(a.decodeStrict(&object, false, nil), error(invalid("", "the body is not valid JSON")))
	}
	return members, nil
}

// ValidJSON reports whether text is a JSON value without duplicate names that nests no deeper than a request may.
func ValidJSON(text []byte) bool {
	if !hasUniqueNames(text) {
		return false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	if err := dec.SkipValue(); err != nil {
		return false
	}
	_, err := dec.ReadToken()
	return errors.Is(err, io.EOF)
}

// hasUniqueNames reports whether a text that is JSON has no duplicate names, and nests no deeper than a request may. It
// compares hashes of 64 bits, and if two are the same, hashes of other 64 bits.
func hasUniqueNames(text []byte) bool {
	for range 2 {
		duplicates, err := precheckAny(text, MaxRequestBytes, 0)
		if err != nil {
			return false
		}
		if !duplicates {
			return true
		}
	}
	return false
}

// HasMore reports whether text is a JSON array of more than most values. It reads no further than it has to.
func HasMore(text []byte, most int) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '[' {
		return false
	}
	for range most + 1 {
		if dec.PeekKind() == ']' || dec.SkipValue() != nil {
			return false
		}
	}
	return true
}

// CompactJSON returns the value that a text holds, without white space outside of strings. ok is false if ValidJSON
// would be.
func CompactJSON(text []byte) (value []byte, ok bool) {
	if !hasUniqueNames(text) {
		return nil, false
	}
	return compact(text)
}

// CompactMember does what CompactJSON does with a value in an object whose members [Members] has returned. Its names
// are not compared again.
func CompactMember(text []byte) (value []byte, ok bool) { return compact(text) }

func compact(text []byte) (value []byte, ok bool) {
	value, err := jsontext.AppendFormat(make([]byte, 0, len(text)), text, jsontext.AllowDuplicateNames(true),
		jsontext.PreserveRawStrings(true))
	return value, err == nil
}

func readMembers(dec *jsontext.Decoder, a Abridged, b []byte) (members []Member, err error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		m := Member{Name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		from, end := a.Original(int(dec.InputOffset())-len(value)), a.Original(int(dec.InputOffset()))
		m.Value = b[from:end:end]
		if len(members) == cap(members) {
			members = slices.Grow(members, len(members)+1) // append copies long lists four times as often
		}
		members = append(members, m)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the body has data after its JSON value")
	}
	return members, nil
}

// JoinMembers writes a JSON object.
func JoinMembers(members []Member) []byte {
	size := 2
	for _, m := range members {
		size += len(m.Name) + len(m.Value) + 4
	}
	out := append(make([]byte, 0, size), '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := jsontext.AppendQuote(out, m.Name)
		if err != nil {
			continue // names that were read are valid UTF-8
		}
		out = append(append(name, ':'), m.Value...)
	}
	return append(out, '}')
}

// TakeMembers removes the named members from a JSON object, for requests that extend a [Request]. It returns the rest
// for [DecodeRequest] and the members that were present. An explicit null counts as absent. It is as strict as
// [SplitMembers].
func TakeMembers(b []byte, names ...string) (rest []byte, taken map[string]stdjson.RawMessage, err error) {
	members, err := SplitMembers(b)
	if err != nil {
		return nil, nil, err
	}
	taken = make(map[string]stdjson.RawMessage)
	left := make([]Member, 0, len(members))
	for _, m := range members {
		if !slices.Contains(names, m.Name) {
			left = append(left, m)
		} else if v := raw(jsontext.Value(m.Value)); v != nil {
			taken[m.Name] = bytes.Clone(v)
		}
	}
	if len(left) == len(members) {
		return b, taken, nil
	}
	return JoinMembers(left), taken, nil
}

// DecodeMember reads a member that TakeMembers returned into v, a pointer to a struct or a plain type. It refuses
// unknown members, duplicate names and wrong types. what says what the member accepts.
func DecodeMember(field string, b []byte, v any, what string) error {
	if err := json.Unmarshal(b, v, json.RejectUnknownMembers(true)); err != nil {
		return invalid(field, "must be %s", what)
	}
	return nil
}

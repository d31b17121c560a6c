package execution

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TakeMembers takes the named members out of a JSON object, for requests that say more than a [Request] does. It gives
// the object that is left, for [DecodeRequest], and the members that were there. It is as strict as DecodeRequest about
// the object itself; an explicit null is as good as none.
func TakeMembers(b []byte, names ...string) (rest []byte, taken map[string]stdjson.RawMessage, err error) {
	if err := precheck(b); err != nil {
		return nil, nil, err
	}
	var object map[string]jsontext.Value
	if err := decodeStrict(b, &object); err != nil {
		return nil, nil, err
	}
	if object == nil {
		return nil, nil, invalid("", "the body must be a JSON object; got null")
	}
	taken = make(map[string]stdjson.RawMessage)
	for _, name := range names {
		if v := raw(object[name]); v != nil {
			taken[name] = v
		}
		delete(object, name)
	}
	rest, err = json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return nil, nil, invalid("", "the body is not valid JSON")
	}
	return rest, taken, nil
}

// DecodeMember reads one member that TakeMembers gave into v, a pointer to a struct or a plain type, strictly: unknown
// members, duplicate names and wrong types are refused. what says what the member takes.
func DecodeMember(field string, b []byte, v any, what string) error {
	if err := json.Unmarshal(b, v, json.RejectUnknownMembers(true)); err != nil {
		return invalid(field, "must be %s", what)
	}
	return nil
}

package share

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Encode encodes a value as encoding/json does, but in one pass, and without writing <, > and & with six characters. A
// paused job holds megabytes of values that are kept as they are.
func Encode(value any) ([]byte, error) {
	return json.Marshal(value, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false),
		jsontext.EscapeForJS(false))
}

// Decode decodes what Encode or encoding/json encoded, as encoding/json does but in one pass over values that are kept
// as they are. A paused job holds megabytes of them.
func Decode(data []byte, to any) error {
	return json.Unmarshal(data, to, jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))
}

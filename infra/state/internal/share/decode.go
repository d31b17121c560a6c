package share

import (
	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Decode decodes what encoding/json encoded, as encoding/json does but in one pass over values that are kept as they
// are. A paused job holds megabytes of them.
func Decode(data []byte, to any) error {
	return json.Unmarshal(data, to, jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))
}

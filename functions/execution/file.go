package execution

import (
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// A File is the content of one file. Its JSON is a string if it is valid UTF-8, and {"base64": "…"} otherwise.
type File []byte

// MarshalJSON implements json.Marshaler.
func (f File) MarshalJSON() ([]byte, error) {
	if validUTF8(f) {
		return jsontext.AppendQuote(nil, f)
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(f)})
}

// MarshalJSONTo implements the MarshalerTo of an encoder that writes long texts once instead of copying them.
func (f File) MarshalJSONTo(enc *jsontext.Encoder) error {
	if validUTF8(f) {
		return enc.WriteToken(jsontext.String(string(f)))
	}
	b, err := f.MarshalJSON()
	if err != nil {
		return err
	}
	return enc.WriteValue(b)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *File) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*f = File(text)
		return nil
	}
	var enc struct {
		Base64 *string `json:"base64"`
	}
	if err := json.Unmarshal(b, &enc); err != nil || enc.Base64 == nil {
		return errors.New(`a file is a string or {"base64": "…"}`)
	}
	data, err := base64.StdEncoding.DecodeString(*enc.Base64)
	if err != nil {
		return errors.New("base64 does not decode")
	}
	*f = data
	return nil
}

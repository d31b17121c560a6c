package execution

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzTexts checks that long texts are read as a decoder of JSON reads them, and errors named at the same place.
func FuzzTexts(f *testing.F) {
	for _, fragment := range []string{
		`\"`, `\\`, `\u0061`, `\ud83d\ude00`, `\ud83d`, `\udE00`, `\/\b\f\n\r\t`, "é", "\u2028", "😀", "\x01", `\x`, `\u00`,
		"plain text", "\xff", `"`, `":"`, `\`, "\x7f", "=", "AAAA",
	} {
		for where := range uint8(5) {
			f.Add("a", fragment, "b", where, true)
			f.Add("", "x", fragment, where, false)
		}
	}
	for n := range 40 { // one control character at each place in a block
		some := strings.Repeat("x", n)
		f.Add(some+"\x1f", "x", "", uint8(1), true)
		f.Add("", "x", "\x00"+some, uint8(1), true)
		f.Add("", "é", some+"\x7f", uint8(1), true)
	}
	f.Fuzz(func(t *testing.T, before, fragment, after string, where uint8, ends bool) {
		text := `"` + before + strings.Repeat(fragment, 1+2*longText/max(len(fragment), 1)) + after
		if len(text) > 8*longText {
			return
		}
		if ends {
			text += `"`
		}
		body := []byte(fmt.Sprintf([]string{
			`{"code":%s,"entry":""}`, `{"code":"1","files":{"a":%s,"b":""}}`, `{"files":{"a":{"base64":%s}},"code":"1"}`,
			`{"code":"1","input":%s}`, `{"code":"1","files":[%s]}`,
		}[where%5], text))
		if !utf8.Valid(body) {
			return
		}
		got, err := DecodeRequest(body)
		want, wantErr := decodeWhole(body)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%.200q: %v, a decoder says %v", body, err, wantErr)
		}
		if err != nil {
			return
		}
		owned, err := DecodeOwned(bytes.Clone(body))
		if err != nil || !bytes.Equal(owned.Files["a"], got.Files["a"]) || owned.Code != got.Code {
			t.Errorf("%.200q: it is decoded to something else when it is owned: %v", body, err)
		}
		if got.Code != want.Code || !bytes.Equal(got.Files["a"], want.Files["a"]) {
			t.Errorf("%.200q: code of %d bytes and a file of %d, a decoder has %d and %d", body,
				len(got.Code), len(got.Files["a"]), len(want.Code), len(want.Files["a"]))
		}
		payload, err := Invocation{Airlock: InvocationVersion, ID: "exec_0123456789", Via: ViaHTTP, Request: got}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		inv, err := DecodeInvocation(payload)
		if err != nil {
			t.Fatalf("%.200q: the function refuses it: %v", payload, err)
		}
		if inv.Request.Code != got.Code || !bytes.Equal(inv.Request.Files["a"], got.Files["a"]) {
			t.Errorf("%.200q: the function reads other sources", payload)
		}
	})
}

// decodeWhole decodes a request without abridging it.
func decodeWhole(b []byte) (Request, error) {
	duplicates, err := precheck(b)
	if err != nil {
		return Request{}, err
	}
	var w wireRequest
	if err := decodeStrict(b, &w, duplicates); err != nil {
		return Request{}, err
	}
	return w.request()
}

// FuzzAbridge checks that an abridged text is valid exactly if the whole is, and that offsets lead back.
func FuzzAbridge(f *testing.F) {
	long := strings.Repeat("x", longText)
	for _, text := range []string{
		`{"a":"` + long + `","b":["` + long + `\n"],"c":1}`, `["` + long, `["` + long + `\`, `{"` + long + `":1}`,
		`["` + long + "\xff" + `"]`, `["` + long + `é`, `"` + long + `"`, `"` + long + `\"`, "[\"" + long + "\x01\"]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !utf8.Valid(b) {
			return
		}
		if jsontext.Value(b).IsValid() && !jsontext.Value(Abridge(b).Short).IsValid() {
			t.Errorf("%.100q: the text is valid, and what Abridge returns is not", b)
		}
		a := abridge(b, true, anyText)
		if got, want := jsontext.Value(a.Short).IsValid(), jsontext.Value(b).IsValid(); got != want {
			t.Fatalf("%.100q: the abridged text is valid: %v; the whole: %v", b, got, want)
		}
		if got, want := a.Original(len(a.Short)), len(b); got != want {
			t.Errorf("%.100q: the end is at %d, want %d", b, got, want)
		}
		var short, whole []json.RawMessage
		if json.Unmarshal(a.Short, &short) == nil && json.Unmarshal(b, &whole) == nil && len(short) != len(whole) {
			t.Errorf("%.100q: %d elements, want %d", b, len(short), len(whole))
		}
	})
}

// FuzzValidUTF8 compares validUTF8 with the standard library.
func FuzzValidUTF8(f *testing.F) {
	for _, text := range []string{"é", "\u2028x😀", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "\xe0\x9f\xbf",
		"\x80", "\xf0\x80"} {
		for n := range 9 {
			f.Add([]byte(strings.Repeat("a", n) + text + strings.Repeat("b", 40)))
			f.Add([]byte(strings.Repeat("a", 40+n) + text))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := validUTF8(b), utf8.Valid(b); got != want {
			t.Errorf("%q: %v, want %v", b, got, want)
		}
	})
}

// A request of names alone is refused; a value may have any number of members.
func TestManyMembers(t *testing.T) {
	var names strings.Builder
	for i := range MaxFiles {
		fmt.Fprintf(&names, `,"%x":0`, i)
	}
	object := `{"code":"1"` + names.String() + `}`
	const want = "the object has more than 1024 members; what is accepted here has far fewer"
	if _, err := DecodeRequest([]byte(object)); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !ValidJSON([]byte(object)) {
		t.Error("the object is not valid as a value")
	}
	if entries := `{"files":[0` + strings.Repeat(",0", MaxFiles) + "]}"; !ValidJSON([]byte(entries)) {
		t.Error("an object with many entries is not valid as a value")
	}
	if _, err := DecodeRequest([]byte(`{"code":"1","input":` + object + `}`)); err != nil {
		t.Error(err)
	}
}

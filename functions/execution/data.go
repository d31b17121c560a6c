package execution

import (
	"bytes"
	"fmt"
	"slices"
)

// MaxDataBytes is the default of what a request may hold beside the text of its code and its files.
const MaxDataBytes = 1 << 20

// maxEscapes bounds the escapes in the strings of a long request: each costs a decoder and an encoder as much as many
// plain bytes do.
const maxEscapes = 1 << 20

// callNames are the members of a tool call's message that lead to its arguments.
var callNames = []string{"params", "arguments"}

// CheckData refuses a request that holds more than a number of bytes beside the text of code and files, such as input,
// and a longer one that consists of escapes. Values cost far more to decode than text, so a request may hold more of
// text. The error is an *[Error] with code [TooLarge]. CheckData neither checks the syntax nor decodes anything.
func CheckData(b []byte, most int) error { return checkData(b, most, nil) }

// CheckCall refuses what CheckData does, in the message of a tool call (JSON-RPC), whose arguments are the request.
func CheckCall(b []byte, most int) error { return checkData(b, most, callNames) }

// checkData checks a message in which the names lead to the request.
func checkData(b []byte, most int, way []string) error {
	if len(b) <= most {
		return nil
	}
	if n := bytes.Count(b, []byte{'\\'}); n > maxEscapes {
		return &Error{Code: TooLarge, Message: fmt.Sprintf("the request has %d backslashes; one of more than %d bytes may "+
			"have at most %d", n, most, maxEscapes)}
	}
	data, depth := 0, 0
	names := make([]string, len(way)+2) // of the member that b[i] is in, by depth
	for i := 0; i < len(b); i++ {
		data++
		switch b[i] {
		case '"':
			end := stringEnd(b, i)
			name := namesMember(b, end)
			if name && depth > 0 && depth < len(names) {
				names[depth] = plainName(b[i:end])
			}
			inside := slices.Equal(names[1:len(way)+1], way)
			if name || !inside || !holdsText(names[len(way)+1], depth-len(way)) {
				data += end - i
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if data > most {
			return &Error{Code: TooLarge, Message: fmt.Sprintf("the request holds more than %d bytes beside the text of its "+
				"code and its files", most)}
		}
	}
	return nil
}

// holdsText reports whether a string is the text of code or of a file: "code": "…", "files": {"a": "…"} or
// "files": {"a": {"base64": "…"}}.
func holdsText(member string, depth int) bool {
	return member == "code" && depth == 1 || member == "files" && (depth == 2 || depth == 3)
}

package sandbox

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// maxParts bounds the parts of one form.
const maxParts = 10_000

// formPart is a part of a form: its content is bytes Start to End.
type formPart struct {
	Name     string  `json:"name"`
	Filename *string `json:"filename"` // of a file
	Type     string  `json:"type"`
	Start    int     `json:"start"`
	End      int     `json:"end"`
}

// multipartParse(boundary, bytes) finds the parts of multipart/form-data.
func multipartParse(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	boundary, ok := in.Str(a[0], 256)
	if !ok || boundary == "" {
		return 0, errForged
	}
	body, err := buffer(in, a[1])
	if err != nil {
		return 0, err
	}
	parts, problem := formParts(body, boundary)
	if problem != "" {
		return 0, refused("TypeError", "the body is not multipart/form-data: %s", problem)
	}
	return answerJSON(in, parts)
}

// formParts finds the parts, or says what is wrong with the form.
func formParts(body []byte, boundary string) (parts []formPart, problem string) {
	line := []byte("--" + boundary)
	end := append([]byte("\r\n"), line...)
	at := len(line)
	if !bytes.HasPrefix(body, line) { // a preamble
		i := bytes.Index(body, end)
		if i < 0 {
			return nil, "no boundary"
		}
		at = i + len(end)
	}
	parts = []formPart{}
	for {
		rest := bytes.TrimLeft(body[at:], " \t")
		if bytes.HasPrefix(rest, []byte("--")) {
			return parts, ""
		}
		if !bytes.HasPrefix(rest, []byte("\r\n")) {
			return nil, "text after a boundary"
		}
		if len(parts) == maxParts {
			return nil, "too many parts"
		}
		part, content, problem := formHeader(body, len(body)-len(rest)+2)
		if problem != "" {
			return nil, problem
		}
		// An empty part's content starts where its end does.
		n := bytes.Index(body[content-2:], end)
		if n < 0 {
			return nil, "a part without an end"
		}
		part.Start, part.End = content, max(content, content-2+n)
		parts = append(parts, part)
		at = content - 2 + n + len(end)
	}
}

// formHeader reads the headers of the part that starts at an offset, and gives where its content starts.
func formHeader(body []byte, at int) (part formPart, content int, problem string) {
	named := false
	part.Type = "text/plain"
	for {
		n := bytes.Index(body[at:], []byte("\r\n"))
		if n < 0 {
			return part, 0, "a header without an end"
		}
		line := string(body[at : at+n])
		at += n + 2
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return part, 0, "a header without a colon"
		}
		switch value = strings.Trim(value, " \t"); strings.ToLower(strings.TrimSpace(name)) {
		case "content-type":
			part.Type = strings.ToLower(value)
		case "content-disposition":
			kind, rest, _ := strings.Cut(value, ";")
			if !strings.EqualFold(strings.TrimSpace(kind), "form-data") {
				return part, 0, "a part that is not form-data"
			}
			for rest != "" {
				var key, v string
				switch key, v, rest = dispositionParam(rest); key {
				case "name":
					part.Name, named = v, true
				case "filename":
					part.Filename = &v
				}
			}
		}
	}
	if !named {
		return part, 0, "a part without a name"
	}
	return part, at, ""
}

// dispositionParam reads one parameter. Browsers escape quotes and line breaks in percent form, and nothing else.
func dispositionParam(s string) (key, value, rest string) {
	key, s, _ = strings.Cut(strings.TrimLeft(s, " \t;"), "=")
	if strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s[1:], `"`)
		value = strings.NewReplacer("%0A", "\n", "%0D", "\r", "%22", `"`).Replace(value)
	} else {
		value, rest, _ = strings.Cut(s, ";")
	}
	if !utf8.ValidString(value) {
		out, _, _ := utf8Converter(nil, nil, []byte(value), true)
		value = string(out)
	}
	return strings.ToLower(strings.TrimSpace(key)), value, rest
}

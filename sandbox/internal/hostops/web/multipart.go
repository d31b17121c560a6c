package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// maxParts bounds the parts of one form.
const maxParts = 10_000

// formPart is a part of a form. Its content is the bytes from Start to End.
type formPart struct {
	Name     string  `json:"name"`
	Filename *string `json:"filename"` // of a file
	Type     string  `json:"type"`
	Start    int     `json:"start"`
	End      int     `json:"end"`
}

// maxPartHeader bounds the headers of one part, in bytes.
const maxPartHeader = 16 << 10

// multipartParse answers multipart.parse(boundary, bytes): it finds the parts of multipart/form-data.
func multipartParse(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	boundary, ok := c.Word(a[0], 256)
	if !ok || boundary == "" {
		return 0, hostops.ErrForged
	}
	body, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	out := hostops.Buffer{C: c}
	problem, err := formParts(c, body, boundary, &out)
	if err != nil {
		return 0, err
	}
	if problem != "" {
		return 0, hostops.Throwf("TypeError", "the body is not multipart/form-data: %s", problem)
	}
	return c.In.ParseJSON(out.B)
}

// index returns the index of sep in b, or -1, and announces its work.
func index(c *hostops.Call, b, sep []byte) (int, error) {
	for at := 0; ; at += hostops.PieceBytes {
		window := b[at:min(len(b), at+hostops.PieceBytes+len(sep)-1)]
		i := bytes.Index(window, sep)
		if i >= 0 {
			return at + i, c.Work(16 + i)
		}
		if err := c.Work(len(window)); err != nil {
			return 0, err
		}
		if at+len(window) == len(b) {
			return -1, nil
		}
	}
}

// formParts writes the parts as JSON. problem is what is wrong with the form.
func formParts(c *hostops.Call, body []byte, boundary string, out *hostops.Buffer) (problem string, err error) {
	line := []byte("--" + boundary)
	end := append([]byte("\r\n"), line...)
	at := len(line)
	if !bytes.HasPrefix(body, line) { // a preamble
		i, err := index(c, body, end)
		if err != nil || i < 0 {
			return "no boundary", err
		}
		at = i + len(end)
	}
	if err := out.Text("["); err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		rest := bytes.TrimLeft(body[at:min(len(body), at+maxPartHeader)], " \t")
		at += min(len(body)-at, maxPartHeader) - len(rest)
		if bytes.HasPrefix(rest, []byte("--")) {
			return "", out.Text("]")
		}
		if !bytes.HasPrefix(rest, []byte("\r\n")) {
			return "text after a boundary", nil
		}
		if n == maxParts {
			return "too many parts", nil
		}
		if err := c.Work(4 * maxPartHeader / 8); err != nil {
			return "", err
		}
		part, content, problem := formHeader(body, at+2)
		if problem != "" {
			return problem, nil
		}
		// An empty part's content starts where its end does.
		length, err := index(c, body[content-2:], end)
		if err != nil || length < 0 {
			return "a part without an end", err
		}
		part.Start, part.End = content, max(content, content-2+length)
		text, err := json.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("answer a host call: %w", err)
		}
		if n > 0 {
			text = append([]byte(","), text...)
		}
		if _, err := out.Write(text); err != nil {
			return "", err
		}
		at = content - 2 + length + len(end)
	}
}

// formHeader reads the headers of the part that starts at an offset. It returns where the content starts.
func formHeader(body []byte, at int) (part formPart, content int, problem string) {
	named := false
	part.Type = "text/plain"
	for from := at; ; {
		window := body[at:min(len(body), from+maxPartHeader)]
		n := bytes.Index(window, []byte("\r\n"))
		if n < 0 {
			if at+len(window) < len(body) {
				return part, 0, fmt.Sprintf("a part has more than %d bytes of headers", maxPartHeader)
			}
			return part, 0, "a header without an end"
		}
		line := string(window[:n])
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

// dispositionParam reads one parameter. Browsers escape only quotes and line breaks, in percent form.
func dispositionParam(s string) (key, value, rest string) {
	key, s, _ = strings.Cut(strings.TrimLeft(s, " \t;"), "=")
	if strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s[1:], `"`)
		value = strings.NewReplacer("%0A", "\n", "%0D", "\r", "%22", `"`).Replace(value)
	} else {
		value, rest, _ = strings.Cut(s, ";")
	}
	if !utf8.ValidString(value) {
		value = validUTF8(value)
	}
	return strings.ToLower(strings.TrimSpace(key)), value, rest
}

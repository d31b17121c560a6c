package records

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy/audit"
)

// Report serves GET /api/reports/execution/{id}?format=json|csv: the record of one execution, checked against its
// hash, as a file. The CSV has one line for each member that has a value, named by its path.
func (h *Handlers) Report(c *fiber.Ctx) error {
	given, err := api.Query(c, "format")
	if err != nil {
		return err
	}
	format := given["format"]
	if format == "" {
		format = "json"
	}
	if format != "json" && format != "csv" {
		return api.Invalid("format", "must be json or csv")
	}
	record, err := h.record(c)
	if err != nil {
		return err
	}
	document := struct {
		ID          string       `json:"id"`
		GeneratedAt time.Time    `json:"generatedAt"`
		Status      string       `json:"status"`
		Threat      *Threat      `json:"threat"`
		Execution   audit.Record `json:"execution"`
	}{ID: record.ID, GeneratedAt: h.Now().UTC(), Status: record.Status, Execution: record}
	if t, ok := threatOf(record); ok {
		document.Threat = &t
	}
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+record.ID+`.`+format+`"`)
	if format == "json" {
		return api.Send(c, document)
	}
	doc, err := json.Marshal(document)
	if err != nil {
		return err
	}
	table, err := tabulate(doc)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8; header=present")
	return c.Send(table)
}

// tabulate turns a JSON document into a table of two columns, field and value, in the order of the document. Lines
// end with \n, because with \r\n csv.Writer removes every \r from the cells.
func tabulate(doc []byte) ([]byte, error) {
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	if err := out.Write([]string{"field", "value"}); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := flatten(dec, "", out); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	out.Flush()
	return b.Bytes(), out.Error()
}

// flatten writes the next value of dec: one line, or the lines of its members. The depth of a document that
// json.Marshal made is bounded.
func flatten(dec *json.Decoder, path string, out *csv.Writer) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return out.Write([]string{inert(path), inert(cellOf(token))})
	}
	for n := 0; dec.More(); n++ {
		name := strconv.Itoa(n)
		if open == '{' {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string)
		}
		if path != "" {
			name = path + "." + name
		}
		if err := flatten(dec, name, out); err != nil {
			return err
		}
	}
	_, err = dec.Token() // the closing delimiter
	return err
}

func cellOf(token json.Token) string {
	switch v := token.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return "" // null
}

// inert keeps a spreadsheet from reading a cell as a formula. It looks for the characters that begin a formula, also
// in the full-width forms of Asian keyboards, behind anything that a spreadsheet removes when it reads.
func inert(cell string) string {
	bare := strings.TrimLeftFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
	first, _ := utf8.DecodeRuneInString(bare)
	formula := bare != "" && strings.ContainsRune("=+-@＝＋－＠−", first)
	if formula || cell != "" && strings.ContainsRune("\t\r\n", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

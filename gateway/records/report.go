package gateway

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
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/audit"
)

// report is GET /api/reports/execution/{id}?format=json|csv: the record of one execution, proved against its hash, as a
// file. As CSV it has one line for each member that has a value, named by its path.
func (s *Server) report(c *fiber.Ctx) error {
	given, err := query(c, "format")
	if err != nil {
		return err
	}
	format := given["format"]
	if format == "" {
		format = "json"
	}
	if format != "json" && format != "csv" {
		return bad("format", "must be json or csv")
	}
	record, err := s.recordFor(c)
	if err != nil {
		return err
	}
	document := struct {
		ID          string       `json:"id"`
		GeneratedAt time.Time    `json:"generatedAt"`
		Status      string       `json:"status"`
		Threat      *flagged     `json:"threat"`
		Execution   audit.Record `json:"execution"`
	}{ID: record.ID, GeneratedAt: s.deps.Now().UTC(), Status: record.Status, Execution: record}
	if t, ok := threatOf(record); ok {
		document.Threat = &t
	}
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+record.ID+`.`+format+`"`)
	if format == "json" {
		return s.send(c, document)
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

// recordFor reads the record that the path names. Another tenant's record does not exist.
func (s *Server) recordFor(c *fiber.Ctx) (audit.Record, error) {
	missing := &problem{status: 404, detail: "there is no record with this id"}
	id := utils.CopyString(c.Params("id"))
	if !execution.ValidID(id) {
		return audit.Record{}, missing
	}
	record, err := s.deps.Records.Get(s.base, id)
	if errors.Is(err, audit.ErrNotFound) {
		return audit.Record{}, missing
	}
	if err != nil {
		return audit.Record{}, unreadable(err)
	}
	tenant := tenantOf(callerOf(c))
	if tenant != "" && record.Caller.Tenant != tenant {
		return audit.Record{}, missing
	}
	return seen(record, tenant), nil
}

// tabulate makes a table of two columns, field and value, of a JSON document, in the document's own order. Lines end with \n: with \r\n
// csv.Writer would take every \r out of the cells.
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

// flatten writes the next value of dec: one line, or those of its members. The depth of a document that json.Marshal
// made is bounded.
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
	_, err = dec.Token() // what closes it
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

// inert keeps a spreadsheet from taking a cell for a formula: by what begins one, in the wide forms of Asian keyboards too,
// behind whatever a spreadsheet takes away when it reads.
func inert(cell string) string {
	bare := strings.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
	first, _ := utf8.DecodeRuneInString(bare)
	if bare != "" && strings.ContainsRune("=+-@＝＋－＠−", first) || cell != "" && strings.ContainsRune("\t\r\n", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

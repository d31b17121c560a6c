package auditindex

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/airlock-run/airlock/policy/audit"
)

// appendOutline appends the JSON of an outline without reflection: there is one for each record.
func appendOutline(b []byte, o *audit.Outline) []byte {
	text := func(name, v string) {
		if v != "" {
			b = appendText(append(append(b, name...), ':'), v)
			b = append(b, ',')
		}
	}
	number := func(name string, v float64) {
		if v != 0 {
			b = strconv.AppendFloat(append(append(b, name...), ':'), v, 'g', -1, 64)
			b = append(b, ',')
		}
	}
	b = append(b, '{')
	text(`"t"`, o.Tenant)
	text(`"p"`, o.Policy)
	text(`"v"`, o.Via)
	text(`"l"`, o.Limit)
	text(`"x"`, o.Failure)
	text(`"e"`, o.Level)
	number(`"d"`, o.DurationMs)
	number(`"q"`, o.QueueMs)
	number(`"c"`, o.CPUMs)
	if o.Reused {
		b = append(b, `"r":true,`...)
	}
	if len(o.Findings) > 0 {
		b = append(b, `"f":[`...)
		for i, m := range o.Findings {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(append(b, `{"severity":`...), m.Severity)
			b = appendText(append(b, `,"category":`...), m.Category)
			b = append(b, '}')
		}
		b = append(b, "],"...)
	}
	b = strconv.AppendInt(append(b, `"m":`...), o.Memory, 10)
	b = strconv.AppendInt(append(b, `,"o":`...), o.Output, 10)
	b = strconv.AppendInt(append(b, `,"a":`...), int64(o.APICalls), 10)
	b = append(b, `,"s":`...)
	return append(appendText(b, o.Status), '}')
}

// appendText appends a JSON string. Invalid UTF-8 becomes U+FFFD.
func appendText(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error says that it was not UTF-8
	return b
}

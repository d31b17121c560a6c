package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

// The library computes with every digit that a number stands for, so numbers beyond every language's range are refused.
func TestHostileNumbers(t *testing.T) {
	t.Parallel()
	for _, number := range []string{
		"1e401", "1E+999999", "-1e-999999", "1e99999999999999999999", strings.Repeat("1", 401),
		"0." + strings.Repeat("1", 400),
	} {
		for name, text := range map[string][2]string{
			"value":        {`{"type":"integer"}`, number},
			"nested value": {`{"type":"object"}`, `{"a":[0,{"b":` + number + `}]}`},
			"schema":       {`{"minimum":` + number + `}`, "1"},
			"enum":         {`{"enum":[` + number + `]}`, "1"},
		} {
			err := Fits(t.Context(), json.RawMessage(text[0]), json.RawMessage(text[1]))
			if err == nil || !strings.HasPrefix(err.Error(), "has a number of more than 400 digits") {
				t.Errorf("%.30s as %s: the error is %v", number, name, err)
			}
		}
	}
	for _, number := range []string{"1.7976931348623157e308", "5E-324", "-0", "123456789012345678901234567890", "1e400"} {
		if err := Fits(t.Context(), json.RawMessage(`{"type":"number"}`), json.RawMessage(number)); err != nil {
			t.Errorf("%s: %v", number, err)
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	const number = `{"items":{"type":"number"}}`
	for name, c := range map[string]struct {
		budget        Budget
		schema, value string
		known, fits   bool
	}{
		"fits":              {Budget{1000, 1000}, number, "[1]", true, true},
		"does not fit":      {Budget{1000, 1000}, number, `["1"]`, true, false},
		"no schema":         {Budget{}, "", "[1]", true, true},
		"no bytes":          {Budget{10, 1000}, number, `["1"]`, false, true},
		"few steps":         {Budget{1000, 20}, number, `[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,"1"]`, false, true},
		"a large pattern":   {Budget{1000, 100}, `{"pattern":"a{900}"}`, `"b"`, false, true},
		"too many branches": {Budget{1000, 100}, `{"allOf":[{}` + strings.Repeat(",{}", 50) + `]}`, "1", false, true},
	} {
		left := c.budget
		known, err := left.Fits(t.Context(), json.RawMessage(c.schema), json.RawMessage(c.value))
		if known != c.known {
			t.Errorf("%s: known is %v, want %v", name, known, c.known)
		}
		if (err == nil) != c.fits {
			t.Errorf("%s: the error is %v", name, err)
		}
		if c.known && c.schema != "" && left == c.budget {
			t.Errorf("%s: nothing was charged", name)
		}
	}
}

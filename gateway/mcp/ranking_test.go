package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

func TestRank(t *testing.T) {
	t.Parallel()
	tools := []execution.Tool{
		{Name: "mail:send", Description: "Sends a message to a customer, for example about a refund."},
		{Name: "payments:listRefunds", Description: "Lists what was paid back."},
		{Name: "payments:refund", Description: "Pays an amount back."},
		{Name: "payments:charge", Description: "Charges a card."},
		{Name: "crm:find_customer", Description: "Finds customers by name or address."},
	}
	for query, want := range map[string]string{
		"refund":               "payments:refund payments:listRefunds mail:send",
		"Refunds!":             "payments:refund payments:listRefunds mail:send",
		"pay":                  "payments:refund payments:charge payments:listRefunds",
		"find a customer":      "crm:find_customer mail:send",
		"list refunds":         "payments:listRefunds payments:refund mail:send",
		"submarine":            "",
		"":                     "mail:send payments:listRefunds payments:refund payments:charge crm:find_customer",
		"payments.charge card": "payments:charge payments:refund payments:listRefunds",
	} {
		var names []string
		for _, found := range rank(tools, query) {
			names = append(names, found.Name)
		}
		if got := strings.Join(names, " "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// A word of code that looks like a call of a server's tool becomes a tool; other words do not.
func TestCalledOf(t *testing.T) {
	t.Parallel()
	u := execution.UnlistedServer{Namespace: "crm", Server: "id"}
	request := execution.Request{
		Code:  `await crm.find({}); crm?.list(1), crm . find(); xcrm.no(); a.crm.no(); crm.constructor`,
		Files: map[string]execution.File{"a.js": execution.File("crm.add()")},
	}
	var names []string
	for _, tool := range calledOf(u, request) {
		if tool.Server != "id" {
			t.Error(tool)
		}
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "crm:* crm:find crm:list crm:add" {
		t.Error(got)
	}
}

func TestPieces(t *testing.T) {
	t.Parallel()
	found := []byte(`{"result":"` + strings.Repeat("é", maxShown) + `","output":"short"}`)
	var read strings.Builder
	for q := (partQuery{ID: "exec_1", Part: partResult}); ; {
		a, err := pieceOf(found, q)
		if err != nil {
			t.Fatal(err)
		}
		var p piece
		if err := json.Unmarshal(a.content, &p); err != nil {
			t.Fatal(err)
		}
		read.WriteString(p.Text)
		if q.Offset = p.Next; q.Offset == 0 {
			break
		}
	}
	if want := `"` + strings.Repeat("é", maxShown) + `"`; read.String() != want {
		t.Errorf("%d bytes; want %d", read.Len(), len(want))
	}
	for _, q := range []partQuery{
		{Part: "logs"}, {Part: partOutput, Offset: 6}, {Part: partOutput, Offset: -1}, {Offset: 1},
	} {
		if a, err := pieceOf(found, q); err == nil {
			t.Errorf("%+v: %s", q, a.content)
		}
	}
}

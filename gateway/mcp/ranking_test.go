package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
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
		for _, found := range newToolIndex(tools).rank(tools, query) {
			names = append(names, found.Name)
		}
		if got := strings.Join(names, " "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// thousand returns 1,000 tools of 40 servers. Each has 25 operations on its things.
func thousand() (tools []execution.Tool) {
	things := strings.Fields("invoice refund order customer ticket calendar event contact email message channel file " +
		"folder document spreadsheet issue repository branch deployment server database backup user role subscription " +
		"coupon product shipment warehouse supplier employee payroll vacation candidate survey campaign lead contract " +
		"certificate domain")
	operations := []struct{ name, does string }{
		{"create", "Creates a new %s."}, {"get", "Returns one %s by its id."}, {"list", "Lists every %s, in pages."},
		{"update", "Changes the fields of a %s."}, {"delete", "Deletes a %s for good."},
		{"search", "Finds a %s by a text."}, {"count", "Counts each %s that fits a filter."},
		{"archive", "Archives a %s."}, {"restore", "Brings an archived %s back."}, {"export", "Exports a %s as CSV."},
		{"import", "Imports each %s of a CSV file."}, {"share", "Shares a %s with a colleague."},
		{"assign", "Assigns a %s to a person."}, {"approve", "Approves a %s that waits."},
		{"reject", "Rejects a %s that waits."}, {"cancel", "Cancels a %s."}, {"schedule", "Schedules a %s for later."},
		{"history", "Shows the history of changes of a %s."}, {"comment", "Adds a comment to a %s."},
		{"attach", "Attaches a picture to a %s."}, {"rename", "Gives a %s another name."},
		{"duplicate", "Copies a %s."}, {"validate", "Checks a %s for mistakes."}, {"print", "Prints a %s on paper."},
		{"watch", "Sends a notification when a %s changes."},
	}
	for _, thing := range things {
		for _, o := range operations {
			tools = append(tools, execution.Tool{
				Name: thing + "s:" + o.name + "_" + thing, Description: strings.Replace(o.does, "%s", thing, 1),
			})
		}
	}
	return tools
}

// A question in ordinary language finds its tool among the first three of 1,000.
func TestRankQuestions(t *testing.T) {
	t.Parallel()
	tools := thousand()
	if len(tools) != 1000 {
		t.Fatalf("%d tools", len(tools))
	}
	for question, want := range map[string]string{
		"create an invoice":                              "create_invoice",
		"How do I cancel an order?":                      "cancel_order",
		"approve the refund":                             "approve_refund",
		"find a customer by text":                        "search_customer",
		"list all tickets":                               "list_ticket",
		"schedule a calendar":                            "schedule_calendar",
		"delete old events":                              "delete_event",
		"rename a folder":                                "rename_folder",
		"share a document with a colleague":              "share_document",
		"export the spreadsheet as CSV":                  "export_spreadsheet",
		"import contacts from a CSV file":                "import_contact",
		"assign an issue to someone":                     "assign_issue",
		"count repositories":                             "count_repository",
		"what is the history of this branch?":            "history_branch",
		"restore a backup":                               "restore_backup",
		"archive the channel":                            "archive_channel",
		"reject vacation":                                "reject_vacation",
		"add a comment to the candidate":                 "comment_candidate",
		"attach a picture to a product":                  "attach_product",
		"duplicate a survey":                             "duplicate_survey",
		"check a contract for mistakes":                  "validate_contract",
		"print a certificate on paper":                   "print_certificate",
		"get notified when a shipment changes":           "watch_shipment",
		"update the fields of a user":                    "update_user",
		"get one role by its id":                         "get_role",
		"copy the campaign":                              "duplicate_campaign",
		"I need to send a notification about a supplier": "watch_supplier",
		"find leads":                                     "search_lead",
		"cancelling subscriptions":                       "cancel_subscription",
		"scheduled deployments":                          "schedule_deployment",
	} {
		found := newToolIndex(tools).rank(tools, question)
		at := slices.IndexFunc(found, func(f execution.Tool) bool { return strings.HasSuffix(f.Name, ":"+want) })
		if at < 0 || at > 2 {
			var names []string
			for _, f := range found[:min(len(found), 5)] {
				names = append(names, f.Name)
			}
			t.Errorf("%q: %s is at %d after %v", question, want, at, names)
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
	named := newWords()
	named.add("crm")
	calls := named.findIn(request, map[string]bool{"crm": true}, func(string, string) bool { return true })
	for _, tool := range calledOf(u, calls["crm"]) {
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

// Names are found where code has them as names, whatever is around them and however many there are.
func TestWordsInSources(t *testing.T) {
	t.Parallel()
	for count := range 3 {
		w := newWords()
		for i := range 1 + count*5000 {
			w.add(fmt.Sprintf("name%d", i))
		}
		for _, name := range []string{"crm", "files", "a$b", "last"} {
			w.add(name)
		}
		w.findIn(execution.Request{
			Code:  "crm; xfiles; files2; éfiles; name0 name4999,last1",
			Files: map[string]execution.File{"a": []byte("(a$b)last")},
		}, nil, nil)
		for name, want := range map[string]bool{
			"crm": true, "files": false, "a$b": true, "last": true, "name0": true, "name4999": count > 0, "name1": false,
		} {
			if w.found[name] != want {
				t.Errorf("%d: %s is found: %v", count, name, w.found[name])
			}
		}
	}
}

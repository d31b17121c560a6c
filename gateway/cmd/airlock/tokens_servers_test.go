package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A mockCall is a call that a mock server answered.
type mockCall struct {
	tool         string // namespace.method
	input, reply json.RawMessage
}

// A world is ten MCP servers of a company and their data. It is safe for concurrent use.
type world struct {
	environment string // MCP_SERVERS
	tools       []*sdk.Tool

	mu    sync.Mutex
	calls []mockCall
}

type record = map[string]any

// The data of the world are computed from the numbers of its rows.
func customerOf(n int) record {
	return record{"id": fmt.Sprintf("C%d", n), "name": fmt.Sprintf("Customer %d", n),
		"country": countries[n%len(countries)], "email": fmt.Sprintf("c%d@example.com", n),
		"created": fmt.Sprintf("2024-%02d-%02d", 1+n%12, 1+n%28),
		"plan":    []string{"free", "team", "enterprise"}[n%3], "phone": fmt.Sprintf("+41 44 %07d", n*7919%10_000_000)}
}

func paymentOf(n int) record {
	return record{"id": fmt.Sprintf("P%d", n), "customer": fmt.Sprintf("C%d", n%customers), "amount": 10 + n*37%990,
		"currency": "EUR", "status": []string{"settled", "pending", "failed"}[n%3], "method": "card",
		"created": fmt.Sprintf("2025-%02d-%02dT10:00:00Z", 1+n%12, 1+n%28)}
}

func ticketOf(n int) record {
	return record{"id": fmt.Sprintf("T%d", n), "customer": fmt.Sprintf("C%d", n%customers),
		"subject": "Question about an order", "state": []string{"open", "closed"}[n%2], "priority": n % 4}
}

func itemOf(n int) record {
	return record{"sku": fmt.Sprintf("SKU-%d", n), "warehouse": fmt.Sprintf("W%d", n%10),
		"name":  fmt.Sprintf("Part %d", n),
		"stock": n * 7907 % 1009, "reorderAt": 50, "supplier": fmt.Sprintf("Supplier %d", n%17)}
}

var countries = []string{"CH", "DE", "FR", "IT", "AT", "ES", "PT", "NL", "BE", "SE"}

const customers, payments, tickets, items = 60, 300, 120, 2000

// rowsOf returns the rows that have all of the wanted values.
func rowsOf(row func(int) record, n int, want record) []record {
	found := []record{}
	for i := range n {
		r, all := row(i), true
		for name, v := range want {
			all = all && fmt.Sprint(r[name]) == fmt.Sprint(v)
		}
		if all {
			found = append(found, r)
		}
	}
	return found
}

// A mockTool is a tool that does something.
type mockTool struct {
	namespace, name, description string
	required, optional           []string
	answer                       func(in record) any
}

// workingTools are the ten tools that the tasks need.
func workingTools() []mockTool {
	by := func(row func(int) record, n int) func(record) any {
		return func(in record) any { return record{"items": rowsOf(row, n, in)} }
	}
	one := func(row func(int) record, n int, key string) func(record) any {
		return func(in record) any {
			if found := rowsOf(row, n, record{key: in[key]}); len(found) > 0 {
				return found[0]
			}
			return record{"error": "not found"}
		}
	}
	return []mockTool{
		{"crm", "list_customers", "Lists the customers of a country.", []string{"country"}, nil, by(customerOf, customers)},
		{"crm", "get_customer", "Gets a customer with name, email address, phone and plan.", []string{"id"}, nil,
			one(customerOf, customers, "id")},
		{"payments", "list_payments", "Lists the payments of a customer.", []string{"customer"}, []string{"status"},
			by(paymentOf, payments)},
		{"payments", "get_payment", "Gets a payment: its customer, amount and status.", []string{"id"}, nil,
			one(paymentOf, payments, "id")},
		{"payments", "refund", "Refunds a payment to its customer, in whole or in part.",
			[]string{"payment", "amount:number", "reason"}, nil,
			func(in record) any { return record{"refund": fmt.Sprint("R-", in["payment"]), "amount": in["amount"]} }},
		{"tickets", "search_tickets", "Searches support tickets of a customer, open or closed.", []string{"customer"},
			[]string{"state"}, by(ticketOf, tickets)},
		{"tickets", "get_ticket", "Gets a support ticket.", []string{"id"}, nil, one(ticketOf, tickets, "id")},
		{"inventory", "list_items", "Lists the items of a warehouse with their stock.", []string{"warehouse"}, nil,
			by(itemOf, items)},
		{"inventory", "get_item", "Gets an item of the inventory by its SKU, with its stock.", []string{"sku"}, nil,
			one(itemOf, items, "sku")},
		{"mail", "send_mail", "Sends an email to an address.", []string{"to", "subject", "body"}, nil,
			func(in record) any { return record{"sent": true, "to": in["to"]} }},
	}
}

var (
	namespaceNames = strings.Fields("crm payments tickets inventory mail calendar wiki hr deploys ads")
	fillerVerbs    = strings.Fields("archive export approve assign compare duplicate import label merge publish")
	fillerNouns    = strings.Fields("report template workflow policy webhook dashboard contract segment budget review")
)

// newWorld serves n tools, of which ten do something.
func newWorld(t testing.TB, n int) *world {
	t.Helper()
	w := &world{}
	all := workingTools()
	for i := 0; len(all) < n; i++ {
		verb, noun := fillerVerbs[i/10%10], fillerNouns[i/100%10]
		all = append(all, mockTool{namespaceNames[i%10], verb + "_" + noun,
			fmt.Sprintf("%ss a %s of %s. Returns the %s as it is afterwards, with the time of the change and who made it.",
				strings.ToUpper(verb[:1])+verb[1:], noun, namespaceNames[i%10], noun),
			[]string{noun + "_id"}, []string{"comment", "notify", "effective_date"},
			func(in record) any { return in }})
	}
	servers := map[string]*sdk.Server{}
	for _, m := range all {
		s := servers[m.namespace]
		if s == nil {
			s = sdk.NewServer(&sdk.Implementation{Name: m.namespace, Version: "1"}, nil)
			servers[m.namespace] = s
		}
		w.add(s, m)
	}
	var list []record
	for _, name := range namespaceNames {
		s := servers[name]
		if s == nil {
			continue
		}
		server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
		t.Cleanup(server.Close)
		list = append(list, record{"namespace": name, "url": server.URL})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	w.environment = "MCP_SERVERS=" + string(text)
	return w
}

// add serves a tool. Its parameters are texts, or of the type after a colon.
func (w *world) add(s *sdk.Server, m mockTool) {
	properties, required := record{}, []any{}
	for _, p := range slices.Concat(m.required, m.optional) {
		name, kind, typed := strings.Cut(p, ":")
		if !typed {
			kind = "string"
		}
		properties[name] = record{"type": kind, "description": "The " + strings.ReplaceAll(name, "_", " ") + "."}
		if slices.Contains(m.required, p) {
			required = append(required, name)
		}
	}
	tool := &sdk.Tool{Name: m.name, Description: m.description,
		InputSchema: record{"type": "object", "properties": properties, "required": required}}
	s.AddTool(tool, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in record
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		reply, err := json.Marshal(m.answer(in))
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls = append(w.calls, mockCall{m.namespace + "." + m.name, r.Params.Arguments, reply})
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(reply)}}}, nil
	})
	named := *tool
	named.Name = m.namespace + "__" + m.name // as clients list the tools of several servers
	w.tools = append(w.tools, &named)
}

// taken returns the calls since the last time.
func (w *world) taken() []mockCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

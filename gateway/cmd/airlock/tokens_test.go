package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"
)

// A task is a question, the program that answers it, and how a model without code would call the same tools.
type task struct {
	kind     string
	question string
	find     []string // what the model searches for, in words of the question
	program  string
	want     any
	// together reports whether all calls but the first could be made in one turn.
	together bool
}

// tokenTasks are 60 tasks of six kinds. The first two kinds are one small call each: code has nothing to save there.
func tokenTasks() (all []task) {
	for n := range 10 {
		c, p := customerOf(n*5+1), paymentOf(n*30)
		all = append(all, task{kind: "look up one record",
			question: fmt.Sprintf("What is the email of customer %s?", c["id"]),
			find:     []string{"get customer email"},
			program:  fmt.Sprintf(`(await crm.get_customer({id: %q})).email`, c["id"]), want: c["email"]})
		i := itemOf(n * 11)
		all = append(all, task{kind: "look up one number",
			question: fmt.Sprintf("What is the stock of %s?", i["sku"]),
			find:     []string{"get item stock by SKU"},
			program:  fmt.Sprintf(`(await inventory.get_item({sku: %q})).stock`, i["sku"]),
			want:     float64(i["stock"].(int))})
		payer := customerOf(n * 30 % customers)
		open := len(rowsOf(ticketOf, tickets, record{"customer": payer["id"], "state": "open"}))
		all = append(all, task{kind: "follow a chain",
			question: fmt.Sprintf("Who made payment %s, and how many open tickets does that customer have?", p["id"]),
			find:     []string{"get payment customer", "get customer", "search support tickets"},
			program: fmt.Sprintf(`const {customer} = await payments.get_payment({id: %q});
const {name} = await crm.get_customer({id: customer});
const found = await tickets.search_tickets({customer, state: "open"});
return {name, open: found.items.length};`, p["id"]), want: record{"name": payer["name"], "open": float64(open)}})
		total := 0
		for _, who := range rowsOf(customerOf, customers, record{"country": countries[n]}) {
			for _, paid := range rowsOf(paymentOf, payments, record{"customer": who["id"], "status": "settled"}) {
				total += paid["amount"].(int)
			}
		}
		all = append(all, task{kind: "sum over many", together: true,
			question: fmt.Sprintf("What is the sum of all settled payments of customers in %s?", countries[n]),
			find:     []string{"list customers of a country", "list payments of a customer"},
			program: fmt.Sprintf(`const {items} = await crm.list_customers({country: %q});
const lists = await Promise.all(items.map(c => payments.list_payments({customer: c.id, status: "settled"})));
return lists.flatMap(l => l.items).reduce((sum, p) => sum + p.amount, 0);`, countries[n]),
			want: float64(total)})
		low := 0
		for _, i := range rowsOf(itemOf, items, record{"warehouse": fmt.Sprintf("W%d", n)}) {
			if i["stock"].(int) < 50 {
				low++
			}
		}
		all = append(all, task{kind: "filter a long list",
			question: fmt.Sprintf("How many items of warehouse W%d have to be reordered?", n),
			find:     []string{"list items of a warehouse"},
			program: fmt.Sprintf(`const {items} = await inventory.list_items({warehouse: "W%d"});
return items.filter(i => i.stock < i.reorderAt).length;`, n), want: float64(low)})
		all = append(all, task{kind: "act in several systems",
			question: fmt.Sprintf("Refund payment %s in whole because of damage, and tell its customer by email.", p["id"]),
			find:     []string{"get payment", "refund payment", "get customer email", "send email"},
			program: fmt.Sprintf(`const p = await payments.get_payment({id: %q});
const r = await payments.refund({payment: p.id, amount: p.amount, reason: "damage"});
const c = await crm.get_customer({id: p.customer});
const body = "We refunded " + p.amount + " " + p.currency + ".";
await mail.send_mail({to: c.email, subject: "Refund " + r.refund, body});
return {refund: r.refund, told: c.email};`, p["id"]),
			want: record{"refund": fmt.Sprintf("R-%s", p["id"]), "told": payer["email"]}})
	}
	return all
}

// conversation counts the tokens that a model reads: in each turn, all that came before.
type conversation struct {
	count       func(text string) int
	context     int // tokens so far
	read, turns int
}

func (c *conversation) add(text string) { c.context += c.count(text) }

// turn has the model read everything, and say something.
func (c *conversation) turn(said string) {
	c.read += c.context
	c.turns++
	c.add(said)
}

// sum adds the figures of another conversation.
func (c *conversation) sum(other conversation) {
	c.read += other.read
	c.turns += other.turns
}

func tokens(t testing.TB) func(string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) int {
		n, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// listing is what a model reads of a list of tools.
func listing(t testing.TB, tools []*sdk.Tool) string {
	t.Helper()
	var out strings.Builder
	for _, tool := range tools {
		text, err := json.Marshal(record{"name": tool.Name, "description": tool.Description,
			"parameters": tool.InputSchema})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
	}
	return out.String()
}

// ask has the gateway run code, and returns the text that the model reads, and the value.
func ask(t testing.TB, session *sdk.ClientSession, code string) (text string, value any) {
	t.Helper()
	result, err := session.CallTool(t.Context(),
		&sdk.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": code}})
	if err != nil || result.IsError {
		t.Fatal(code, result.Content, err)
	}
	return result.Content[0].(*sdk.TextContent).Text, result.StructuredContent.(map[string]any)["result"]
}

// discover is the code by which a model finds the tools of a task: the best three of each search, as declarations.
func discover(queries []string) string {
	list, _ := json.Marshal(queries)
	return `const found = await Promise.all(` + string(list) + `.map(q => tools.search(q)));
const calls = new Set(found.flatMap(f => f.slice(0, 3).map(h => h.call)));
return (await Promise.all([...calls].map(tools.describe))).join("");`
}

var calledInCode = regexp.MustCompile(`([a-z]+\.[a-z_]+_[a-z]+|payments\.refund)\(\{`)

// through has a model answer a task with code: it finds the tools, runs the program and reads its value.
func (k task) through(t testing.TB, session *sdk.ClientSession, c *conversation, list string) {
	t.Helper()
	c.add(list + k.question)
	said := func(code string) string {
		text, _ := json.Marshal(record{"name": "execute_code", "arguments": record{"code": code}})
		return string(text)
	}
	c.turn(said(discover(k.find)))
	text, declared := ask(t, session, discover(k.find))
	c.add(text)
	for _, found := range calledInCode.FindAllStringSubmatch(k.program, -1) {
		namespace, method, _ := strings.Cut(found[1], ".")
		if d := declared.(string); !strings.Contains(d, "declare const "+namespace) ||
			!strings.Contains(d, " "+method+"(") {
			t.Fatalf("%s: %s.%s was not found: %s", k.question, namespace, method, d)
		}
	}
	c.turn(said(k.program))
	text, value := ask(t, session, k.program)
	if diff := cmp.Diff(k.want, value); diff != "" {
		t.Fatalf("%s: %s", k.question, diff)
	}
	c.add(text)
	c.turn("")
}

// plainly has a model make the calls one by one, with all tools in its context. Calls that need not wait for each
// other are made in one turn.
func (k task) plainly(c *conversation, calls []mockCall, list string) {
	c.add(list + k.question)
	for len(calls) > 0 {
		n := 1
		if k.together && c.turns > 0 {
			n = len(calls)
		}
		var said, replies strings.Builder
		for _, m := range calls[:n] {
			fmt.Fprintf(&said, `{"name":%q,"arguments":%s}`, strings.ReplaceAll(m.tool, ".", "__"), m.input)
			replies.Write(m.reply)
		}
		c.turn(said.String())
		c.add(replies.String())
		calls = calls[n:]
	}
	c.turn("")
}

// BenchmarkTokens prints what models read to do 60 tasks, with code and without, among 10, 100 and 1,000 tools.
func BenchmarkTokens(b *testing.B) {
	count := tokens(b)
	for b.Loop() {
		fmt.Printf("\n| tools | task | plain: turns, tokens | code: turns, tokens | code reads |\n|---|---|---|---|---|\n")
		for _, n := range []int{10, 100, 1000} {
			w := newWorld(b, n)
			session := agent(b, nil, []string{w.environment, "EGRESS_ALLOW=127.0.0.1"})
			tools, err := session.ListTools(b.Context(), nil)
			if err != nil {
				b.Fatal(err)
			}
			ours, theirs := listing(b, tools.Tools), listing(b, w.tools)
			const all = "all 60 tasks"
			var kinds []string
			plain, coded := map[string]*conversation{}, map[string]*conversation{}
			for _, k := range tokenTasks() {
				with, without := conversation{count: count}, conversation{count: count}
				k.through(b, session, &with, ours)
				k.plainly(&without, w.taken(), theirs)
				for _, kind := range []string{k.kind, all} {
					if plain[kind] == nil {
						kinds = append(kinds, kind)
						plain[kind], coded[kind] = &conversation{}, &conversation{}
					}
					plain[kind].sum(without)
					coded[kind].sum(with)
				}
			}
			kinds = append(slices.DeleteFunc(kinds, func(kind string) bool { return kind == all }), all)
			for _, kind := range kinds {
				p, c := plain[kind], coded[kind]
				fmt.Printf("| %d | %s | %d, %d | %d, %d | %.0f %% |\n", n, kind, p.turns, p.read, c.turns, c.read,
					100*float64(c.read)/float64(p.read))
				if kind == all {
					b.ReportMetric(100*float64(c.read)/float64(p.read), fmt.Sprintf("%%_of_plain_with_%d_tools", n))
				}
			}
		}
	}
}

var parameter = regexp.MustCompile(`(?m)^    (\w+)(\??): (string|number);$`)

// An agent that knows facts, and no tool, finds the right tool among a thousand and calls it right: it searches,
// reads the declaration and fills in the parameters that it names.
func TestAgentFindsAToolAmongAThousand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1000)
	session := agent(t, nil, []string{w.environment, "EGRESS_ALLOW=127.0.0.1"})
	for _, c := range []struct {
		goal  string
		facts record
		tool  string
		want  string
	}{
		{"refund a payment", record{"payment": "P3", "amount": 5, "reason": "damage", "customer": "C3"}, "payments.refund",
			`{"amount":5,"payment":"P3","reason":"damage"}`},
		{"stock of an item by SKU", record{"sku": "SKU-7", "warehouse": "W1"}, "inventory.get_item", `{"sku":"SKU-7"}`},
		{"send an email", record{"to": "a@example.com", "subject": "Hello", "body": "…", "id": "C1"}, "mail.send_mail",
			`{"body":"…","subject":"Hello","to":"a@example.com"}`},
		{"merge budgets in hr", record{"budget_id": "B1"}, "hr.merge_budget", `{"budget_id":"B1"}`},
	} {
		_, value := ask(t, session, fmt.Sprintf(
			`const [best] = await tools.search(%q); return {call: best.call, is: await tools.describe(best.call)}`, c.goal))
		found := value.(map[string]any)
		arguments := record{}
		for _, p := range parameter.FindAllStringSubmatch(found["is"].(string), -1) {
			if fact, known := c.facts[p[1]]; known {
				arguments[p[1]] = fact
			}
		}
		given, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		w.taken()
		ask(t, session, fmt.Sprintf("await %s(%s)", found["call"], given))
		if calls := w.taken(); len(calls) != 1 || calls[0].tool != c.tool || string(calls[0].input) != c.want {
			t.Errorf("%s: %s, want %s(%s)", c.goal, calls, c.tool, c.want)
		}
	}
}

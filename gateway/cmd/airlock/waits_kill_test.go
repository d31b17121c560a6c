package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/dynamostate/dynamotest"
	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// lives is the number of gateways that are started and killed, unless AIRLOCK_KILLS sets another. What is killed, and
	// when, depends on a seed that the test prints, and that AIRLOCK_KILL_SEED sets.
	lives = 8
	// checking is the time that is left for the checks before the test times out: the last life begins earlier.
	checking = 5 * time.Minute
)

// The code of the executions in the test. Each waits at least once.
var waitingCode = []string{
	`const r = await payments.refund({order: input}); return r`,
	`const ok = await airlock.approve({title: "Go?"}).catch((e) => e.name); return [ok, await airlock.waitForEvent("e")]`,
	`return await Promise.all([payments.refund({order: 1}).catch((e) => e.name), airlock.waitForEvent("e")])`,
	`try { return await airlock.waitForEvent("never", {timeout: "1 s"}) } catch (e) { return e.name }`,
	`await airlock.sleep("10 s"); return "slept"`,
	// its snapshot is not in the item of a table
	`const all = Array.from({length: 8000}, Math.random); await airlock.waitForEvent("e"); return all.length`,
	// what is stored beside the execution: the parameters of its call, and the value of its event
	`await payments.refund({order: input, pad: "p".repeat(20000)}).catch(() => {}); const e = await airlock.waitForEvent("e");
	if (e.pad !== "x".repeat(e.n)) throw new Error("` + otherValue + `"); return "same"`,
}

// otherValue is the error of an execution that gets another value than was sent.
const otherValue = "this is another value"

// A killedWorld is what clients know of executions whose gateways are killed.
type killedWorld struct {
	*testing.T
	tool string

	mu      sync.Mutex
	open    []string
	ended   map[string]string         // the results, by execution
	decided map[string]map[int]string // the decisions that a gateway acknowledged
	ends    map[string]string         // what a gateway said about executions that it cancelled
	urls    []string                  // of the gateways
}

// gateway returns the URL of a gateway. It may have been killed.
func (w *killedWorld) gateway() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.urls[rand.N(len(w.urls))]
}

// ask makes a request. ok is false if there was no response, as the gateway was killed.
func (w *killedWorld) ask(ctx context.Context, method, path, body string, headers ...string) (
	status int, v map[string]any, text string, ok bool,
) {
	r, err := http.NewRequestWithContext(ctx, method, w.gateway()+path, strings.NewReader(body))
	if err != nil {
		w.Error(err)
		return 0, nil, "", false
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, "", false
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(b, &v) != nil {
		return 0, nil, "", false
	}
	return res.StatusCode, v, string(b), true
}

// submit starts an execution.
func (w *killedWorld) submit(ctx context.Context) {
	request := map[string]any{"code": waitingCode[rand.N(len(waitingCode))], "input": 7, "tools": []any{
		map[string]any{"name": "payments.refund", "url": w.tool, "approval": "required"},
	}}
	if rand.N(5) == 0 {
		request["policy"] = "short"
	}
	body, err := json.Marshal(request)
	if err != nil {
		w.Error(err)
		return
	}
	headers := []string{"Prefer: respond-async"}
	if rand.N(3) == 0 {
		headers = nil // it becomes a job when it pauses
	}
	status, v, text, ok := w.ask(ctx, "POST", "/api/execute", string(body), headers...)
	switch {
	case !ok, status == 503:
		return
	case status == 200 && v["error"] == execution.ProcessLost, status == 500 && v["code"] == "not_stored":
		return // its function process was killed, or the connections of the store; no client waits for it
	case status != 202:
		w.Errorf("submitted: %d %s", status, text)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, v["id"].(string))
}

// final reports whether a status is final.
func final(status any) bool {
	return slices.Contains([]any{"completed", "error", "timeout", "cancelled", "expired"}, status)
}

// look reads an execution and decides about what it waits for. An execution that has ended must not have changed.
func (w *killedWorld) look(ctx context.Context, id string, end bool) {
	status, v, text, ok := w.ask(ctx, "GET", "/api/executions/"+id, "")
	if !ok || status == 503 {
		return
	}
	if status != 200 {
		w.Errorf("%s was acknowledged, and is lost: %d %s", id, status, text)
		return
	}
	if final(v["status"]) {
		w.end(id, text)
		return
	}
	pending, _ := v["waiting"].([]any)
	if doomed := strings.Contains("0123", id[len(id)-1:]); doomed && !end && rand.N(20) == 0 {
		if status, v, _, ok = w.ask(ctx, "DELETE", "/api/executions/"+id, ""); ok && status == 200 && final(v["status"]) {
			w.mu.Lock()
			w.ends[id] = fmt.Sprint(v["status"])
			w.mu.Unlock()
		}
		return
	}
	for _, x := range pending {
		wait := x.(map[string]any)
		switch wait["kind"] {
		case "approval":
			w.decide(ctx, id, int(wait["seq"].(float64)))
		case "event":
			if wait["name"] == "e" {
				n := []int{1, 10_000, 400_000}[rand.N(3)]
				w.ask(ctx, "POST", "/api/executions/"+id+"/events/e",
					fmt.Sprintf(`{"n":%d,"pad":%q}`, n, strings.Repeat("x", n)), "Prefer: respond-async")
			}
		}
	}
}

// end notes the result of an execution. It never changes.
func (w *killedWorld) end(id, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(text, otherValue) {
		w.Errorf("%s: %s", id, text)
	}
	if before, there := w.ended[id]; there && before != text {
		w.Errorf("%s ended twice:\n%s\n%s", id, before, text)
	}
	w.ended[id] = text
	w.open = slices.DeleteFunc(w.open, func(other string) bool { return other == id })
}

// decide decides about an operation. Only one decision is ever acknowledged.
func (w *killedWorld) decide(ctx context.Context, id string, seq int) {
	decision := []string{"approve", "reject"}[rand.N(2)]
	status, _, text, ok := w.ask(ctx, "POST", "/api/executions/"+id+"/resume",
		fmt.Sprintf(`{"decisions":[{"seq":%d,"decision":%q}]}`, seq, decision), "Prefer: respond-async")
	if !ok || status == 409 || status == 503 {
		return
	}
	if status != 200 && status != 202 {
		w.Errorf("decided: %d %s", status, text)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, there := w.decided[id][seq]; there {
		w.Errorf("%s: operation %d was decided twice: %s, %s", id, seq, before, decision)
	}
	if w.decided[id] == nil {
		w.decided[id] = map[int]string{}
	}
	w.decided[id][seq] = decision
}

// one returns an execution that has not ended, or now and then one that has.
func (w *killedWorld) one() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rand.N(10) == 0 {
		for id := range w.ended {
			return id
		}
	}
	if len(w.open) == 0 {
		return ""
	}
	return w.open[rand.N(len(w.open))]
}

// work is what clients do until ctx ends.
func (w *killedWorld) work(ctx context.Context, wait *sync.WaitGroup) {
	for range 4 {
		wait.Go(func() {
			for ctx.Err() == nil {
				w.mu.Lock()
				few := len(w.open) < 12
				w.mu.Unlock()
				id := w.one()
				if few && rand.N(3) == 0 || id == "" {
					w.submit(ctx)
				} else {
					w.look(ctx, id, false)
				}
			}
		})
	}
}

// children returns the processes that a gateway started.
func children(gateway int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		rest := text[bytes.LastIndexByte(text, ')')+1:]
		fields := strings.Fields(string(rest))
		if len(fields) > 1 && fields[1] == strconv.Itoa(gateway) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// A faulty store is a state whose connections the test breaks.
type faultyStore struct {
	// gateways is how many use it at once.
	gateways int
	// environment returns the settings of the gateway in a place.
	environment func(place int) []string
	// faults are what may happen to the connections of the gateway in a place.
	faults []func(place int)
}

// Gateways, function processes and connections of the store are killed at any moment while executions pause, are
// decided about, get events, sleep, expire, are cancelled and go on. Each execution ends once, each decision counts
// once, tools get the same key in every attempt, every attempt has its record, and the chain of records is sound. The
// state is in a folder, a database or a table. Two gateways share the latter two.
func TestKilledWhileExecutionsWait(t *testing.T) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		killedWhileExecutionsWait(t, lives, faultyStore{1, func(int) []string { return nil }, nil})
	})
	t.Run("database", func(t *testing.T) {
		t.Parallel()
		killedWhileExecutionsWait(t, lives/2, faultyDatabase(t))
	})
	t.Run("table", func(t *testing.T) {
		t.Parallel()
		killedWhileExecutionsWait(t, lives/2, faultyTable(t))
	})
}

// faultyDatabase is a Postgres database.
func faultyDatabase(t *testing.T) faultyStore {
	t.Helper()
	if !pgtest.Installed() {
		t.Skip("Postgres is not installed")
	}
	database, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	direct, key := database.Database(t), waits.NewKey("k")
	name, _, _ := strings.Cut(direct, "?")
	var wires [2]*wire
	for i := range wires {
		wires[i] = newWire(t, "unix", filepath.Join(database.Dir, ".s.PGSQL.5432"))
	}
	environment := func(place int) []string {
		there := strings.Replace(name, "@/", "@"+wires[place].address+"/", 1)
		return []string{"AIRLOCK_STATE=" + there + "?sslmode=disable&pool_max_conns=4", "SNAPSHOT_KEYS=" + key}
	}
	terminate := func(int) {
		database.Exec(t, direct, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	}
	return faultyStore{2, environment, []func(int){
		func(place int) { wires[place].cut() }, func(place int) { wires[place].loseAnswers() }, terminate,
	}}
}

// faultyTable is a DynamoDB table and its bucket.
func faultyTable(t *testing.T) faultyStore {
	t.Helper()
	tables, err := dynamotest.Start()
	if err != nil {
		t.Fatal(err)
	}
	if tables == nil {
		t.Skip(dynamotest.Modules + " is not set: make test-dynamo installs dynalite and sets it")
	}
	t.Cleanup(tables.Stop)
	s3, err := s3test.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s3.Stop)
	common := append(s3test.Environment(), "SNAPSHOT_KEYS="+waits.NewKey("k"),
		"AIRLOCK_STATE=dynamodb://"+tables.Table(t)+"?contents=s3://"+s3.Bucket(t)+"/contents")
	var wires, contents [2]*wire
	var settings [2][]string
	for i := range wires {
		var table, bucket string
		wires[i], table = httpWire(t, tables.Endpoint)
		contents[i], bucket = httpWire(t, s3.Endpoint)
		settings[i] = append(slices.Clone(common), "AWS_ENDPOINT_URL_DYNAMODB="+table, "S3_ENDPOINT="+bucket)
	}
	return faultyStore{2, func(place int) []string { return settings[place] }, []func(int){
		func(place int) { wires[place].cut() }, func(place int) { wires[place].loseAnswers() },
		func(place int) { contents[place].cut() }, func(place int) { contents[place].loseAnswers() },
	}}
}

// number returns the number that a variable of the environment has, or another.
func number[N int | uint64](t *testing.T, name string, other N) N {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return other
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(name, err)
	}
	return N(n)
}

// killedWhileExecutionsWait kills so many gateways, and checks what they leave.
func killedWhileExecutionsWait(t *testing.T, most int, state faultyStore) {
	t.Helper()
	tool := &refunder{keys: map[string]int{}}
	server := httptest.NewServer(tool)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	store := filepath.Join(dir, "audit")
	rules := filepath.Join(dir, "policy.yaml")
	err := os.WriteFile(rules, []byte("version: 1\ntiers: {short: {base: standard, waits: {maxAge: 2s}}}\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	w := &killedWorld{T: t, tool: server.URL, ended: map[string]string{}, decided: map[string]map[int]string{},
		ends: map[string]string{}, urls: make([]string, state.gateways)}
	gateways := make([]*program, state.gateways)
	begin := func(place int) {
		environment := append([]string{"AUDIT_STORE=file://" + store, "RATE_LIMIT_MAX_REQUESTS=1000000",
			"AIRLOCK_POLICY_FILE=" + rules, "EGRESS_ALLOW=" + strings.TrimPrefix(server.URL, "http://")},
			state.environment(place)...)
		p := tryStart(t, nil, nil, environment...)
		for n := 0; p.url == "" && n < 5; n++ { // on a busy machine it may not be ready in time
			p = tryStart(t, nil, nil, environment...)
		}
		gateways[place] = serving(t, p)
		w.urls[place] = p.url
	}
	most, seed := number(t, "AIRLOCK_KILLS", most), number(t, "AIRLOCK_KILL_SEED", rand.Uint64())
	t.Logf("AIRLOCK_KILL_SEED=%d", seed)
	for place := range gateways {
		begin(place)
	}
	n := 0
	for ; n < most; n++ {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < checking {
			t.Logf("the time is over after %d lives", n)
			break
		}
		if t.Failed() {
			t.Fatalf("in life %d", n)
		}
		if n%100 == 99 {
			t.Logf("%d lives", n)
		}
		w.life(rand.New(rand.NewPCG(seed, uint64(n))), gateways, state.faults, begin)
	}

	for place := range gateways[1:] {
		killed(t, gateways[place+1])
	}
	w.urls = w.urls[:1]
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(2 * time.Minute); len(w.open) > 0; <-look.C {
		for _, id := range slices.Clone(w.open) {
			w.look(t.Context(), id, true)
		}
		if t.Failed() || time.Now().After(deadline) {
			t.Fatalf("%d executions have not ended: %v", len(w.open), w.open)
		}
	}
	for id := range w.ended {
		w.look(t.Context(), id, true) // it is still the same
	}
	if err := errors.Join(gateways[0].Process.Signal(syscall.SIGTERM), gateways[0].Wait()); err != nil {
		t.Error(err)
	}
	w.check(store, tool)
	if code, out, errs := command(t, env(), "audit", "verify", "--store", store); code != 0 {
		t.Errorf("audit verify: %d\n%s%s", code, out, errs)
	}
	t.Logf("%d lives, %d executions ended, %d called the tool, %d were decided about", n, len(w.ended),
		len(tool.keys), len(w.decided))
}

// life lets clients work while faults happen, and ends with the death of a gateway, which is started again. One gateway
// of two lives sixteen times as long as the other: it adopts what the other had claimed.
func (w *killedWorld) life(random *rand.Rand, gateways []*program, faults []func(int), begin func(place int)) {
	place := len(gateways) - 1
	if random.IntN(16) == 0 {
		place = 0
	}
	ctx, cancel := context.WithCancel(w.Context())
	var clients sync.WaitGroup
	w.work(ctx, &clients)
	faults = append([]func(int){func(place int) {
		which := random.Uint64()
		for i, pid := range children(gateways[place].Process.Pid) {
			if which>>(i%64)&1 == 1 {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			}
		}
	}}, faults...)
	for range random.IntN(4) {
		<-time.After(time.Duration(random.IntN(150)) * time.Millisecond)
		faults[random.IntN(len(faults))](random.IntN(len(gateways)))
	}
	<-time.After(time.Duration(random.IntN(150)) * time.Millisecond)
	killed(w.T, gateways[place])
	cancel()
	clients.Wait()
	http.DefaultClient.CloseIdleConnections()
	begin(place)
}

// check compares the records with what the clients and the tool know.
func (w *killedWorld) check(store string, tool *refunder) {
	files, err := filepath.Glob(filepath.Join(store, "executions", "*", "*.json"))
	if err != nil {
		w.Fatal(err)
	}
	statuses, decisions, attempts := map[string][]string{}, map[string]map[int][]string{}, map[string]int{}
	segments, unstored := map[string]int{}, map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			w.Fatal(err)
		}
		var r audit.Record
		if err := json.Unmarshal(text, &r); err != nil {
			w.Fatal(err)
		}
		id := r.Parent
		if id == "" {
			id = r.ID
		}
		if d := r.Decision; d == nil {
			statuses[id] = append(statuses[id], r.Status)
			attempts[id]++
			segments[id] = max(segments[id], r.Segment)
			unstored[id] = unstored[id] || strings.Contains(r.Error, "could not be stored")
		} else {
			if decisions[id] == nil {
				decisions[id] = map[int][]string{}
			}
			decisions[id][d.Seq] = append(decisions[id][d.Seq], d.Decision)
		}
	}
	endings := map[string]int{}
	for id, text := range w.ended {
		var result struct{ Status, Error string }
		if err := json.Unmarshal([]byte(text), &result); err != nil {
			w.Fatal(err)
		}
		endings[result.Status+" "+result.Error]++
		// The value of a completed execution is in no record. If it was lost, the result says so.
		lost := strings.Contains(text, "before its result was stored") && slices.Contains(statuses[id], "completed")
		if !lost && !slices.Contains(statuses[id], result.Status) {
			w.Errorf("%s is %s, and its records say %v\n%s", id, result.Status, statuses[id], text)
		}
		if end, there := w.ends[id]; there && end != result.Status {
			w.Errorf("%s was acknowledged to be %s, and is %s", id, end, result.Status)
		}
	}
	w.Logf("they ended so: %v", endings)
	for id := range unstored {
		if unstored[id] && segments[id] > 1 {
			w.Errorf("%s has ended because it could not be stored, and went on", id)
		}
	}
	tool.mu.Lock()
	defer tool.mu.Unlock()
	keys := map[string]string{}
	for key, calls := range tool.keys {
		id, _, _ := strings.Cut(key, ":")
		if before, there := keys[id]; there {
			w.Errorf("the tool was called with the keys %s and %s", before, key)
		}
		if keys[id] = key; calls > attempts[id] {
			w.Errorf("%s called the tool %d times in %d attempts", id, calls, attempts[id])
		}
	}
	for id, all := range decisions {
		for seq, made := range all {
			if len(made) != 1 {
				w.Errorf("%s: operation %d has the decisions %v", id, seq, made)
			}
		}
	}
	for id, all := range w.decided {
		for seq, decision := range all {
			got := decisions[id][seq]
			if cancelled := slices.Contains(statuses[id], "cancelled"); len(got) == 0 && cancelled {
				continue // it ended before anything went on with the decision
			}
			if len(got) != 1 || got[0] != decision {
				w.Errorf("%s: operation %d was decided with %s, and its records say %v", id, seq, decision, got)
			}
		}
	}
}

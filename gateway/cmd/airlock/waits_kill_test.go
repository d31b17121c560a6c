package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	database := pgtest.New(t)
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
	tables := dynamotest.ForTest(t)
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

package sandbox

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf16"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/sandbox/internal/egress"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/compress"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/crypto"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/intl"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/node"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/web"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
	"github.com/airlock-run/airlock/sandbox/internal/vfs"
)

// A guest reaches the host in two ways, both over the one host call and both by the name of an operation:
//
//   - internal.sync(name, …) is answered before it returns: computation that Go does better (hashes, URLs, encodings).
//   - internal.request(name, payload) returns a promise (requests.go).
//
// This file decides which names exist for a run, from its grants alone. A name that does not exist is refused, however
// the guest reached the host call.

// platform are the synchronous operations that every guest may call and that need nothing of the run but its limits.
var platform = joined(web.Ops, crypto.Ops, compress.Ops, intl.Ops, node.Ops)

func joined(parts ...map[string]hostops.Op) map[string]hostops.Op {
	all := make(map[string]hostops.Op)
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// own are the synchronous operations that every guest may call and that depend on its run.
var own = map[string]func(*run, *hostops.Call, []quickjs.Value) (quickjs.Value, error){
	"exit":         exitOp,
	"exit.code":    exitCodeOp,
	"module":       moduleOp,
	"sleep":        sleepOp,
	"stack.call":   callOp,
	"stack.frames": framesOp,
	"stack.trace":  traceOp,
	"timeOrigin":   timeOriginOp,
	"wait.check":   waitOp,
}

// powers is what a run can do by its grants.
type powers struct {
	// sync are the synchronous operations that only the grants give.
	sync map[string]hostops.Op
	// setup describes the grants to the library, as JSON; nil if there is nothing to describe.
	setup []byte
	files *vfs.FS // nil for none
	// client is the network of the run and of its tools; nil for none.
	client *egress.Client
}

// told returns a hash of the setup.
func (p *powers) told() [sha256.Size]byte { return sha256.Sum256(p.setup) }

// operation returns the synchronous operation of a name, nil if the run has none.
func (r *run) operation(name string) hostops.Op {
	if op := platform[name]; op != nil {
		return op
	}
	if op := own[name]; op != nil {
		return func(c *hostops.Call, args []quickjs.Value) (quickjs.Value, error) { return op(r, c, args) }
	}
	return r.powers.sync[name]
}

// setup describes the grants and the arguments of a run to the library before the code starts.
type setup struct {
	Tools   []setupTool       `json:"tools,omitempty"`
	Secrets map[string]string `json:"secrets,omitempty"` // placeholders by name
	Network bool              `json:"network,omitempty"`
	Steps   bool              `json:"steps,omitempty"`
	Depth   int               `json:"stackDepth,omitempty"`
	Base    string            `json:"base,omitempty"` // of api.request's paths
	Args    []string          `json:"args,omitempty"` // of the program
}

type setupTool struct {
	Namespace string `json:"namespace"`
	Method    string `json:"method"`
	Name      string `json:"name"`
	Blocking  bool   `json:"blocking"`
	Any       bool   `json:"any"`
}

// grant makes the operations that the grants allow and returns the func that ends them. An error is the host's, such as
// an invalid tool.
func (r *run) grant(script Script) (end func(), err error) {
	g := &r.grants
	r.powers.sync = map[string]hostops.Op{}
	r.requests.counted, r.requests.followUps = map[string]hostops.Request{}, map[string]hostops.Request{}
	segment{r}.grantWaits()
	var told setup
	end = func() {}
	var client *egress.Client
	remote := func(t Tool) bool { return t.Call == nil && !t.Durable }
	if g.Network.Mode != NetworkNone || slices.ContainsFunc(g.Tools, remote) {
		client = r.newClient(script.TraceParent)
		end, r.powers.client = client.Close, client
	}
	if g.Network.Mode != NetworkNone {
		end = r.grantNetwork(client, &told)
	}
	if err := r.grantFiles(script.Files); err != nil {
		end()
		return nil, err
	}
	if err := r.grantTools(script.ID, client, &told); err != nil {
		end()
		return nil, err
	}
	if told.Steps = g.Debug.Steps; told.Steps {
		r.powers.sync["step"] = r.inspector.op(&r.outside)
	}
	if g.Debug.Profile || g.Debug.StackTraces {
		told.Depth = sampleDepth
	}
	told.Args = script.Args
	if len(told.Tools)+len(told.Secrets)+len(told.Args) > 0 || told.Network || told.Steps || told.Depth > 0 {
		text, err := json.Marshal(told)
		if err != nil {
			end()
			return nil, fmt.Errorf("encode the setup of the guest: %w", err)
		}
		r.powers.setup = text
		r.powers.sync["setup"] = func(c *hostops.Call, _ []quickjs.Value) (quickjs.Value, error) {
			return c.In.ParseJSON(text)
		}
	}
	return end, nil
}

func (r *run) newClient(traceParent string) *egress.Client {
	return egress.NewClient(egress.Config{
		Rules: r.grants.Network.rules(), Dialer: r.engine.egress.dialer(), Seed: r.outside.seed, Wall: r.limits.Wall,
		MaxBytes: r.limits.FetchBytes, TooMuch: r.limits.exceeded(LimitFetchBytes), Memory: &r.memory,
		TraceParent: traceParent,
	})
}

func (r *run) grantNetwork(client *egress.Client, told *setup) (end func()) {
	n := &r.grants.Network
	x := egress.NewExchanges(client, &r.memory)
	x.Later = r.segment > 0
	r.requests.counted["fetch"] = x.Fetch
	r.requests.followUps["fetch.read"] = x.Read
	r.powers.sync["fetch.send"], r.powers.sync["fetch.abort"] = x.Upload, x.Abort
	told.Network = n.Mode == NetworkPublic || n.Mode == NetworkAllowlist && len(n.Hosts) > 0
	told.Base = baseOf(*n)
	for _, s := range n.Secrets {
		if told.Secrets == nil {
			told.Secrets = map[string]string{}
		}
		told.Secrets[s.Name] = egress.Placeholder(r.outside.secretSeed(), s.Name)
	}
	return x.Close
}

// baseOf returns what paths of api.request are relative to: the one host that a run may reach, if there is one.
func baseOf(n Network) string {
	if len(n.Hosts) != 1 {
		return ""
	}
	host, port := address.SplitPattern(n.Hosts[0])
	name, addr, err := address.Host(host)
	if err != nil {
		return ""
	}
	scheme := "https://"
	opened := address.Hosts(n.OpenedHosts).Match(name, 0).OK
	if addr.IsValid() && address.ClassOf(addr) != address.Public || opened && name == "localhost" {
		scheme = "http://"
	}
	if addr.Is6() {
		name = "[" + name + "]"
	}
	if port != "" {
		name += ":" + port
	}
	return scheme + name
}

func (r *run) grantFiles(files map[string][]byte) (err error) {
	if r.grants.Files == FilesNone {
		return nil
	}
	r.powers.files, err = vfs.New(vfs.Config{
		Writable: r.grants.Files >= FilesWrite, MaxBytes: r.limits.FileBytes, MaxFiles: r.limits.FileCount,
		TooMuch: r.limits.exceeded(LimitFiles), Memory: &r.memory, Package: (importer{r}).packageFiles,
	}, files)
	if err == nil {
		maps.Copy(r.powers.sync, r.powers.files.Ops())
	}
	return err
}

// packageFiles returns the files of a package that the code imports, or that such a package depends on. Its place is
// one in the trees of packages; it returns nil for another place.
func (r importer) packageFiles(place string, work func(n int) error) (map[string][]byte, error) {
	for _, p := range r.grants.Packages {
		if p.Files == nil || p.Damaged || !slices.Contains(r.result.Packages, p.PackageID) {
			continue
		}
		if files, err := p.Files(place, work); files != nil || err != nil {
			return files, err
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

// exitOp answers exit(code, result): it ends the run.
func exitOp(r *run, c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	code, _ := a[0].Int()
	if c.In.Len(a[1]) > r.limits.OutputBytes {
		return 0, r.limits.exceeded(LimitOutput)
	}
	value, ok, err := c.Str(a[1], r.limits.OutputBytes)
	if err != nil {
		return 0, err
	}
	if !ok {
		value = "null"
	}
	return 0, &exited{code, []byte(value)}
}

// exitCodeOp answers exit.code(code): it keeps the code that a program without process.exit ends with.
func exitCodeOp(r *run, _ *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	code, _ := a[0].Int()
	r.result.ExitCode = int(code)
	return quickjs.Undefined, nil
}

// moduleOp answers module(id): it returns whether the run may load a module.
func moduleOp(r *run, c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	g := node.Grants{Modules: r.grants.Modules, Files: r.grants.Files >= FilesRead, Hint: r.grants.ModuleHint,
		Code: r.source.Text, Required: r.held.Notes.Requires, Withheld: func(name string) bool {
			return slices.Contains(r.grants.Withheld, source.PackageName(name))
		}, Installed: func(name string) bool {
			return slices.ContainsFunc(r.grants.Packages, func(p Package) bool { return p.Name == source.PackageName(name) })
		}}
	return node.Load(c, a, &g)
}

// framesOp answers stack.frames(stack): it returns where the frames begin in a stack that the engine has made, in
// UTF-16 units. It returns -1 for a stack that the guest has set.
func framesOp(r *run, c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	stack, ok := c.Word(a[0], maxErrorText)
	if err := c.Work(4 * len(stack)); err != nil {
		return 0, err
	}
	if !ok || r.source == nil {
		return quickjs.Int(-1), nil
	}
	at := r.source.FrameStart(stack)
	if at < 0 {
		return quickjs.Int(-1), nil
	}
	return quickjs.Int(int32(len(utf16.Encode([]rune(stack[:at]))))), nil
}

// sleepOp answers sleep(ms): it returns when the time has passed. A seeded run does not wait: its clock advances.
func sleepOp(r *run, c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	ms, _ := a[0].Int()
	pause := time.Duration(max(ms, 0)) * time.Millisecond
	switch {
	case r.outside.seeded:
		r.outside.virtual += pause
	case r.grants.Replay == nil:
		alarm := time.NewTimer(min(pause, max(r.limits.Wall-r.outside.elapsed(), 0)))
		defer alarm.Stop()
		select {
		case <-alarm.C:
		case <-r.ctx.Done():
		}
	}
	if r.outside.elapsed() >= r.limits.Wall {
		return 0, r.limits.exceeded(LimitWall)
	}
	return quickjs.Undefined, c.Poll(c.In)
}

// callOp answers stack.call(frame): it returns the text of the call at the position of a frame of the guest's, or "".
func callOp(r *run, c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	frame, ok := c.Word(a[0], maxErrorText)
	if err := c.Work(4 * len(frame)); err != nil {
		return 0, err
	}
	if !ok || r.source == nil {
		return c.NewString("")
	}
	text, read := r.source.Call(frame)
	if err := c.Work(read); err != nil {
		return 0, err
	}
	return c.NewString(text)
}

// traceOp answers stack.trace(head, frames): it returns V8's message of an error that the engine throws, or "", and the
// frames as the guest sees them. The message names no tools, since an image may keep it.
func traceOp(r *run, c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	head, _ := c.Word(a[0], maxErrorText)
	frames, ok := c.Word(a[1], maxErrorText)
	if err := c.Work(4 * (len(head) + len(frames))); err != nil {
		return 0, err
	}
	if !ok || r.source == nil {
		return c.NewJSON([]string{"", ""})
	}
	frames = r.frames(frames)
	message, read, worded := r.source.Word(head, frames)
	text, looked := r.source.Trace(frames)
	if err := c.Work(read + looked); err != nil {
		return 0, err
	}
	if !worded {
		message = ""
	}
	return c.NewJSON([]string{message, text})
}

// timeOriginOp answers timeOrigin(): it returns when the run began, in milliseconds since the Unix epoch.
func timeOriginOp(r *run, c *hostops.Call, _ []quickjs.Value) (quickjs.Value, error) {
	return c.NewJSON(float64(r.outside.origin()) / float64(time.Millisecond))
}

package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// setup is what the library is told of a run's grants before the code starts.
type setup struct {
	Tools   []setupTool       `json:"tools,omitempty"`
	Secrets map[string]string `json:"secrets,omitempty"`
	Network bool              `json:"network,omitempty"`
	Steps   bool              `json:"steps,omitempty"`
	Depth   int               `json:"stackDepth,omitempty"`
	Base    string            `json:"base,omitempty"` // of api.request's paths
}

type setupTool struct {
	Namespace string `json:"namespace"`
	Method    string `json:"method"`
	Name      string `json:"name"`
	Blocking  bool   `json:"blocking"`
	Bare      bool   `json:"bare"` // gives null, not {}, for no parameters
}

// grant makes operations of what the run was granted, and gives what ends them. The error is the host's: a tool that
// cannot be one.
func (r *run) grant(script Script, g Grants, config Egress) (func(), error) {
	r.async, r.followUps, r.syncOps = map[string]asyncOp{}, map[string]asyncOp{}, map[string]syncOp{}
	closing := func() {}
	var told setup
	var e *egress
	if g.Network.Mode != NetworkNone || slices.ContainsFunc(g.Tools, func(t Tool) bool { return t.Call == nil }) {
		e = &egress{network: g.Network, config: config, seed: r.result.Seed, limits: r.limits, memory: r, trace: script.TraceParent}
		closing = e.close
	}
	if g.Network.Mode != NetworkNone {
		x := newExchanges(e, r)
		closing = x.close
		r.async["fetch"] = x.fetch
		r.followUps["fetch.read"] = x.read
		r.syncOps["fetch.send"], r.syncOps["fetch.abort"] = x.uploadOp, x.abortOp
		told.Base = baseOf(g.Network)
		for _, s := range g.Network.Secrets {
			if told.Secrets == nil {
				told.Secrets = map[string]string{}
			}
			told.Secrets[s.Name] = placeholder(r.outside.seed(), s.Name)
		}
	}
	if err := r.grantFiles(script, g.Files); err != nil {
		closing()
		return nil, err
	}
	if err := r.grantTools(script, g, e, &told); err != nil {
		closing()
		return nil, err
	}
	told.Network = g.Network.Mode == NetworkPublic || g.Network.Mode == NetworkAllowlist && len(g.Network.Hosts) > 0
	if told.Steps = g.Debug.Steps; told.Steps {
		r.syncOps["step"] = r.stepOp
	}
	if g.Debug.Profile || g.Debug.StackTraces {
		told.Depth = sampleDepth
	}
	if len(told.Tools) > 0 || len(told.Secrets) > 0 || told.Network || told.Steps || told.Depth > 0 {
		text, err := json.Marshal(told)
		if err != nil {
			closing()
			return nil, fmt.Errorf("tell the guest its grants: %w", err)
		}
		r.setup = text
		r.syncOps["setup"] = func(c *call, _ []quickjs.Value) (quickjs.Value, error) {
			return c.in.ParseJSON(text)
		}
	}
	return closing, nil
}

func (r *run) grantTools(script Script, g Grants, e *egress, told *setup) error {
	if len(g.Tools)+len(g.HostCalls) == 0 {
		return nil
	}
	all := make([]Tool, 0, len(g.Tools)+len(g.HostCalls))
	for _, t := range g.Tools {
		switch {
		case t.Call != nil:
		case t.Over != nil:
			t.Call = t.Over(toolNetwork{e})
		case t.URL != "":
			t.Call = httpCall(t, e, script.ID)
		}
		all = append(all, t)
	}
	for _, name := range slices.Sorted(maps.Keys(g.HostCalls)) {
		all = append(all, Tool{Name: name, Call: g.HostCalls[name]})
	}
	r.tools = make(map[string]*tool, len(all))
	seen := map[[2]string]string{}
	for i, t := range all {
		made, err := newTool(t, r.limits.Depth)
		if err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		namespace, method := ToolGlobal(t.Name)
		if other, taken := seen[[2]string{namespace, method}]; taken {
			return fmt.Errorf("tools %q and %q are both called as %s.%s", other, t.Name, namespace, method)
		}
		seen[[2]string{namespace, method}] = t.Name
		r.tools[t.Name] = made
		made.memory = r
		r.async["tool:"+t.Name] = func(ctx context.Context, payload string) (answer, error) {
			out, err := made.call(ctx, payload)
			return answer{JSON: out}, err
		}
		told.Tools = append(told.Tools, setupTool{namespace, method, t.Name, t.Blocking, i >= len(g.Tools)})
	}
	r.syncOps["tool"] = r.toolOp
	return nil
}

// baseOf is what paths of api.request are relative to: the one host that a run may reach, when there is one.
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

// MaxWall returns how long a run with these grants may take. A repeated run may take longer than the recorded one: machines
// differ, and are busy.
func (g Grants) MaxWall() time.Duration {
	wall := g.Limits.Wall
	if wall <= 0 {
		wall = defaultWall
	}
	if g.Replay != nil {
		return replaySlack*wall + replayGrace
	}
	return wall
}

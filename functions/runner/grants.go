package runner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/sandbox"
)

func scriptOf(inv execution.Invocation) sandbox.Script {
	q := inv.Request
	s := sandbox.Script{
		ID: parent(inv), Code: q.Code, TypeScript: q.Language == "typescript", Entry: q.Entry, Context: q.Context,
		Input: q.Input, Args: q.Args,
		Seed: q.Seed, Version: version(inv), Owner: inv.Caller.Tenant, TraceParent: inv.TraceParent,
	}
	if len(q.Files) > 0 {
		s.Files = make(map[string][]byte, len(q.Files))
		for name, content := range q.Files {
			s.Files[name] = content
		}
	}
	return s
}

// parent returns the ID of the execution that an invocation is a segment of.
func parent(inv execution.Invocation) string {
	if inv.Resume != nil {
		return inv.Resume.Parent
	}
	return inv.ID
}

// version identifies the warm state that a saved function may start from. No two tenants, functions, versions or
// tiers share it.
func version(inv execution.Invocation) string {
	if inv.Function == nil {
		return ""
	}
	return fmt.Sprintf("%q %q %d %q %s", inv.Caller.Tenant, inv.Function.Name, inv.Function.Version, inv.Request.Policy,
		inv.Content)
}

// grantsOf returns the sandbox's grants: the policy's, with the tools of the request that it grants.
// s says whether the execution is kept if it pauses.
func (r *Runner) grantsOf(
	g policy.Grants, q execution.Request, s execution.Segments, calls ToolCalls,
) (sandbox.Grants, error) {
	memory := g.MemoryBytes
	if r.cfg.MaxMemoryBytes > 0 {
		memory = min(memory, r.cfg.MaxMemoryBytes)
	}
	out := PackageGrants(g, r.cfg.Packages)
	out.Limits = sandbox.Limits{
		Wall: g.Timeout, CPU: g.CPU, MemoryBytes: memory, OutputBytes: int(g.OutputBytes),
		LogEntries: g.LogEntries, EndOnLogs: q.Limits.OnLogs == execution.OnLogsError,
		LogChars: g.LogChars, APICalls: g.APICalls, Depth: g.Depth,
		Ticks: q.Limits.Ticks, FetchBytes: min(q.Limits.FetchBytes, governance.MaxFetchBytes),
		FileBytes: min(q.Limits.FileBytes, governance.MaxFileBytes),
	}
	out.ModuleHint, out.Network, out.Waits = moduleHint(q.Policy), NetworkOf(g), waitsOf(g.Waits, s)
	out.Network.Secrets = r.secretsOf(g)
	if d := q.Debug; d != nil {
		out.Debug = sandbox.Debug{StackTraces: d.StackTraces, Profile: d.Profile, Steps: d.Steps}
	}
	for i, t := range q.Tools {
		if !slices.Contains(g.Tools, t.Name) {
			continue
		}
		tool := sandbox.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, URL: t.URL,
			Approval: t.Approval == execution.ApprovalRequired, Durable: t.Durable, AnyMethod: t.AnyMethod(),
		}
		if t.Via == execution.ToolOfCaller {
			tool.Call = r.callerTool(t.Name)
		} else if call, timeout, ok := calls.Tool(t.Name); ok && t.URL == "" && !t.Durable {
			if tool.CallVia, tool.Timeout = call, timeout; sandbox.CheckTool(tool) != nil {
				tool.InputSchema, tool.OutputSchema = nil, nil // these are the server's, which checks its own input
			}
		}
		if err := sandbox.CheckTool(tool); err != nil {
			field, message, _ := strings.Cut(err.Error(), ": ")
			return sandbox.Grants{}, &execution.Error{
				Code: execution.InvalidRequest, Field: fmt.Sprintf("tools[%d].%s", i, field), Message: message,
			}
		}
		out.Tools = append(out.Tools, tool)
	}
	return out, nil
}

// PackageGrants returns the packages that g grants, and what else of g their evaluation can observe.
func PackageGrants(g policy.Grants, packages []sandbox.Package) sandbox.Grants {
	out := sandbox.Grants{Eval: g.Eval, Files: fileAccess(g.Files), Modules: g.Modules}
	for _, p := range packages {
		if slices.Contains(g.Packages, p.Name) {
			out.Packages = append(out.Packages, p)
		} else {
			out.Withheld = append(out.Withheld, p.Name)
		}
	}
	return out
}

// NetworkOf returns the network that g grants, without secrets.
func NetworkOf(g policy.Grants) sandbox.Network {
	return sandbox.Network{Mode: networkMode(g.Network), Hosts: g.Hosts, OpenedHosts: g.OpenedHosts}
}

func fileAccess(access string) sandbox.FileAccess {
	switch access {
	case policy.FilesRead:
		return sandbox.FilesRead
	case policy.FilesWrite:
		return sandbox.FilesWrite
	}
	return sandbox.FilesNone
}

// moduleHint returns a func that names the weakest built-in tier with a module.
func moduleHint(tier string) func(string) string {
	if tier == "" {
		tier = policy.DefaultTier
	}
	return func(name string) string {
		for _, t := range policy.Builtin() {
			has := slices.Contains(t.Modules, name) || slices.Contains(t.Modules, policy.AnyModule) ||
				name == "fs" && t.Files != policy.FilesNone
			if has && t.Name != tier {
				return fmt.Sprintf("policy %s does not have it, policy %s does", tier, t.Name)
			}
		}
		return ""
	}
}

func networkMode(mode string) sandbox.NetworkMode {
	switch mode {
	case policy.NetworkAllowlist:
		return sandbox.NetworkAllowlist
	case policy.NetworkPublic:
		return sandbox.NetworkPublic
	}
	return sandbox.NetworkNone
}

// secretsOf returns the granted secrets for which the deployment has values.
func (r *Runner) secretsOf(g policy.Grants) []sandbox.Secret {
	var out []sandbox.Secret
	for _, name := range g.Secrets {
		if value := r.cfg.Secret(name); value != "" {
			out = append(out, sandbox.Secret{Name: name, Value: value, Hosts: g.SecretHosts[name]})
		}
	}
	return out
}

// shallow returns an error if the values of a request nest deeper than its tier accepts. Decoding enforces the limit
// of all tiers.
func shallow(q execution.Request, most int) error {
	if most <= 0 || most >= execution.MaxDepth {
		return nil
	}
	refuse := func(field string, value []byte) error {
		if path := depth.Over(value, field, most); path != "" {
			return &execution.Error{Code: execution.InvalidRequest, Field: field,
				Message: "is nested more than " + strconv.Itoa(most) + " levels deep: " + path}
		}
		return nil
	}
	if err := refuse("input", q.Input); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(q.Context)) {
		if err := refuse("context."+name, q.Context[name]); err != nil {
			return err
		}
	}
	return nil
}

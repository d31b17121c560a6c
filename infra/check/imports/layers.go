package imports

import (
	"fmt"
	"slices"
	"strings"
)

// gatewayLayers are the packages below gateway and what each layer is for, lowest first. A package imports only
// packages of lower layers, and never package gateway.
var gatewayLayers = []gatewayLayer{
	{"clocks, counters, credentials", []string{
		"authn", "client", "declarations", "meter", "monotonic", "schedule", "semaphore", "waits",
	}},
	{"limits and memory", []string{"bounds", "queue", "ratelimit", "results"}},
	{"connections and markup", []string{"console", "httpconn"}},
	{"what all handlers share", []string{"api"}},
	{"what stands before handlers, and records", []string{"access", "idempotency", "openapi", "records"}},
	{"handlers", []string{"dashboard", "hooks", "interpreter", "jobs", "piston", "stream"}},
	{"what needs webhooks and jobs", []string{"callbacks", "registry", "sessions"}},
	{"agents, who may use all of it", []string{"mcp"}},
}

type gatewayLayer struct {
	purpose  string
	packages []string
}

// layer returns the number of the layer of a package below gateway, and -1 if it has none.
func layer(path string) int {
	name, below := strings.CutPrefix(path, "gateway/")
	if !below {
		return -1
	}
	name, _, _ = strings.Cut(name, "/")
	return slices.IndexFunc(gatewayLayers, func(l gatewayLayer) bool { return slices.Contains(l.packages, name) })
}

// layerViolation returns a line about an import from one package below gateway that the layers do not allow, or "".
func layerViolation(path, target string) string {
	if !strings.HasPrefix(path, "gateway/") || !within(target, "gateway") || within(target, firstTwo(path)) {
		return ""
	}
	from, to := layer(path), layer(target)
	switch {
	case from < 0:
		return fmt.Sprintf("%s is in no layer of the gateway", path)
	case target == "gateway":
		return path + " imports gateway, which no package below it may import"
	case to >= from:
		return fmt.Sprintf("%s imports %s, which is not in a lower layer of the gateway", path, target)
	}
	return ""
}

// firstTwo returns the first two folders of a path.
func firstTwo(path string) string {
	parts := strings.SplitN(path, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}

// GatewayMarkdown returns the layers of the gateway for documents, highest first.
func GatewayMarkdown() string {
	var b strings.Builder
	b.WriteString("| layer | packages | |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| %d | `gateway` | the execution path, the routes, and what connects the packages below |\n",
		len(gatewayLayers)+1)
	for i, l := range slices.Backward(gatewayLayers) {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", i+1, quoted(l.packages), l.purpose)
	}
	fmt.Fprintf(&b, "\nBesides lower layers, they import %s and the leaves: %s.\n",
		quoted(slices.DeleteFunc(slices.Clone(permitted["gateway"]), func(p string) bool { return p == "gateway/..." })),
		quoted(leaves))
	return b.String()
}

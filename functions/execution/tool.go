package execution

import "strings"

// ToolGlobal gives the global and its method by which the guest calls a tool: "namespace:method" and "namespace.method"
// are namespace.method, "namespace" alone is namespace.call. What is no ASCII letter, digit, _ or $ becomes _.
func ToolGlobal(name string) (namespace, method string) {
	separator := "."
	if strings.Contains(name, ":") {
		separator = ":"
	}
	namespace, method, _ = strings.Cut(name, separator)
	if method = sanitized(strings.ReplaceAll(method, separator, "_")); method == "" {
		method = "call"
	}
	return sanitized(namespace), method
}

// sanitized works on UTF-16 units, as the JavaScript that these rules come from did.
func sanitized(name string) string {
	var out strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '$':
			out.WriteRune(r)
		case r > 0xffff:
			out.WriteString("__")
		default:
			out.WriteByte('_')
		}
	}
	return out.String()
}

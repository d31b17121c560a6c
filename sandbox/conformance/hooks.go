package conformance

import (
	"slices"
	"strings"
)

// hooks are the host functions that test262 asks for, as far as a guest may have them.
const hooks = `var print = globalThis.print ?? console.log;
var $262 = {
	global: globalThis,
	gc() {},
	detachArrayBuffer(buffer) { buffer.transfer(); },
	createRealm() { throw new Error("createRealm is forbidden"); },
	evalScript() { throw new Error("evalScript is forbidden"); },
	agent: new Proxy({}, { get() { throw new Error("agent is forbidden"); } }),
	AbstractModuleSource: undefined,
};`

// forbidden returns the host hook that a test needs and no guest gets, or "". A guest is one realm, one thread and
// one program, and makes no others. Modules reach it bundled, never by a loader of its own.
func forbidden(fm frontmatter, text string) string {
	for _, hook := range []string{"createRealm", "evalScript", "agent", "AbstractModuleSource", "IsHTMLDDA"} {
		if strings.Contains(text, "$262."+hook) || slices.Contains(fm.Features, hook) {
			return hook
		}
	}
	if slices.Contains(fm.Includes, "nativeFunctionMatcher.js") {
		return ""
	}
	if slices.Contains(fm.Flags, "module") &&
		(strings.Contains(text, "from '") || strings.Contains(text, "from \"") || strings.Contains(text, "import '") ||
			strings.Contains(text, "import \"")) || strings.Contains(text, "import(") || strings.Contains(text, "_FIXTURE") {
		return "module-loader"
	}
	if slices.Contains(fm.Flags, "CanBlockIsFalse") {
		return "CanBlockIsFalse"
	}
	return ""
}

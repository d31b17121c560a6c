package scan

// power is what a tier must grant for a symbol to be no threat.
type power uint8

const (
	neverGranted power = iota
	evalPower
	networkPower
	readPower
	writePower
	modulePower // the module that the finding names
)

// role is what a call of a symbol means to the analyser beyond being a finding.
type role uint8

const (
	noRole role = iota
	roleEval
	roleFunction // Function and its relatives: builds code from strings
	roleRequire  // require(name), createRequire's result, _load
	roleMakeRequire
	roleReflectGet
	roleReflectApply
	roleReflectConstruct
	roleReflectSet
	roleGetPrototype
	roleDescriptor
	roleDescriptors
	roleIdentity // gives its first argument: Proxy, Object.create, Object.freeze …
	roleAssign   // Object.assign(target, …)
	roleDefine   // Object.defineProperty(target, …)
	roleValues   // Object.values, Object.entries: the members come out unnamed
	roleCharCode
	roleDecode // atob, unescape, decodeURIComponent, Buffer.from
	roleEncode // btoa
	roleTimeout
	roleInterval
	roleClear
	roleRaw // String.raw
	roleString
	roleParseInt
	roleWorker // takes a source text when told to
	roleCallee // arguments.callee
	rolePromise
	roleSpread  // Array.from
	roleKeys    // Object.keys
	roleParse   // JSON.parse
	roleEscape  // escape
	rolePercent // encodeURIComponent
	roleSymbol  // Symbol(description)
	roleTask    // queueMicrotask and its like: calls a function soon
)

// symbol is one name of the catalogue: a global, a module, or a member of one.
type symbol struct {
	name     string
	category string
	power    power
	role     role
	// onUse makes only a call or construction a finding; otherwise reading the name already is one.
	onUse bool
	// module names the module that a symbol stands for.
	module string
	// class marks a built-in constructor, whose prototype is everybody's.
	class bool
	// callable marks a function, whose constructor is Function.
	callable bool
	members  map[string]*symbol
	// rest stands for every member that is not listed; nil means that those are nothing special.
	rest *symbol
}

// member gives the symbol of one member, or nil.
func (s *symbol) member(name string) *symbol {
	if m, ok := s.members[name]; ok {
		return m
	}
	if name == "constructor" || name == "__esModule" {
		return nil // every object has the one, and compilers ask every module for the other
	}
	return s.rest
}

func (s *symbol) isFunction() bool {
	return s.callable || s.class || s.role != noRole || s.onUse || s.category != "" && s.module == ""
}

// group makes one symbol per name, all alike but for their names.
func group(prefix string, like symbol, names ...string) map[string]*symbol {
	out := make(map[string]*symbol, len(names))
	for _, n := range names {
		s := like
		s.name = prefix + n
		out[n] = &s
	}
	return out
}

// join puts maps of symbols together; a later one wins.
func join(parts ...map[string]*symbol) map[string]*symbol {
	out := map[string]*symbol{}
	for _, p := range parts {
		for name, s := range p {
			out[name] = s
		}
	}
	return out
}

package catalogue

// Power is the power that a tier must grant for a symbol to be harmless.
type Power uint8

const (
	NeverGranted Power = iota
	EvalPower
	NetworkPower
	ReadPower
	WritePower
	ModulePower // the module that the finding names
	FilePower   // nothing: the source is a file, whose exports are how others use it
)

// Role is the meaning of a symbol's call to the analysis, in addition to a finding.
type Role uint8

const (
	NoRole Role = iota
	RoleEval
	RoleFunction // Function and its relatives: builds code from strings
	RoleRequire  // require(name), createRequire's result, _load
	RoleMakeRequire
	RoleReflectGet
	RoleReflectApply
	RoleReflectConstruct
	RoleReflectSet
	RoleGetPrototype
	RoleDescriptor
	RoleDescriptors
	RoleIdentity // returns its first argument: Proxy, Object.create, Object.freeze …
	RoleAssign   // Object.assign(target, …)
	RoleDefine   // Object.defineProperty(target, …)
	RoleValues   // Object.values, Object.entries: returns the members without their names
	RoleCharCode
	RoleDecode // atob, unescape, decodeURIComponent, Buffer.from
	RoleEncode // btoa
	RoleTimeout
	RoleInterval
	RoleClear
	RoleRaw // String.raw
	RoleString
	RoleParseInt
	RoleWorker // takes a source text when told to
	RoleCallee // arguments.callee
	RolePromise
	RoleSpread  // Array.from
	RoleKeys    // Object.keys
	RoleParse   // JSON.parse
	RoleEscape  // escape
	RolePercent // encodeURIComponent
	RoleSymbol  // Symbol(description)
	RoleCreate  // Object.create: a new object that inherits from the first argument
	RoleSetPrototype
	RoleBinding   // process.binding
	RoleStringify // JSON.stringify
	RoleTask      // queueMicrotask and its like: calls a function soon
)

// A Symbol is one name of the catalogue: a global, a module, or a member of one.
type Symbol struct {
	Name     string
	Category string
	Power    Power
	Role     Role
	// OnUse makes only a call or construction a finding. Otherwise reading the name is one already.
	OnUse bool
	// Module is the name of the module that a symbol stands for.
	Module string
	// Foreign marks what only hosts other than Node have. A guest has none of it.
	Foreign bool
	// Class marks a built-in constructor, whose prototype is shared.
	Class bool
	// Callable marks a function, whose constructor is Function.
	Callable bool
	Members  map[string]*Symbol
	// rest stands for every member that is not listed. If it is nil, those are nothing special.
	rest *Symbol
	// known are the names of the members that rest stands for; nil for any. A bundle's modules may be one of Node's or
	// one of its own, whose members are none of Node's.
	known map[string]bool
}

// Member returns the symbol of one member, or nil.
func (s *Symbol) Member(name string) *Symbol {
	if m, ok := s.Members[name]; ok {
		return m
	}
	switch name {
	case "constructor", "__esModule", "default", "then":
		return nil // every object has the first, compilers ask modules for the next two, and an import is a promise
	}
	if s.known != nil && name != "" && !s.known[name] {
		return nil
	}
	return s.rest
}

func (s *Symbol) IsFunction() bool {
	return s.Callable || s.Class || s.Role != NoRole || s.OnUse || s.Category != "" && s.Module == ""
}

// BuildsCode reports whether calling the symbol runs a string as code, or makes a function of one.
func (s *Symbol) BuildsCode() bool { return s.Role == RoleFunction || s.Role == RoleEval }

// group returns one symbol per name. They differ only in their names.
func group(prefix string, like Symbol, names ...string) map[string]*Symbol {
	out := make(map[string]*Symbol, len(names))
	for _, n := range names {
		s := like
		s.Name = prefix + n
		out[n] = &s
	}
	return out
}

// join returns the union of maps of symbols. A later map wins.
func join(parts ...map[string]*Symbol) map[string]*Symbol {
	out := map[string]*Symbol{}
	for _, p := range parts {
		for name, s := range p {
			out[name] = s
		}
	}
	return out
}

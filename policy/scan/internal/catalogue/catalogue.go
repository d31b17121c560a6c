package catalogue

import "github.com/airlock-run/airlock/policy/threat"

// A Catalogue holds what a scan knows by name: the globals of JavaScript hosts and their modules. It never changes.
type Catalogue struct {
	Globals map[string]*Symbol
	Modules map[string]*Symbol
	// Packages maps packages that have one purpose to a category.
	Packages map[string]string
	// AnyModule stands for a module whose name is not known. Its members are known by their own names.
	AnyModule *Symbol
	// Methods are members that count even on an unknown receiver.
	Methods    map[string]*Symbol
	ImportMeta *Symbol
	// Function is the constructor of functions.
	Function *Symbol
	// ListedEval is eval as a value in a table. Only calling it is a finding.
	ListedEval *Symbol
	// Lengths has, by the first byte of a global's name, a bit for each length. Most names of programs match none.
	Lengths [256]uint64
}

func New() *Catalogue {
	c := &Catalogue{Modules: modules(), Packages: packages()}
	c.Globals = globals(c.Modules)
	for name := range c.Globals {
		c.Lengths[name[0]] |= 1 << len(name)
	}
	c.Function = c.Globals["Function"]
	listed := *c.Globals["eval"]
	listed.OnUse = true
	c.ListedEval = &listed
	telling := map[string]*Symbol{}
	for _, name := range []string{"fs", "vm", "child_process", "net", "dgram", "http", "https", "tls", "http2",
		"process"} {
		for member, s := range c.Modules[name].Members {
			if s.Category != "" {
				telling[member] = s
			}
		}
	}
	c.ImportMeta = &Symbol{Name: "import.meta", Members: map[string]*Symbol{
		"env":      {Name: "import.meta.env", Category: threat.EnvironmentAccess},
		"dirname":  {Name: "import.meta.dirname", Category: threat.EnvironmentAccess},
		"filename": {Name: "import.meta.filename", Category: threat.EnvironmentAccess},
		"resolve":  {Name: "import.meta.resolve", Category: threat.ModuleLoading, Callable: true},
	}}
	c.AnyModule = &Symbol{Name: "module", Module: "?", Members: telling}
	c.Methods = map[string]*Symbol{}
	for _, name := range []string{"execSync", "execFile", "execFileSync", "spawnSync"} {
		c.Methods[name] = c.Modules["child_process"].Members[name]
	}
	for _, name := range []string{"readFileSync", "writeFileSync", "appendFileSync", "unlinkSync", "rmSync", "rmdirSync",
		"mkdirSync", "readdirSync", "copyFileSync", "renameSync", "chmodSync", "symlinkSync", "createWriteStream"} {
		c.Methods[name] = c.Modules["fs"].Members[name]
	}
	for _, name := range []string{"runInThisContext", "runInNewContext"} {
		c.Methods[name] = c.Modules["vm"].Members[name]
	}
	return c
}

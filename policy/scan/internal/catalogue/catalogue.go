package catalogue

import "github.com/airlock-run/airlock/policy/threat"

// Catalogue is what the analyser knows by name: the globals of JavaScript hosts and their modules. It is built once per Set
// and only read afterwards.
type Catalogue struct {
	Globals map[string]*Symbol
	Modules map[string]*Symbol
	// packages gives the category of packages that have one purpose.
	Packages map[string]string
	// anyModule stands for a module loaded under a name that could not be told: its members are known by their own names.
	AnyModule *Symbol
	// methods are members so telling that they count on a receiver nothing is known of.
	Methods    map[string]*Symbol
	ImportMeta *Symbol
	// function is Function; eval is eval.
	Function, eval *Symbol
	// lengths has a bit for each length of the globals' names that begin with a byte: most names of programs are none of them.
	Lengths [256]uint64
}

func New() *Catalogue {
	c := &Catalogue{Modules: modules(), Packages: packages()}
	c.Globals = globals(c.Modules)
	for name := range c.Globals {
		c.Lengths[name[0]] |= 1 << len(name)
	}
	c.Function = c.Globals["Function"]
	c.eval = c.Globals["eval"]
	telling := map[string]*Symbol{}
	for _, name := range []string{"fs", "vm", "child_process", "net", "dgram", "http", "https", "tls", "http2", "process"} {
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

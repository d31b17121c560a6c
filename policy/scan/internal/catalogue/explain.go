package catalogue

import "github.com/airlock-run/airlock/policy/threat"

// Explain returns the message of the finding of a symbol.
func Explain(s *Symbol) string {
	name := s.Name
	switch s.Category {
	case threat.CommandExecution:
		return name + " runs commands or native code on the host"
	case threat.CodeInjection:
		return name + " runs code that is built at run time"
	case threat.FilesystemAccess:
		if s.Power == ReadPower {
			return name + " reads files"
		}
		return name + " changes files"
	case threat.NetworkRequest:
		return name + " talks to the network"
	case threat.PrototypePollution:
		return name + " replaces an object's prototype"
	case threat.ModuleLoading:
		return name + " reaches the module system"
	case threat.EnvironmentAccess:
		return name + " reaches the host process or its environment"
	case threat.BufferManipulation:
		return name + " allocates raw memory"
	case threat.WebAssembly:
		return name + " compiles or runs WebAssembly"
	default:
		return name + " is a known threat"
	}
}

package api

import "runtime/debug"

// version is set by make build (-ldflags -X).
var version string

// Version returns the version of this build: what make build found in git, such as v1.2.0 or v1.2.0-3-g1a2b3c4, or
// the version of the module for a program of go install. A build that knows neither is "devel".
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

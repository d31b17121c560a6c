package quickjs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	_ "unsafe" // for go:linkname

	quickjswasi "github.com/aperturerobotics/go-quickjs-wasi-reactor"
	_ "github.com/fastschema/qjs" // the bytes of its engine
)

// Build is one WebAssembly build of the engine.
type Build struct {
	// Name is what results and records call the build: the project and version of the engine.
	Name string
	wasm []byte
	// sha256 is the hash of the build as it was published, and rewritten that of the module that is compiled. Another
	// module is refused.
	sha256, rewritten string
}

//go:linkname qjsModule github.com/fastschema/qjs.wasmBytes
var qjsModule []byte

// Version returns the engine's version, such as 0.15.1.
func (b Build) Version() string { return strings.TrimPrefix(b.Name, "quickjs-ng-") }

// Builds returns the builds that this program has, the default first.
func Builds() []Build {
	return []Build{
		{
			// quickjs-ng's own release for WASI, as go-quickjs-wasi-reactor v0.15.1 carries it.
			Name: "quickjs-ng-0.15.1", wasm: quickjswasi.QuickJSWASM,
			sha256:    "718f30dac3b2b42f2ab18d622f8ca11139e193e40f941519165710e4a9b168a3",
			rewritten: "32c894bdbec7d87b19fab5906e8952f7fead94acfc0e07798ecd7ae715637432",
		},
		{
			// The build that github.com/fastschema/qjs v0.0.6 embeds.
			Name: "quickjs-ng-0.10.1", wasm: qjsModule,
			sha256:    "88fcbeead33cca3ec8394feb0fb3eec8047ec9ac5062aba7a63799cee11989b7",
			rewritten: "8669567acde2d073b8de892d2f3d33ce1092958589b8d99db36f43c91486651e",
		},
	}
}

// BuildNamed returns the build called name; "" is the default.
func BuildNamed(name string) (Build, error) {
	builds := Builds()
	if name == "" {
		return builds[0], nil
	}
	for _, b := range builds {
		if b.Name == name {
			return b, nil
		}
	}
	return Build{}, fmt.Errorf("there is no engine build %q", name)
}

// module returns the engine's module as it was published.
func (b Build) module() ([]byte, error) {
	if sum := hashOf(b.wasm); sum != b.sha256 {
		return nil, fmt.Errorf("engine build %s has sha256 %s, want %s", b.Name, sum, b.sha256)
	}
	return b.wasm, nil
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

package source

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// effectsOf reports whether a file of a package has to be evaluated although nothing that it exports is used. The field
// sideEffects of the package's manifest says so: false for no file, or a list of the files that have to be.
func effectsOf(files map[string][]byte, file string) api.SideEffects {
	at := strings.LastIndex(file, "node_modules/")
	if at < 0 {
		return api.SideEffectsTrue
	}
	root := file[:at] + "node_modules/" + PackageName(file[at+len("node_modules/"):])
	switch effects := sideEffects(files[root+"/package.json"]).(type) {
	case bool:
		if !effects {
			return api.SideEffectsFalse
		}
	case []any:
		name := strings.TrimPrefix(file, root+"/")
		for _, x := range effects {
			pattern, isText := x.(string)
			if !isText || hasEffects(pattern, name) {
				return api.SideEffectsTrue
			}
		}
		return api.SideEffectsFalse
	}
	return api.SideEffectsTrue
}

// sideEffects returns the field of a manifest; nil if there is none.
func sideEffects(text []byte) any {
	var manifest struct {
		SideEffects any `json:"sideEffects"`
	}
	if json.Unmarshal(text, &manifest) != nil {
		return nil
	}
	return manifest.SideEffects
}

// Divisible reports whether the manifest of a package allows to leave out files that only unused exports need.
func Divisible(name string, files map[string][]byte) bool {
	switch effects := sideEffects(files["node_modules/"+name+"/package.json"]).(type) {
	case bool:
		return !effects
	case []any:
		return true
	}
	return false
}

// hasEffects reports whether a pattern of sideEffects means a file. A pattern without a slash means files in all
// folders. One with ** or braces means all files, so that none is left out that should not be.
func hasEffects(pattern, name string) bool {
	if strings.Contains(pattern, "**") || strings.ContainsAny(pattern, "{}") {
		return true
	}
	if pattern = strings.TrimPrefix(pattern, "./"); !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	matched, err := path.Match(pattern, name)
	return matched || err != nil
}

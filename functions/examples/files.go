package examples

import (
	"embed"
	"io/fs"
)

//go:embed *.js *.json
var files embed.FS

// Files returns every NAME.js and NAME.json.
func Files() fs.FS { return files }

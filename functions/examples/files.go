package examples

import (
	"embed"
	"io/fs"
)

//go:embed *.js *.json
var files embed.FS

// Files has every NAME.js and NAME.json.
func Files() fs.FS { return files }

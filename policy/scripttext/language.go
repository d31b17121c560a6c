package scripttext

import "path"

// The languages of a script. File names tell the last two.
const (
	JavaScript = "javascript"
	TypeScript = "typescript"
	JSX        = "jsx"
	TSX        = "tsx"
)

// LanguageOf returns the language that the extension of a file name tells; JavaScript when it tells none.
func LanguageOf(file string) string {
	switch path.Ext(file) {
	case ".ts", ".mts", ".cts":
		return TypeScript
	case ".tsx":
		return TSX
	case ".jsx":
		return JSX
	}
	return JavaScript
}

// Runnable reports whether the engine could run a file of that name.
func Runnable(file string) bool {
	switch path.Ext(file) {
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return true
	}
	return false
}

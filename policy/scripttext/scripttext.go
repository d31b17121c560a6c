package scripttext

import "strings"

// Body returns the bounds of the code inside a Markdown fence, or of the whole text if there is none. A fence counts if
// the text begins with three backticks whose info string is empty or names a language that the sandbox runs. A closing
// fence counts only at the very end.
func Body(text string) (start, end int) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "```") {
		return 0, len(text)
	}
	info, body, ok := strings.Cut(trimmed, "\n")
	if !ok {
		return 0, len(text)
	}
	switch strings.ToLower(strings.TrimSpace(strings.TrimLeft(info, "`"))) {
	case "", "js", "javascript", "ts", "typescript", "jsx", "tsx", "mjs", "node":
	default:
		return 0, len(text)
	}
	start = strings.Index(text, "```") + len(info) + 1
	body = strings.TrimSuffix(strings.TrimRight(body, " \t\r\n"), "```")
	return start, start + len(body)
}

// CommentShebang turns a shebang at the start of code into a comment of the same length.
func CommentShebang(code string) string {
	if strings.HasPrefix(code, "#!") {
		return "//" + code[2:]
	}
	return code
}

// A request as a command or program to run elsewhere.

import { visitor } from "/assets/frame.js";

// json writes a request so that it is also valid inside a Go raw string: it escapes backticks and byte order marks,
// which occur only in its strings.
function json(value) {
  return JSON.stringify(value, null, 2).replaceAll("`", "\\u0060").replaceAll("\ufeff", "\\ufeff");
}

function curl(request) {
  const credential = visitor.open ? "" : `  -H "Authorization: Bearer $API_KEY" \\\n`;
  return `curl -sS '${location.origin}/api/execute' \\
  -H 'Content-Type: application/json' \\
${credential}  --data-binary @- <<'JSON'
${json(request)}
JSON
`;
}

function go(request) {
  const credential = visitor.open ? "" : `\task.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))\n`;
  return `package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

const request = \`${json(request)}\`

func main() {
	ask, err := http.NewRequest(http.MethodPost, "${location.origin}/api/execute", strings.NewReader(request))
	if err != nil {
		log.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/json")
${credential}	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		log.Fatal(err)
	}
}
`;
}

function mcp(request) {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "execute_code", arguments: request } }, null, 2) + "\n";
}

export const forms = {
  curl: { write: curl, note: "For a POSIX shell." },
  go: { write: go, note: "A whole program of the standard library: save it as main.go, then go run main.go." },
  mcp: { write: mcp, note: "A message of a Model Context Protocol session at /mcp, or of airlock mcp." },
};
if (!visitor.open) {
  forms.curl.note += " It takes the credential from $API_KEY.";
  forms.go.note += " It takes the credential from $API_KEY.";
}

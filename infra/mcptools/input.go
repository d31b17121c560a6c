package mcptools

import (
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/toolname"
)

// maxAsks bounds how many of a server's requests for input an error quotes.
const maxAsks = 3

// needsInput returns the error of a call whose server asks for input before it answers. It quotes what the server asks
// for, without the secret and with invisible characters escaped.
func needsInput(server *Server, asked sdk.InputRequestMap, secret string) error {
	if len(asked) == 0 {
		return &refusedError{server.Namespace + " is busy: call it again later"}
	}
	var texts []string
	for _, request := range asked {
		text := "it wants more than a form can ask for"
		if form, ok := request.(*sdk.ElicitParams); ok {
			text = form.Message
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	said := strings.Join(texts[:min(len(texts), maxAsks)], "; ")
	return &refusedError{
		server.Namespace + " asked for input, which this execution cannot wait for: " +
			clip(toolname.Plain(clip(hide(said, secret)))),
	}
}

package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/toolname"
)

// maxParts is how many contents or messages one answer of an attached server may have.
const maxParts = 1000

// parts is a JSON list of at most maxParts values. It ignores those that are null.
type parts[T any] []*T

// UnmarshalJSON implements json.Unmarshaler.
func (p *parts[T]) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	switch start, err := dec.Token(); {
	case err != nil:
		return err
	case start == nil: // null
		*p = nil
		return nil
	case start != json.Delim('['):
		return errors.New("it is not a list")
	}
	*p = parts[T]{}
	for n := 0; dec.More(); n++ {
		if n == maxParts {
			return fmt.Errorf("it has more than %d parts", maxParts)
		}
		var part *T
		if err := dec.Decode(&part); err != nil {
			return fmt.Errorf("part %d: %w", n, err)
		}
		if part != nil {
			*p = append(*p, part)
		}
	}
	return nil
}

// contentsOf returns contents that an attached server sent, under the URI by which callers read them. The text is not
// changed, because it is a document.
func contentsOf(namespace string, c *sdk.ResourceContents) *sdk.ResourceContents {
	return &sdk.ResourceContents{
		URI: uriOf(namespace, c.URI), MIMEType: toolname.Plain(c.MIMEType), Text: c.Text, Blob: c.Blob,
	}
}

// uriOf returns the URI by which callers read a resource that an attached server names. The URI begins with the
// namespace of that server, so that a server cannot name the resources of another.
func uriOf(namespace, uri string) string {
	return execution.ResourceURI(namespace, toolname.Plain(uri))
}

// messageOf returns a message of a prompt that an attached server sent; nil if clients may not receive its kind.
func messageOf(namespace string, m *sdk.PromptMessage) *sdk.PromptMessage {
	out := &sdk.PromptMessage{Role: "user"}
	if m.Role == "assistant" {
		out.Role = m.Role
	}
	switch c := m.Content.(type) {
	case *sdk.TextContent:
		out.Content = &sdk.TextContent{Text: toolname.Plain(c.Text), Annotations: annotationsOf(c.Annotations)}
	case *sdk.ImageContent:
		out.Content = &sdk.ImageContent{
			Data: c.Data, MIMEType: toolname.Plain(c.MIMEType), Annotations: annotationsOf(c.Annotations),
		}
	case *sdk.AudioContent:
		out.Content = &sdk.AudioContent{
			Data: c.Data, MIMEType: toolname.Plain(c.MIMEType), Annotations: annotationsOf(c.Annotations),
		}
	case *sdk.ResourceLink:
		out.Content = &sdk.ResourceLink{
			URI: uriOf(namespace, c.URI), Name: namespace + ":" + toolname.Plain(c.Name), Title: toolname.Plain(c.Title),
			Description: toolname.Plain(c.Description), MIMEType: toolname.Plain(c.MIMEType), Size: c.Size,
			Annotations: annotationsOf(c.Annotations),
		}
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return nil
		}
		out.Content = &sdk.EmbeddedResource{
			Resource: contentsOf(namespace, c.Resource), Annotations: annotationsOf(c.Annotations),
		}
	default:
		return nil
	}
	return out
}

// annotationsOf returns the part of annotations that is valid.
func annotationsOf(a *sdk.Annotations) *sdk.Annotations {
	if a == nil {
		return nil
	}
	out := &sdk.Annotations{LastModified: toolname.Plain(a.LastModified), Priority: max(0, min(a.Priority, 1))}
	for _, role := range []sdk.Role{"user", "assistant"} {
		if slices.Contains(a.Audience, role) {
			out.Audience = append(out.Audience, role)
		}
	}
	return out
}

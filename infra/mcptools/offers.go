package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/toolname"
)

const (
	maxOffers = 1000 // resources, templates or prompts of one server
	maxLabel  = 1024 // bytes of the name or URI of one, of its title and of its description
	maxFields = 50   // arguments of one prompt
)

// withMethods adds to a list the tools by which code reads the resources and prompts of a server that has some.
func (l *list) withMethods(caps *sdk.ServerCapabilities) {
	for _, m := range execution.ServerMethods {
		if !offered(caps, m.Name) {
			continue
		}
		t := &sdk.Tool{Name: m.Name, Description: m.Description, InputSchema: json.RawMessage(m.InputSchema)}
		if !l.add(t) {
			return
		}
	}
}

// offered reports whether a server has the method of the protocol that a tool is named after.
func offered(caps *sdk.ServerCapabilities, method string) bool {
	switch method {
	case execution.ListResources, execution.ListTemplates, execution.ReadResource:
		return caps != nil && caps.Resources != nil
	case execution.ListPrompts, execution.GetPrompt:
		return caps != nil && caps.Prompts != nil
	}
	return false
}

// callOver calls a tool over a session with a server, or the method of the protocol that it is named after. The value
// does not show the secret. kept is nil for a server that is no command.
func callOver(
	ctx context.Context, server *Server, session *sdk.ClientSession, q *questions, kept *contents, name string,
	params json.RawMessage, secret string,
) (json.RawMessage, error) {
	if name == execution.AnyMethod {
		return nil, &refusedError{"the server can be reached again: run the code again"}
	}
	if !offered(session.InitializeResult().Capabilities, name) {
		result, err := callTool(ctx, server, session, q, &sdk.CallToolParams{Name: name, Arguments: params}, secret)
		if err != nil {
			return nil, err
		}
		return value(result, kept, secret)
	}
	var given struct {
		URI       string            `json:"uri"`
		Cursor    string            `json:"cursor"`
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if err := json.Unmarshal(params, &given); err != nil && string(params) != "" {
		return nil, &refusedError{"the parameters must be an object of texts"}
	}
	var result sdk.Result
	var err error
	switch name {
	case execution.ListResources:
		result, err = session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: given.Cursor})
	case execution.ListTemplates:
		result, err = session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: given.Cursor})
	case execution.ReadResource:
		var read *sdk.ReadResourceResult
		read, err = session.ReadResource(ctx, &sdk.ReadResourceParams{URI: given.URI, Meta: capabilities(session, false)})
		if err == nil && read.NeedsInput() {
			err = needsInput(server, read.InputRequests, secret)
		}
		result = read
	case execution.ListPrompts:
		result, err = session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: given.Cursor})
	default:
		var prompt *sdk.GetPromptResult
		prompt, err = session.GetPrompt(ctx, &sdk.GetPromptParams{
			Name: given.Name, Arguments: given.Arguments, Meta: capabilities(session, false),
		})
		if err == nil && prompt.NeedsInput() {
			err = needsInput(server, prompt.InputRequests, secret)
		}
		result = prompt
	}
	if err != nil {
		return nil, err
	}
	if whole, err := kept.whole(result.GetMeta()); err != nil {
		return nil, err
	} else if whole != nil {
		return hiddenJSON(whole, secret)
	}
	return hiddenJSON(result, secret)
}

// A refusedError is a failure of a call that its code can correct.
type refusedError struct{ text string }

func (r *refusedError) Error() string { return r.text }

// offers lists what a server has beside tools. A part that cannot be listed is incomplete, and the error says why.
func (c *Catalogue) offers(
	ctx context.Context, f *followed, session *sdk.ClientSession,
) (found execution.Offers, err error) {
	caps, room := session.InitializeResult().Capabilities, maxAnswer
	found.Namespace = f.server.Namespace
	var wrong [3]error
	resource := func(to *[]execution.Resource, r sdk.Resource) {
		if len(*to) < maxOffers && f.take(&room, r.URI, r.Name, r.Title, r.Description, r.MIMEType) {
			*to = append(*to, execution.Resource{
				URI: execution.ResourceURI(f.server.Namespace, r.URI), Name: f.prefixed(r.Name), Title: f.label(r.Title),
				Description: f.label(r.Description), MIMEType: f.label(r.MIMEType), Size: max(r.Size, 0),
			})
		}
	}
	if offered(caps, execution.ReadResource) {
		wrong[0] = pages(func(cursor string) (string, error) {
			page, err := session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err == nil {
				page, err = filled(f.contents, page, page.Meta)
			}
			if err != nil {
				return "", err
			}
			for _, r := range page.Resources {
				if r != nil {
					resource(&found.Resources, *r)
				}
			}
			return unlessFull(len(found.Resources), page.NextCursor), nil
		})
		wrong[1] = pages(func(cursor string) (string, error) {
			page, err := session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
			if err == nil {
				page, err = filled(f.contents, page, page.Meta)
			}
			if err != nil {
				return "", err
			}
			for _, r := range page.ResourceTemplates {
				if r != nil {
					resource(&found.Templates, sdk.Resource{
						URI: r.URITemplate, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
					})
				}
			}
			return unlessFull(len(found.Templates), page.NextCursor), nil
		})
	}
	if offered(caps, execution.GetPrompt) {
		wrong[2] = pages(func(cursor string) (string, error) {
			page, err := session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err == nil {
				page, err = filled(f.contents, page, page.Meta)
			}
			if err != nil {
				return "", err
			}
			for _, p := range page.Prompts {
				if prompt, ok := promptOf(f, p, &room); ok && len(found.Prompts) < maxOffers {
					found.Prompts = append(found.Prompts, prompt)
				}
			}
			return unlessFull(len(found.Prompts), page.NextCursor), nil
		})
	}
	return found, errors.Join(wrong[:]...)
}

// promptOf returns a prompt of a server; ok is false if it is left out.
func promptOf(f *followed, p *sdk.Prompt, room *int) (out execution.Prompt, ok bool) {
	if p == nil || !f.take(room, p.Name, p.Title, p.Description) {
		return out, false
	}
	out = execution.Prompt{Name: f.prefixed(p.Name), Title: f.label(p.Title), Description: f.label(p.Description)}
	for _, a := range p.Arguments {
		if a == nil || len(out.Arguments) == maxFields || !f.take(room, a.Name, a.Title, a.Description) {
			return out, false
		}
		out.Arguments = append(out.Arguments, execution.PromptArgument{
			Name: a.Name, Title: f.label(a.Title), Description: f.label(a.Description), Required: a.Required,
		})
	}
	return out, true
}

// pages reads the pages of a list: read returns the cursor of the next one.
func pages(read func(cursor string) (string, error)) error {
	cursor, err := "", error(nil)
	for range maxPages {
		if cursor, err = read(cursor); err != nil || cursor == "" {
			return err
		}
	}
	return nil
}

// unlessFull returns the cursor of the next page, or "" if there is no room for another entry.
func unlessFull(entries int, next string) string {
	if entries >= maxOffers {
		return ""
	}
	return next
}

// take reports whether an entry is taken. The first text, its name or URI, is used as it is; the others fit the
// room that is left. The first text may not contain the server's secret.
func (f *followed) take(room *int, name string, others ...string) bool {
	if name == "" || len(name) > maxLabel || toolname.Plain(name) != name ||
		strings.ContainsAny(name, "\n\t") || hide(name, f.secret) != name {
		return false
	}
	size := len(name)
	for _, text := range others {
		size += min(len(text), maxLabel)
	}
	if size > *room {
		return false
	}
	*room -= size
	return true
}

func (f *followed) prefixed(name string) string { return f.server.Namespace + ":" + f.label(name) }

// label returns a text of a server without its secret, and with its invisible characters escaped.
func (f *followed) label(text string) string {
	return clipTo(toolname.Plain(clipTo(hide(text, f.secret), maxLabel)), maxLabel)
}

// Offers returns what each server with anything beside tools has, in their order, without waiting. Callers must not
// change the result.
func (c *Catalogue) Offers() (all []execution.Offers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers.list {
		if o := c.followed[s].offers; len(o.Resources)+len(o.Templates)+len(o.Prompts) > 0 {
			all = append(all, o)
		}
	}
	return all
}

// hiddenJSON returns a value as JSON in which a secret is replaced.
func hiddenJSON(v any, secret string) (json.RawMessage, error) {
	var out []byte
	var err error
	if raw, ok := v.(json.RawMessage); ok && isPlain(raw, secret != "") {
		out = raw
	} else if ok { // with the secret as the text of the answer would have it
		out, err = jsontext.AppendFormat(make([]byte, 0, len(raw)), raw, jsontext.AllowDuplicateNames(true),
			jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(secret == ""))
	} else {
		out, err = json.Marshal(v)
	}
	if err != nil {
		return nil, &refusedError{"the answer is no JSON"}
	}
	if secret == "" {
		return out, nil
	}
	quoted, err := json.Marshal(secret)
	if err != nil {
		return nil, &refusedError{"the answer cannot be searched"}
	}
	return []byte(hide(hide(string(out), string(quoted[1:len(quoted)-1])), secret)), nil
}

// isPlain reports whether valid JSON can stay as it is, or be searched as it is.
func isPlain(raw json.RawMessage, searched bool) bool {
	return utf8.Valid(raw) && !bytes.ContainsAny(raw, "\r\n") && !(searched && bytes.IndexByte(raw, '\\') >= 0)
}

// refusalOf returns the text of an error with which a server, or this package, refused a call; "" for any other error.
func refusalOf(err error, secret string) string {
	if refused := (*refusedError)(nil); errors.As(err, &refused) {
		return refused.text
	}
	if refused := (*jsonrpc.Error)(nil); errors.As(err, &refused) {
		return clip(hide(refused.Message, secret))
	}
	return ""
}

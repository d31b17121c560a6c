package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/toolname"
)

// offerPage is how many resources, templates or prompts a page has.
const offerPage = 100

// maxEscapes is how many bytes a prompt may grow when its invisible characters are escaped. To write a megabyte of them
// costs the gateway several times what other answers do.
const maxEscapes = 64 << 10

// private says that a client may cache an answer for its own user only, because it depends on the caller.
var private = sdk.Cacheable{CacheScope: "private"}

// offers returns what each server has that a caller may read. Reading it is a call of a tool. The lists are those of
// the source: servers may have thousands of entries, and a request shows a page.
func (r *RemoteTools) offers(ctx context.Context, caller authn.Identity) (out []execution.Offers) {
	if r.Source == nil {
		return nil
	}
	all := r.Source.Offers()
	var asked []execution.Tool
	for _, o := range all {
		asked = append(asked, execution.Tool{Name: o.Namespace + ":" + execution.ReadResource},
			execution.Tool{Name: o.Namespace + ":" + execution.GetPrompt})
	}
	may := map[string]bool{}
	for _, t := range r.Permitted(ctx, asked, caller) {
		may[t.Name] = true
	}
	for _, o := range all {
		if !may[o.Namespace+":"+execution.ReadResource] {
			o.Resources, o.Templates = nil, nil
		}
		if !may[o.Namespace+":"+execution.GetPrompt] {
			o.Prompts = nil
		}
		out = append(out, o)
	}
	return out
}

// offering answers requests about the resources and prompts of attached servers. A list is the servers' last answer.
// Reading is an execution with one call, under the caller's policy, limits and permissions, and with a record.
func (s *Server) offering(callerOf func(sdk.Request) (call, error)) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
			if !strings.HasPrefix(method, "resources/") && !strings.HasPrefix(method, "prompts/") || s.cfg.Tools == nil {
				return next(ctx, method, request)
			}
			c, err := callerOf(request)
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(c.gone, cancel)()
			result, err := s.offer(ctx, c.caller, given(request.GetParams()))
			if (err != nil || ctx.Err() != nil) && c.caller.Refused != nil {
				c.caller.Refused()
			}
			if err != nil {
				return nil, s.refusal(err)
			}
			if result == nil {
				return next(ctx, method, request)
			}
			return result, nil
		}
	}
}

// given returns the parameters of a request. Those of a message without any are a nil pointer, which clients may send
// for lists.
func given(params sdk.Params) sdk.Params {
	switch p := params.(type) {
	case *sdk.ListResourcesParams:
		return cmp.Or(p, &sdk.ListResourcesParams{})
	case *sdk.ListResourceTemplatesParams:
		return cmp.Or(p, &sdk.ListResourceTemplatesParams{})
	case *sdk.ListPromptsParams:
		return cmp.Or(p, &sdk.ListPromptsParams{})
	case *sdk.ReadResourceParams:
		return cmp.Or(p, &sdk.ReadResourceParams{})
	case *sdk.GetPromptParams:
		return cmp.Or(p, &sdk.GetPromptParams{})
	}
	return params
}

func resourcesOf(o execution.Offers) []execution.Resource { return o.Resources }
func templatesOf(o execution.Offers) []execution.Resource { return o.Templates }
func promptsOf(o execution.Offers) []execution.Prompt     { return o.Prompts }

// offer answers one request; nil if it is another.
func (s *Server) offer(ctx context.Context, caller Caller, params sdk.Params) (sdk.Result, error) {
	switch p := params.(type) {
	case *sdk.ReadResourceParams:
		return s.readResource(ctx, caller, p.URI)
	case *sdk.GetPromptParams:
		return s.getPrompt(ctx, caller, p)
	}
	found, err := s.cfg.Tools.Offers(ctx, caller)
	if err != nil {
		return nil, err
	}
	switch p := params.(type) {
	case *sdk.ListResourcesParams:
		result := &sdk.ListResourcesResult{Cacheable: private, Resources: []*sdk.Resource{}}
		result.NextCursor, err = each(found, p.Cursor, resourcesOf, func(r execution.Resource) {
			result.Resources = append(result.Resources, &sdk.Resource{
				URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType, Size: r.Size,
			})
		})
		return result, err
	case *sdk.ListResourceTemplatesParams:
		result := &sdk.ListResourceTemplatesResult{Cacheable: private, ResourceTemplates: []*sdk.ResourceTemplate{}}
		result.NextCursor, err = each(found, p.Cursor, templatesOf, func(r execution.Resource) {
			result.ResourceTemplates = append(result.ResourceTemplates, &sdk.ResourceTemplate{
				URITemplate: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
			})
		})
		return result, err
	case *sdk.ListPromptsParams:
		result := &sdk.ListPromptsResult{Cacheable: private, Prompts: []*sdk.Prompt{}}
		result.NextCursor, err = each(found, p.Cursor, promptsOf, func(p execution.Prompt) {
			prompt := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
			for _, a := range p.Arguments {
				prompt.Arguments = append(prompt.Arguments, &sdk.PromptArgument{
					Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required,
				})
			}
			result.Prompts = append(result.Prompts, prompt)
		})
		return result, err
	}
	return nil, nil
}

// each calls add for the entries of a page, and returns the cursor of the next one. A cursor is the number of entries
// before the page.
func each[T any](
	found []execution.Offers, cursor string, of func(execution.Offers) []T, add func(T),
) (next string, err error) {
	from := 0
	if cursor != "" {
		if from, err = strconv.Atoi(cursor); err != nil || from < 0 {
			return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is not one that this server issued"}
		}
	}
	skip, room := from, offerPage
	for _, o := range found {
		all := of(o)
		rest := all[min(skip, len(all)):]
		skip -= len(all) - len(rest)
		for _, v := range rest[:min(len(rest), room)] {
			add(v)
		}
		if len(rest) > room {
			return strconv.Itoa(from + offerPage), nil
		}
		room -= len(rest)
	}
	return "", nil
}

func (s *Server) readResource(ctx context.Context, caller Caller, uri string) (sdk.Result, error) {
	namespace, rest, ok := execution.SplitResourceURI(uri)
	if !ok || rest == "" {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	var answer struct {
		Contents parts[sdk.ResourceContents] `json:"contents"`
	}
	known, err := s.askServer(ctx, caller, namespace, execution.ReadResource, map[string]string{"uri": rest}, &answer)
	if err == nil && !known {
		err = sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	result := &sdk.ReadResourceResult{Cacheable: private, Contents: []*sdk.ResourceContents{}}
	for _, c := range answer.Contents {
		result.Contents = append(result.Contents, contentsOf(namespace, c))
	}
	return result, nil
}

func (s *Server) getPrompt(ctx context.Context, caller Caller, p *sdk.GetPromptParams) (sdk.Result, error) {
	namespace, name, _ := strings.Cut(p.Name, ":")
	var answer struct {
		Description string                   `json:"description"`
		Messages    parts[sdk.PromptMessage] `json:"messages"`
	}
	params := map[string]any{"name": name, "arguments": p.Arguments}
	if p.Arguments == nil {
		delete(params, "arguments")
	}
	known, err := s.askServer(ctx, caller, namespace, execution.GetPrompt, params, &answer)
	if err == nil && !known {
		err = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no prompt " + toolname.Plain(p.Name)}
	}
	if err != nil {
		return nil, err
	}
	result := &sdk.GetPromptResult{
		Description: toolname.Plain(answer.Description), Messages: []*sdk.PromptMessage{},
	}
	for _, m := range answer.Messages {
		if message := messageOf(namespace, m); message != nil {
			result.Messages = append(result.Messages, message)
		}
	}
	return result, nil
}

// askServer calls a method of an attached server in an execution, and decodes its answer. known is false if the caller
// has no such server.
func (s *Server) askServer(
	ctx context.Context, caller Caller, namespace, method string, params, answer any,
) (known bool, err error) {
	found, err := s.cfg.Tools.Offers(ctx, caller)
	if err != nil {
		return false, err
	}
	known = slices.ContainsFunc(found, func(o execution.Offers) bool {
		if method == execution.GetPrompt {
			return o.Namespace == namespace && len(o.Prompts) > 0
		}
		return o.Namespace == namespace && len(o.Resources)+len(o.Templates) > 0
	})
	if !known {
		return false, nil
	}
	input, err := json.Marshal(params)
	if err != nil {
		return true, fmt.Errorf("encode the parameters of an attached server: %w", err)
	}
	_, called := execution.ToolGlobal(namespace + ":" + method)
	request, err := execution.DecodeRequest(api.Raw(execution.Request{
		Code: "return await " + namespace + "." + called + "(input)", Input: input,
	}))
	if err != nil {
		return true, err
	}
	result, err := s.cfg.Executor.Execute(ctx, caller, request, nil)
	switch {
	case err != nil:
		return true, err
	case result.Status == execution.Paused:
		return true, &jsonrpc.Error{
			Code:    jsonrpc.CodeInternalError,
			Message: "execution " + result.ID + " waits for an approval; read the resource or the prompt from code instead",
		}
	case result.Status != execution.Completed:
		text := string(result.Status)
		if result.Error != nil {
			text = *result.Error
		}
		return true, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: toolname.Plain(text)}
	}
	if method == execution.GetPrompt && len(toolname.PlainJSON(result.Result)) > len(result.Result)+maxEscapes {
		return true, &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "the server's answer has too many invisible characters",
		}
	}
	if err := json.Unmarshal(result.Result, answer); err != nil {
		return true, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server's answer is not valid"}
	}
	return true, nil
}

// refusal returns an error of the protocol with what callers may know of an error.
func (s *Server) refusal(err error) error {
	if already := (*jsonrpc.Error)(nil); errors.As(err, &already) {
		return already
	}
	problem := s.cfg.Explain(err)
	data, failed := json.Marshal(problem)
	if failed != nil {
		return fmt.Errorf("encode a problem: %w", failed)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: problem.Error, Data: data}
}

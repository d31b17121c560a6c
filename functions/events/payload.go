package events

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	lambdaevents "github.com/aws/aws-lambda-go/events"
)

// answerV2 serves payload 2.0, of Function URLs and HTTP APIs.
func (w work) answerV2(ctx context.Context, kind Kind, payload []byte) (json.RawMessage, error) {
	var event lambdaevents.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, invalid("", "is not an HTTP event with payload 2.0")
	}
	x := exchange{
		kind:   kind,
		method: event.RequestContext.HTTP.Method, path: event.RawPath,
		query: event.QueryStringParameters, header: http.Header{},
		body: event.Body, encoded: event.IsBase64Encoded,
		caller: execution.Caller{Tenant: tenant(ctx), IP: event.RequestContext.HTTP.SourceIP},
	}
	for name, value := range event.Headers {
		x.header.Set(name, value)
	}
	if len(event.Cookies) > 0 {
		x.header.Set("Cookie", strings.Join(event.Cookies, "; "))
	}
	if auth := event.RequestContext.Authorizer; auth != nil {
		x.caller.Subject = v2Subject(auth)
		x.authenticated = true
	}
	r := w.serveHTTP(ctx, x)
	return json.Marshal(map[string]any{"statusCode": r.status, "headers": single(r.header), "body": r.body,
		"isBase64Encoded": false})
}

// v2Subject returns the subject that the authorizer names, or "".
func v2Subject(auth *lambdaevents.APIGatewayV2HTTPRequestContextAuthorizerDescription) string {
	switch {
	case auth.IAM != nil:
		return execution.Subject(execution.KindIAM, auth.IAM.UserARN)
	case auth.JWT != nil && auth.JWT.Claims["sub"] == "":
		return ""
	case auth.JWT != nil:
		return execution.TokenSubject(auth.JWT.Claims["iss"], auth.JWT.Claims["sub"])
	}
	return execution.Subject(execution.KindAuthorizer, principal(auth.Lambda))
}

// answerV1 serves payload 1.0, of REST APIs and HTTP APIs, and the similar payload of the load balancer.
func (w work) answerV1(ctx context.Context, kind Kind, payload []byte) (json.RawMessage, error) {
	var event lambdaevents.APIGatewayProxyRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, invalid("", "is not an HTTP event with payload 1.0")
	}
	x := exchange{
		kind:   kind,
		method: event.HTTPMethod, path: event.Path,
		query: lastOf(event.QueryStringParameters, event.MultiValueQueryStringParameters),
		body:  event.Body, encoded: event.IsBase64Encoded,
		header: joined(event.Headers, event.MultiValueHeaders),
		caller: execution.Caller{Tenant: tenant(ctx), IP: event.RequestContext.Identity.SourceIP},
	}
	if kind == LoadBalancer {
		// The load balancer appends the peer that it saw; everything before that is the caller's claim.
		hops := strings.Split(x.header.Get("X-Forwarded-For"), ",")
		x.caller.IP = strings.TrimSpace(hops[len(hops)-1])
	} else {
		x.caller.Subject = v1Subject(event.RequestContext)
		x.authenticated = x.caller.Subject != ""
	}
	r := w.serveHTTP(ctx, x)
	answer := map[string]any{"statusCode": r.status, "body": r.body, "isBase64Encoded": false}
	if event.MultiValueHeaders != nil {
		answer["multiValueHeaders"] = r.header
	} else {
		answer["headers"] = single(r.header)
	}
	if kind == LoadBalancer {
		answer["statusDescription"] = strings.TrimSpace(fmt.Sprintf("%d %s", r.status, http.StatusText(r.status)))
	}
	return json.Marshal(answer)
}

func v1Subject(rc lambdaevents.APIGatewayProxyRequestContext) string {
	if claims, ok := rc.Authorizer["claims"].(map[string]any); ok {
		issuer, _ := claims["iss"].(string)
		sub, _ := claims["sub"].(string)
		if sub == "" {
			return ""
		}
		return execution.TokenSubject(issuer, sub)
	}
	if who := principal(rc.Authorizer); who != "" {
		return execution.Subject(execution.KindAuthorizer, who)
	}
	return execution.Subject(execution.KindIAM, rc.Identity.UserArn)
}

// principal returns the principalId of a custom authorizer.
func principal(auth map[string]any) string {
	who, _ := auth["principalId"].(string)
	return who
}

// joined returns one header of an event that may have single values, lists, or both.
func joined(one map[string]string, many map[string][]string) http.Header {
	header := http.Header{}
	for name, values := range many {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	for name, value := range one {
		if header.Get(name) == "" {
			header.Set(name, value)
		}
	}
	return header
}

// single returns each header once, for sources without multi-value headers.
func single(header http.Header) map[string]string {
	out := make(map[string]string, len(header))
	for name, values := range header {
		out[name] = strings.Join(values, ", ")
	}
	return out
}

// lastOf returns each query parameter's last value, as API Gateway does.
func lastOf(one map[string]string, many map[string][]string) map[string]string {
	out := maps.Clone(one)
	for name, values := range many {
		if _, ok := out[name]; !ok && len(values) > 0 {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = values[len(values)-1]
		}
	}
	return out
}

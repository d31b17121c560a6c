package events

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of a payload. Codes are append-only.
type Kind string

// The served kinds.
const (
	// Direct is a bare execution.Request: a direct invocation or a scheduler's input.
	Direct Kind = "direct"
	// Enveloped is an execution.Invocation from a gateway.
	Enveloped Kind = "enveloped"
	// FunctionURL is an HTTP request to the function's own URL (payload 2.0).
	FunctionURL Kind = "function-url"
	// HTTPAPI is an HTTP request through an API Gateway HTTP API (payload 2.0).
	HTTPAPI Kind = "http-api"
	// RESTAPI is an HTTP request through an API Gateway REST API, or an HTTP API with payload 1.0.
	RESTAPI Kind = "rest-api"
	// LoadBalancer is an HTTP request through an Application Load Balancer.
	LoadBalancer Kind = "load-balancer"
	// Queue is a batch of SQS messages.
	Queue Kind = "sqs"
	// Topic is an SNS notification.
	Topic Kind = "sns"
	// Bus is an EventBridge event.
	Bus Kind = "eventbridge"
	// Schedule is the EventBridge event of a rule or a schedule.
	Schedule Kind = "schedule"
)

// An UnknownEventError reports a payload of no served kind.
type UnknownEventError struct {
	// Name describes the payload by its own fields, such as "aws:s3" or "Cognito user pool trigger".
	Name string
}

// Error names the event and the accepted kinds.
func (e *UnknownEventError) Error() string {
	return e.Name + " is not an event that this function serves; it takes an execution request (an object with " +
		"\"code\"), " +
		"Function URL, API Gateway, load balancer, SQS, SNS and EventBridge events"
}

// Detect returns the kind of a payload from fields that only that kind has. A payload that matches no kind, or two,
// is refused with an *UnknownEventError; invalid JSON is refused with an *execution.Error. Detect never guesses and
// ignores the parts of a payload that callers control.
func Detect(payload []byte) (Kind, error) {
	var top fields
	kind := jsontext.Value(bytes.TrimSpace(payload)).Kind()
	if kind != jsontext.KindBeginObject && jsontext.Value(payload).IsValid() {
		return "", &UnknownEventError{Name: "a JSON " + kindName(kind)}
	}
	if err := json.Unmarshal(payload, &top); err != nil {
		return "", invalid("", jsonProblem(err))
	}
	if name, known := unserved(top); known {
		return "", &UnknownEventError{Name: name}
	}
	kinds, err := marks(top)
	if err != nil {
		return "", err
	}
	switch len(kinds) {
	case 1:
		return kinds[0], nil
	case 0:
		return "", &UnknownEventError{Name: "an object with " + top.names()}
	}
	return "", &UnknownEventError{Name: fmt.Sprintf("an object that looks like both %s and %s", kinds[0], kinds[1])}
}

// Unwrap returns an *execution.Error with code InvalidRequest.
func (e *UnknownEventError) Unwrap() error {
	return invalid("", e.Error())
}

// marks returns every kind that the payload matches.
func marks(top fields) ([]Kind, error) {
	var kinds []Kind
	if top.has("code") || top.has("entry") || top.only(requestFields()) {
		kinds = append(kinds, Direct)
	}
	if top.has("airlock") {
		kinds = append(kinds, Enveloped)
	}
	if top.has("Records") {
		kind, err := recordsKind(top["Records"])
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	if top.has("requestContext") {
		if kind, ok := httpKind(top); ok {
			kinds = append(kinds, kind)
		}
	}
	if top.has("detail-type", "source", "detail", "id", "time", "region", "account") {
		kind := Bus
		if top.text("detail-type") == "Scheduled Event" &&
			slices.Contains([]string{"aws.events", "aws.scheduler"}, top.text("source")) {
			kind = Schedule
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// httpKind returns the HTTP kind by the content of requestContext.
func httpKind(top fields) (Kind, bool) {
	rc := top.object("requestContext")
	switch {
	case rc.object("elb").has("targetGroupArn") && top.has("httpMethod", "path"):
		return LoadBalancer, true
	case top.text("version") == "2.0" && rc.object("http").has("method", "path") && top.has("rawPath"):
		if strings.Contains(rc.text("domainName"), ".lambda-url.") {
			return FunctionURL, true
		}
		return HTTPAPI, true
	case top.has("httpMethod", "path", "resource") && rc.has("identity", "stage", "resourcePath"):
		return RESTAPI, true
	}
	return "", false
}

// recordsKind returns the one kind of all records.
func recordsKind(records jsontext.Value) (Kind, error) {
	var list []fields
	if err := json.Unmarshal(records, &list); err != nil || len(list) == 0 {
		return "", &UnknownEventError{Name: "an event whose Records are not a list of records"}
	}
	source := recordSource(list[0])
	for _, record := range list[1:] {
		if other := recordSource(record); other != source {
			return "", &UnknownEventError{Name: fmt.Sprintf("an event with records of both %q and %q", clip(source),
				clip(other))}
		}
	}
	switch {
	case source == "aws:sqs" && all(list, "messageId", "body"):
		return Queue, nil
	case source == "aws:sns" && all(list, "Sns"):
		return Topic, nil
	case source == "":
		return "", &UnknownEventError{Name: "an event whose records name no source"}
	}
	return "", &UnknownEventError{Name: fmt.Sprintf("an event of %q", clip(source))}
}

func recordSource(record fields) string {
	if source := record.text("eventSource"); source != "" {
		return source
	}
	return record.text("EventSource")
}

func all(list []fields, names ...string) bool {
	return !slices.ContainsFunc(list, func(f fields) bool { return !f.has(names...) })
}

// isHTTP reports whether the payloads of this kind are HTTP requests.
func (k Kind) isHTTP() bool {
	return k == FunctionURL || k == HTTPAPI || k == RESTAPI || k == LoadBalancer
}

// via returns the value of the audit record's Via for executions of this kind.
func (k Kind) via(bound bool) string {
	switch {
	case k.isHTTP() && bound:
		return execution.ViaHook
	case k.isHTTP():
		return execution.ViaHTTP
	}
	return execution.ViaLambda
}

// requestFields returns the member names of an execution request.
func requestFields() []string {
	t := reflect.TypeFor[execution.Request]()
	names := make([]string, 0, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func invalid(field, message string) *execution.Error {
	return &execution.Error{Code: execution.InvalidRequest, Field: field, Message: message}
}

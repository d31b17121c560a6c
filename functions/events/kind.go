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

// Kind names what a payload is. Codes are append-only.
type Kind string

// The kinds that are served.
const (
	// Direct is a bare execution.Request: the payload of a direct invocation, or what a scheduler was told to send.
	Direct Kind = "direct"
	// Enveloped is an execution.Invocation: a Request sent on by a gateway.
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
	// Schedule is the EventBridge event of a rule or schedule that fires by the clock.
	Schedule Kind = "schedule"
)

// UnknownEventError refuses a payload that is none of the kinds that are served.
type UnknownEventError struct {
	// Name says what the payload is, as far as its own fields tell: "aws:s3", "Cognito user pool trigger".
	Name string
}

// Error names the event and what would have been accepted.
func (e *UnknownEventError) Error() string {
	return e.Name + " is not an event that this function serves; it takes an execution request (an object with \"code\"), " +
		"Function URL, API Gateway, load balancer, SQS, SNS and EventBridge events"
}

// Detect tells what a payload is from the fields that only that kind has. A payload that bears the marks of no kind,
// or of two, is refused with an *UnknownEventError; JSON that does not parse, repeats a name or is not UTF-8 is
// refused with an *execution.Error. It never guesses, and does not look at the parts of a payload that callers
// control.
func Detect(payload []byte) (Kind, error) {
	var top fields
	kind := jsontext.Value(bytes.TrimSpace(payload)).Kind()
	if kind != jsontext.KindBeginObject && jsontext.Value(payload).IsValid() {
		return "", &UnknownEventError{Name: "a JSON " + kindName(kind)}
	}
	if err := json.Unmarshal(payload, &top); err != nil {
		return "", invalid("", jsonProblem(err))
	}
	if name, known := foreign(top); known {
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

// Unwrap makes it an invalid request to whoever asks for an *execution.Error.
func (e *UnknownEventError) Unwrap() error {
	return invalid("", e.Error())
}

// marks lists every kind whose marks the payload bears.
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

// httpKind tells the HTTP kinds apart by what their requestContext holds.
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

// recordsKind gives the one kind that all records are of.
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

// via is how executions of this kind appear in the audit record.
func (k Kind) via(bound bool) string {
	switch {
	case k.isHTTP() && bound:
		return execution.ViaHook
	case k.isHTTP():
		return execution.ViaHTTP
	}
	return execution.ViaLambda
}

// requestFields lists the names that an execution request can have.
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

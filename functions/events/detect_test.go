package events_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/google/go-cmp/cmp"
)

func TestDetect(t *testing.T) {
	const bus = `"version":"0","id":"1","account":"1","time":"2026-01-01T00:00:00Z","region":"r","resources":[]`
	tests := map[string]struct {
		payload string
		kind    events.Kind
		refusal string
	}{
		"bare":               {`{"code":"1"}`, events.Direct, ""},
		"bare, space around": {" \n{\"code\":\"1\"}\t", events.Direct, ""},
		"bare, wrong type":   {`{"code":1}`, events.Direct, ""},
		"bare, other typo":   {`{"code":"1","polcy":"strict"}`, events.Direct, ""},
		"bare without code":  {`{"input":1,"policy":"strict"}`, events.Direct, ""},
		"entry":              {`{"entry":"a.js","files":{"a.js":"1"}}`, events.Direct, ""},
		"envelope":           {`{"airlock":1,"request":{"code":"1"}}`, events.Enveloped, ""},
		"bus":                {`{` + bus + `,"source":"shop","detail-type":"Order","detail":{}}`, events.Bus, ""},
		"schedule": {`{` + bus + `,"source":"aws.events","detail-type":"Scheduled Event","detail":{}}`,
			events.Schedule, ""},
		"scheduler": {`{` + bus + `,"source":"aws.scheduler","detail-type":"Scheduled Event","detail":"{}"}`,
			events.Schedule, ""},
		"pretends to be clock": {`{` + bus + `,"source":"shop","detail-type":"Scheduled Event","detail":{}}`, events.Bus,
			""},
		"typo":         {`{"cod":"1"}`, "", `an object with the field "cod"`},
		"empty object": {`{}`, "", "an object with no fields"},
		"many fields":  {`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`, "", "and 2 more"},
		"array":        {`[{"code":"1"}]`, "", "a JSON array"},
		"string":       {`"code"`, "", "a JSON string"},
		"null":         {`null`, "", "a JSON null"},
		"number":       {`1`, "", "a JSON number"},
		"two kinds":    {`{"code":"1","airlock":1}`, "", "both direct and enveloped"},
		"code and records": {`{"code":"1","Records":[{"eventSource":"aws:sqs","messageId":"1","body":""}]}`, "",
			"both direct and sqs"},
		"s3": {`{"Records":[{"eventSource":"aws:s3"}]}`, "", `an event of "aws:s3"`},
		"mixed records": {`{"Records":[{"eventSource":"aws:sqs","messageId":"1","body":""},` +
			`{"EventSource":"aws:sns","Sns":{}}]}`, "", `both "aws:sqs" and "aws:sns"`},
		"no records":          {`{"Records":[]}`, "", "not a list of records"},
		"records are no list": {`{"Records":{"eventSource":"aws:sqs"}}`, "", "not a list of records"},
		"nameless records":    {`{"Records":[{"data":1}]}`, "", "name no source"},
		"sqs without body":    {`{"Records":[{"eventSource":"aws:sqs","messageId":"1"}]}`, "", `an event of "aws:sqs"`},
		"websocket":           {`{"requestContext":{"connectionId":"x","stage":"s"},"body":"{}"}`, "", "WebSocket"},
		"lattice": {`{"version":"2.0","path":"/","method":"GET","requestContext":{"serviceArn":"a",` +
			`"targetGroupArn":"b"}}`, "", "VPC Lattice"},
		"custom resource":        {`{"StackId":"a","LogicalResourceId":"b","ResponseURL":"c"}`, "", "custom resource"},
		"unknown requestContext": {`{"requestContext":{}}`, "", `the field "requestContext"`},
		"not quite http": {`{"version":"3.0","rawPath":"/","requestContext":{"http":{"method":"GET","path":"/"}}}`,
			"", "an object with"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kind, err := events.Detect([]byte(tc.payload))
			var unknown *events.UnknownEventError
			switch {
			case kind != tc.kind:
				t.Errorf("kind %q, want %q (%v)", kind, tc.kind, err)
			case tc.refusal == "" && err != nil:
				t.Error(err)
			case tc.refusal != "" && (!errors.As(err, &unknown) || !strings.Contains(unknown.Name, tc.refusal)):
				t.Errorf("got %v, want a refusal that names %q", err, tc.refusal)
			}
			var asRequest *execution.Error
			if tc.refusal != "" && (!errors.As(err, &asRequest) || asRequest.Code != execution.InvalidRequest) {
				t.Errorf("%v is no invalid request", err)
			}
		})
	}
}

func TestDetectRefusesBrokenJSON(t *testing.T) {
	for name, payload := range map[string]string{
		"empty":          "",
		"cut off":        `{"code":"1"`,
		"twice":          `{"code":"1","code":"2"}`,
		"twice, deeper":  `{"code":"1","context":{"a":1,"a":2}}`,
		"not UTF-8":      "{\"code\":\"\xff\"}",
		"two values":     `{"code":"1"}{"code":"2"}`,
		"lone surrogate": `{"code":"\ud800"}`,
	} {
		t.Run(name, func(t *testing.T) {
			kind, err := events.Detect([]byte(payload))
			var bad *execution.Error
			if kind != "" || !errors.As(err, &bad) || bad.Code != execution.InvalidRequest {
				t.Errorf("got %q, %v", kind, err)
			}
			var unknown *events.UnknownEventError
			if errors.As(err, &unknown) {
				t.Errorf("broken JSON was called an unknown event: %v", err)
			}
		})
	}
}

// TestEveryPublishedSample detects every sample event that the provider's library ships. An event that is not served is
// refused under its own name.
func TestEveryPublishedSample(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/aws/aws-lambda-go").Output()
	if err != nil {
		t.Fatalf("find the provider's library: %v", err)
	}
	got := map[string]string{}
	for _, file := range samples(t, filepath.Join(strings.TrimSpace(string(out)), "events", "testdata")) {
		name := filepath.Base(file)
		if strings.Contains(name, "response") {
			continue
		}
		kind, err := events.Detect(read(t, file))
		if got[name] = string(kind); err != nil {
			got[name] = "refused: " + strings.TrimSuffix(err.Error(),
				err.Error()[strings.Index(err.Error()+" is not an event", " is not an event"):])
		}
	}
	const golden = "testdata/golden/published.txt"
	b, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, golden)), string(b)+"\n"); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", golden, diff)
	}
}

// FuzzDetect: detection is a function of the bytes alone, and whatever is detected is answered without a panic, HTTP
// with a status and batches with a list.
func FuzzDetect(f *testing.F) {
	for _, file := range samples(f, "testdata/provider") {
		f.Add(read(f, file))
	}
	for _, file := range samples(f, "../../infra/deploy/events") {
		f.Add(read(f, file))
	}
	f.Add([]byte(`{"code":"1"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		kind, err := events.Detect(payload)
		if again, _ := events.Detect(payload); again != kind {
			t.Fatalf("%q, then %q", kind, again)
		}
		if (kind == "") != (err != nil) {
			t.Fatalf("kind %q with error %v", kind, err)
		}
		if kind == "" || kind == events.Direct || kind == events.Enveloped {
			return
		}
		rec := &recorder{}
		for _, change := range []func(*events.AdapterConfig){nil, func(c *events.AdapterConfig) { c.OpenHTTP = true },
			func(c *events.AdapterConfig) { c.OpenHTTP, c.Bound = true, boundToAll("input") }} {
			got, err := adapter(t, rec, change).Answer(t.Context(), kind, payload)
			if err == nil && !json.Valid(got) {
				t.Fatalf("%s: the answer is not JSON: %q", kind, got)
			}
		}
	})
}

// TestDeployEvents checks that the sample events in the deployment's documents are of the kinds that these name.
func TestDeployEvents(t *testing.T) {
	want := map[string]events.Kind{
		"direct": events.Direct, "enveloped": events.Enveloped, "function-url": events.FunctionURL,
		"http-api": events.HTTPAPI,
		"rest-api": events.RESTAPI, "load-balancer": events.LoadBalancer, "sqs": events.Queue, "sns": events.Topic,
		"eventbridge": events.Bus, "scheduled": events.Schedule,
	}
	readme := string(read(t, "../../infra/deploy/README.md"))
	for _, file := range samples(t, "../../infra/deploy/events") {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		payload := read(t, file)
		if kind, err := events.Detect(payload); err != nil || kind != want[name] {
			t.Errorf("%s: %q, %v", name, kind, err)
		}
		if want[name] == events.Direct || want[name] == events.Enveloped {
			if _, err := execution.DecodeInvocation(payload); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !strings.Contains(readme, "infra/deploy/events/"+name+".json") {
			t.Errorf("infra/deploy/README.md does not say how to run %s", name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("no event file for %s", name)
	}
}

package localinvoke

import (
	"encoding/json"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// invokeStreaming serves InvokeWithResponseStream: each piece of the answer is an event as soon as it arrives, and an
// InvokeComplete event reports the end.
func (s service) invokeStreaming(w http.ResponseWriter, r *http.Request) {
	c := s.request(w, r)
	if c == nil {
		return
	}
	out := &eventWriter{w: w, encoder: eventstream.NewEncoder()}
	_, end, err := s.serveNow(r.Context(), c, out.chunk)
	if err != nil {
		s.refuseCall(w, err)
		return
	}
	complete := map[string]string{}
	if f := end.asFailure(c, s.cfg.MaxExecution); f != nil {
		complete["ErrorCode"], complete["ErrorDetails"] = f.Type, f.Message
	}
	body, _ := json.Marshal(complete) // strings always encode
	out.event("InvokeComplete", typeJSON, body)
}

// An eventWriter writes an AWS event stream. After the caller has gone it writes nothing; the function continues.
type eventWriter struct {
	w       http.ResponseWriter
	encoder *eventstream.Encoder
	begun   bool
	gone    bool
}

func (s *eventWriter) chunk(data []byte) {
	if len(data) > 0 {
		s.event("PayloadChunk", "application/octet-stream", data)
	}
}

func (s *eventWriter) event(kind, contentType string, body []byte) {
	if s.gone {
		return
	}
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", typeEventStream)
		s.w.Header().Set("X-Amz-Executed-Version", latestVersion)
	}
	var m eventstream.Message
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	m.Headers.Set(":event-type", eventstream.StringValue(kind))
	m.Headers.Set(":content-type", eventstream.StringValue(contentType))
	m.Payload = body
	if s.encoder.Encode(s.w, m) != nil {
		s.gone = true
		return
	}
	s.flush()
}

func (s *eventWriter) flush() {
	if http.NewResponseController(s.w).Flush() != nil {
		s.gone = true
	}
}

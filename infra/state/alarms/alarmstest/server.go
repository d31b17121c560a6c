// Package alarmstest answers as EventBridge Scheduler does to the one request that package alarms sends. It checks the
// names, expressions and ARNs of schedules by the rules of the API reference, and refuses a name that is taken. It
// invokes nothing by itself: [Server.Fire] returns the names of the schedules whose time has come, and deletes them.
// How late EventBridge Scheduler fires, its quotas and its permissions are shown only by AWS. Only tests import it.
package alarmstest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Server holds the schedules of one group. It is safe for concurrent use.
type Server struct {
	// Group, Function and Role are those that a schedule must name.
	Group, Function, Role string

	http *httptest.Server

	mu       sync.Mutex
	set      map[string]time.Time // by name
	requests int
	failing  int // the status of the next answers; 0 for none
}

// Start starts a server. Close must be called.
func Start() *Server {
	s := &Server{
		Group: "due", Function: "arn:aws:lambda:eu-central-1:123456789012:function:jobs",
		Role: "arn:aws:iam::123456789012:role/alarms", set: map[string]time.Time{},
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// Endpoint returns its URL.
func (s *Server) Endpoint() string { return s.http.URL }

// URL returns the setting that names its group, function and role.
func (s *Server) URL() string {
	return "scheduler://" + s.Group + "?function=" + s.Function + "&role=" + s.Role
}

// Requests returns the number of requests so far.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Fail answers with a status from now on, or as usual if it is 0.
func (s *Server) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = status
}

// Next returns the time of the next schedule, and whether there is one.
func (s *Server) Next() (at time.Time, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, each := range s.set {
		if !is || each.Before(at) {
			at, is = each, true
		}
	}
	return at, is
}

// Fire deletes the schedules whose time has come, and returns their names in their order.
func (s *Server) Fire(now time.Time) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, at := range s.set {
		if !at.After(now) {
			names = append(names, name)
			delete(s.set, name)
		}
	}
	slices.Sort(names)
	return names
}

// The patterns of the API reference, and an expression of schedules that fire once.
var (
	nameRule = regexp.MustCompile(`^[0-9a-zA-Z-_.]{1,64}$`)
	onceRule = regexp.MustCompile(`^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$`)
)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	name, create := strings.CutPrefix(r.URL.Path, "/schedules/")
	var in struct {
		ActionAfterCompletion, GroupName, ScheduleExpression, ScheduleExpressionTimezone string

		FlexibleTimeWindow struct{ Mode string }
		Target             struct{ Arn, RoleArn string }
	}
	at := time.Time{}
	err := json.NewDecoder(r.Body).Decode(&in)
	if once := onceRule.FindStringSubmatch(in.ScheduleExpression); err == nil && once != nil {
		at, err = time.Parse("2006-01-02T15:04:05", once[1])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	switch _, taken := s.set[name]; {
	case s.failing != 0:
		refuse(w, s.failing, "InternalServerException", "the service fails")
	case r.Method != http.MethodPost || !create || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "):
		refuse(w, http.StatusForbidden, "AccessDeniedException", "only signed requests to create schedules are served")
	case err != nil || at.IsZero() || !nameRule.MatchString(name) || in.FlexibleTimeWindow.Mode != "OFF" ||
		in.ScheduleExpressionTimezone != "UTC" || in.ActionAfterCompletion != "DELETE":
		refuse(w, http.StatusBadRequest, "ValidationException", "not a schedule that fires once and is deleted")
	case in.GroupName != s.Group:
		refuse(w, http.StatusNotFound, "ResourceNotFoundException", "the group does not exist")
	case in.Target.Arn != s.Function || in.Target.RoleArn != s.Role:
		refuse(w, http.StatusForbidden, "AccessDeniedException", "the role may not be passed, or not for this function")
	case taken:
		refuse(w, http.StatusConflict, "ConflictException", "the schedule exists")
	default:
		s.set[name] = at
		answer(w, http.StatusOK, map[string]string{
			"ScheduleArn": "arn:aws:scheduler:eu-central-1:123456789012:schedule/" + s.Group + "/" + name})
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Amzn-Errortype", code)
	answer(w, status, map[string]string{"Message": message})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone if this fails
}

package mcp

import (
	"context"
	"encoding/json"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// sessionField is the argument of execute_code that names a session.
const sessionField = "session"

// sessionOf returns the session that an argument of execute_code names; "" if there is none.
func sessionOf(given json.RawMessage) (session string, err error) {
	if given != nil && (json.Unmarshal(given, &session) != nil || session == "") {
		return "", invalid(sessionField, "must be the id of a session, which create_session returns")
	}
	return session, nil
}

func createSession(
	ctx context.Context, s *Server, caller Caller, arguments []byte, _ func(execution.Log),
) (answer, error) {
	var o api.SessionOptions
	if err := decode(arguments, &o, "policy, maxAge, from, step"); err != nil {
		return answer{}, err
	}
	caller.decoded()
	made, err := s.cfg.Sessions.CreateSession(ctx, caller, o)
	return answer{content: made}, err
}

func listSessions(
	ctx context.Context, s *Server, caller Caller, arguments []byte, _ func(execution.Log),
) (answer, error) {
	return pageOf(ctx, caller, arguments, s.cfg.Sessions.ListSessions)
}

func deleteSession(
	ctx context.Context, s *Server, caller Caller, arguments []byte, _ func(execution.Log),
) (answer, error) {
	var given struct {
		ID string `json:"id"`
	}
	if err := decode(arguments, &given, "id"); err != nil {
		return answer{}, err
	}
	caller.decoded()
	if err := s.cfg.Sessions.DeleteSession(ctx, caller, given.ID); err != nil {
		return answer{}, err
	}
	return answer{content: []byte(`{"deleted":true}`)}, nil
}

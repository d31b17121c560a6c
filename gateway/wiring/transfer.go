package wiring

import (
	"context"

	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/s3state"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

// OpenTransfer opens a state to copy it, with the largest file of a folder in bytes.
func OpenTransfer(ctx context.Context, state, s3Endpoint string, maxBytes int64) (transfer.Store, func() error, error) {
	switch {
	case settings.IsDatabase(state):
		s, err := pgstate.Open(ctx, state, pgstate.Config{})
		if err != nil {
			return nil, nil, err
		}
		return pgstate.Transfer{Store: s}, s.Close, nil
	case settings.IsTable(state):
		s, err := dynamostate.Open(ctx, state, dynamostate.Config{Access: tableAccess(s3Endpoint)})
		if err != nil {
			return nil, nil, err
		}
		return dynamostate.Transfer{Store: s}, s.Close, nil
	case settings.IsBucket(state):
		s, err := s3state.Open(ctx, state, s3objects.Access{Endpoint: s3Endpoint})
		return s, func() error { return nil }, err
	}
	s, err := sqlitestate.Open(state, sqlitestate.Config{MaxBytes: maxBytes})
	if err != nil {
		return nil, nil, err
	}
	return sqlitestate.Transfer{Store: s}, s.Close, nil
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
)

// answersEvents sends each event of infra/deploy/events to the function behind api, as the AWS CLI would, and checks
// the answers.
func answersEvents(ctx context.Context, api http.Handler) error {
	for name, want := range map[string]string{
		"direct":        `"result":42`,
		"enveloped":     `"result":[14,28,42]`,
		"function-url":  `"statusCode":200`,
		"http-api":      `"statusCode":200`,
		"rest-api":      `"statusCode":200`,
		"load-balancer": `"statusCode":401`,
		"sqs":           `{"batchItemFailures":[{"itemIdentifier":"2e1424d4-f796-459a-8184-9c92662be6da"}]}`,
		"sns":           `"result":42`,
		"eventbridge":   `"result":42`,
		"scheduled":     `"errorType":"invalid_request"`,
	} {
		event, err := os.ReadFile(filepath.Join("infra", "deploy", "events", name+".json"))
		if err != nil {
			return fmt.Errorf("pack runs in the repository's root: %w", err)
		}
		if err := answersEvent(ctx, api, name, event, want); err != nil {
			return err
		}
	}
	return nil
}

// answersEvent sends an event to the function behind api and checks the answer.
func answersEvent(ctx context.Context, api http.Handler, name string, event []byte, want string) error {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/2015-03-31/functions/airlock/invocations",
		bytes.NewReader(event))
	response := httptest.NewRecorder()
	api.ServeHTTP(response, request)
	if got := response.Body.String(); !strings.Contains(got, want) {
		return fmt.Errorf("event %s: the answer %.300s does not hold %s", name, got, want)
	}
	return nil
}

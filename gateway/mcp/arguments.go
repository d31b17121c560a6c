package mcp

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// maxMessage is how many bytes a message may have besides the arguments of a tool. The SDK parses a message five times.
const maxMessage = 64 << 10

// cutArguments returns a message without the arguments of its call, and these, which are nil where the SDK may as well
// parse all of it. It refuses a message that has a name twice: the SDK takes the last, and a proxy may take the first.
// The decoder of the tool checks the arguments. The time that it takes is linear in body.
func cutArguments(body []byte) (message, arguments []byte, err error) {
	short := len(body) <= maxMessage
	from, to, err := argumentsOf(body)
	if err != nil && short && !errors.Is(err, errTwice) {
		return body, nil, nil // the SDK says what is wrong with it
	}
	if err != nil {
		return nil, nil, notOneMessage()
	}
	if len(body)-(to-from) > maxMessage {
		detail := fmt.Sprintf("a message may have at most %d bytes besides the arguments of a tool", maxMessage)
		return nil, nil, api.Invalid("", detail)
	}
	message = append(make([]byte, 0, len(body)-(to-from)+2), body[:from]...)
	if to > 0 {
		message = append(message, "{}"...)
	}
	message = append(message, body[to:]...)
	err = jsontext.NewDecoder(bytes.NewReader(message)).SkipValue()
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return nil, nil, notOneMessage()
	}
	if short {
		return body, nil, nil
	}
	return message, bytes.Clone(body[from:to]), nil
}

func notOneMessage() error {
	return api.Invalid("", "the message is not a JSON-RPC message, or a member occurs twice")
}

// argumentsOf returns where params.arguments begins and ends in a JSON object; both are 0 where there are none.
func argumentsOf(body []byte) (from, to int, err error) {
	a := execution.Abridge(body)
	dec := jsontext.NewDecoder(bytes.NewBuffer(a.Short), jsontext.AllowDuplicateNames(true))
	var params bool
	err = members(dec, func(name string) error {
		if name != "params" || dec.PeekKind() != '{' {
			return dec.SkipValue()
		}
		if params {
			return errTwice
		}
		params = true
		return members(dec, func(name string) error {
			if name != "arguments" {
				return dec.SkipValue()
			}
			if to > 0 {
				return errTwice
			}
			value, err := dec.ReadValue()
			from, to = a.Original(int(dec.InputOffset())-len(value)), a.Original(int(dec.InputOffset()))
			return err
		})
	})
	return from, to, err
}

var errTwice = errors.New("a member occurs twice")

// members reads an object. each reads the value of a member.
func members(dec *jsontext.Decoder, each func(name string) error) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() != '{' {
		return errors.New("not an object")
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := each(name.String()); err != nil {
			return err
		}
	}
	_, err = dec.ReadToken()
	return err
}

//go:build !linux || !amd64

package engines

import (
	"context"
	"errors"
)

const supported = false

var errUnsupported = errors.New("needs Linux on amd64")

type template struct{ walls []string }

func newTemplate(context.Context, Config) (*template, error) { return nil, errUnsupported }
func (*template) fork() (*Process, error)                    { return nil, errUnsupported }
func (*template) close()                                     {}

func limit(int, int64) error { return errUnsupported }

func (*template) weigh() (whole, each int64, err error) { return 0, 0, nil }

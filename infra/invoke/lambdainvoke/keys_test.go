package lambdainvoke_test

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// keys are credentials that no service checks.
type keys struct{}

func (keys) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret"}, nil
}

package wiring

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/deploy/contract"
)

// asked is an environment that remembers what it was asked for.
func asked(pairs ...string) (getenv func(string) string, names map[string]bool) {
	names = map[string]bool{}
	from := environment(pairs...)
	return func(name string) string {
		names[name] = true
		return from(name)
	}, names
}

// lambdaEnv is what the template sets for the gateway on Lambda, apart from what Lambda sets itself.
var lambdaEnv = []string{
	"INVOKER=lambda", "LAMBDA_FUNCTION=airlock-{policy}", "LAMBDA_TENANCY=shared", "AUDIT_STORE=s3://bucket/audit",
	"JWT_SECRET=a secret of the tests with 32 bytes or more", "REDIS_URL=", "JWT_JWKS_URL=", "JWT_ISSUER=",
	"JWT_AUDIENCE=", "CORS_ORIGINS=",
}

// Every variable that the templates set is one that the program which gets it reads: a slip would be silently nothing.
func TestTemplatesSetWhatIsRead(t *testing.T) {
	t.Parallel()
	serves := func(extra ...string) map[string]bool {
		getenv, names := asked(append(extra, lambdaEnv...)...)
		if _, err := settings.Read(getenv, time.Now); err != nil {
			t.Fatal(err)
		}
		if _, _, err := openTracer(context.Background(), getenv); err != nil {
			t.Fatal(err)
		}
		return names
	}
	runs, function := asked("AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001", "AUDIT_STORE=s3://bucket/audit",
		"HANDOVER_STORE=s3://bucket/handover")
	if _, err := process.ReadSettings(runs, "/var/task/bootstrap"); err != nil {
		t.Fatal(err)
	}
	onLambda := serves("AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001")
	jobs := serves("AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001", "LAMBDA_FRONT=jobs",
		"AIRLOCK_STATE=dynamodb://table?contents=s3://bucket/state")
	readers := map[string]map[string]bool{
		"Strict": function, "Standard": function, "Extended": function, "Agent": function, "Gateway": onLambda, "Jobs": jobs,
		"Task": serves("HOST=0.0.0.0"),
	}
	for _, path := range []string{"../../template.yaml", "../../infra/deploy/fargate.yaml"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		set, err := contract.Variables(data)
		if err != nil {
			t.Fatal(err)
		}
		for resource, variables := range set {
			if len(variables) == 0 {
				t.Errorf("%s: %s sets nothing", path, resource)
			}
			for _, name := range variables {
				if !readers[resource][name] && !strings.HasPrefix(name, "AWS_") {
					t.Errorf("%s: %s sets %s, which nothing there reads", path, resource, name)
				}
			}
			delete(readers, resource)
		}
	}
	if len(readers) > 0 {
		t.Errorf("no template sets anything for %v", readers)
	}
}

package execution_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

// Every member of a request says what it accepts, and every object lists all its members.
func TestMessagesNameWhatIsAccepted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		object        reflect.Type
		before, after string // what encloses a member of the object
	}{
		{reflect.TypeFor[execution.Request](), `{`, `}`},
		{reflect.TypeFor[execution.Limits](), `{"limits": {`, `}}`},
		{reflect.TypeFor[execution.Debug](), `{"debug": {`, `}}`},
		{reflect.TypeFor[execution.Tool](), `{"tools": [{`, `}]}`},
	} {
		_, err := execution.DecodeRequest([]byte(c.before + `"unknown": 1` + c.after))
		listed := err.Error()
		for f := range c.object.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "-" || name == "server" { // the gateway sets the server of a tool
				continue
			}
			if !strings.Contains(listed, name) {
				t.Errorf("%s is not among the members that are accepted: %s", name, listed)
			}
			for _, value := range []string{`5`, `"x"`, `{}`, `[]`, `true`, `[5]`} {
				_, err := execution.DecodeRequest([]byte(c.before + `"` + name + `": ` + value + c.after))
				if err != nil && strings.Contains(err.Error(), "another type") {
					t.Errorf("%s: %s: %v", name, value, err)
				}
			}
		}
	}
}

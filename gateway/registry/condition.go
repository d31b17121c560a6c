package registry

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// Changed is the error of a change whose condition does not hold.
type Changed struct{ Reason string }

// Error returns the reason.
func (c *Changed) Error() string { return c.Reason }

// A Condition says what a function must be for a change to happen (RFC 9110 §13). The zero Condition always holds.
type Condition struct {
	// Match has the entity tags of If-Match, of which the function must have one. "*" stands for every function that
	// exists.
	Match string
	// New is true for If-None-Match: *, which holds if there is no function.
	New bool
}

// conditionOf returns the condition of a request.
func conditionOf(c *fiber.Ctx) (Condition, error) {
	var condition Condition
	match, there := api.FieldOf(c, fiber.HeaderIfMatch)
	if condition.Match = strings.TrimSpace(match); there && strings.Trim(match, ", ") == "" {
		return condition, api.Invalid("If-Match", "has no entity tag; leave it out to save without a condition")
	}
	none, there := api.FieldOf(c, fiber.HeaderIfNoneMatch)
	if condition.New = strings.TrimSpace(none) == "*"; there && !condition.New {
		return condition, api.Invalid("If-None-Match", "can only be * here: save the function if there is none")
	}
	return condition, nil
}

// check returns a *Changed if the condition does not hold for f, which has no versions if there is no function.
func (c Condition) check(f execution.SavedFunction) error {
	exists := len(f.Versions) > 0
	switch {
	case c.New && exists:
		return &Changed{"the function " + f.Name + " exists; save it without If-None-Match to make a version of it"}
	case c.Match == "":
	case !exists:
		return &Changed{"there is no function " + f.Name + " to match If-Match"}
	case c.Match != "*" && !listed(c.Match, tagOf(f)):
		return &Changed{"the function " + f.Name + " is not the one that If-Match names; somebody changed it since. " +
			"Get it again"}
	}
	return nil
}

// listed reports whether a list of entity tags has a tag. Weak tags do not count (RFC 9110 §13.1.1).
func listed(tags, tag string) bool {
	for one := range strings.SplitSeq(tags, ",") {
		if strings.TrimSpace(one) == tag {
			return true
		}
	}
	return false
}

// tagOf returns the entity tag of a function. It changes when the function is saved or an alias moves, and not when a
// run reports how it started or a schedule proceeds.
func tagOf(f execution.SavedFunction) string {
	state := struct {
		Name     string
		Created  string
		Updated  string
		Versions []string
		Aliases  map[string]execution.FunctionAlias
		Hook     *execution.FunctionHook
		Schedule execution.FunctionSchedule
	}{Name: f.Name, Created: api.Stamp(f.CreatedAt), Updated: api.Stamp(f.UpdatedAt), Aliases: f.Aliases, Hook: f.Hook}
	for _, v := range f.Versions {
		state.Versions = append(state.Versions, v.Digest)
	}
	if f.Schedule != nil {
		state.Schedule = *f.Schedule
		state.Schedule.Next = time.Time{}
	}
	text, err := json.Marshal(state)
	if err != nil {
		return "" // only a schedule's input could fail, and it was decoded
	}
	return api.Tag(text)
}

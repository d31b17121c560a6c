package contract

import (
	"net/url"
	"slices"
	"strings"
)

// checkSweep checks that a schedule invokes the function that runs jobs every 15 minutes. That finds work whose alarm
// was lost.
func checkSweep(t *template, function string, r *report) {
	for _, name := range t.each("AWS::Scheduler::Schedule") {
		props := t.resources[name].props
		to := asObject(props["Target"])
		if target(to["Arn"]) == function && text(props["ScheduleExpression"]) == "rate(15 minutes)" &&
			text(props["State"]) != "DISABLED" && text(get(props, "FlexibleTimeWindow", "Mode")) == "OFF" &&
			mayInvoke(t, target(to["RoleArn"]), text(t.resources[function].props["FunctionName"])) {
			return
		}
	}
	r.add("jobs-sweep", function, "must be invoked by a schedule of rate(15 minutes), with a role that may do so: work "+
		"whose alarm was lost waits for that")
}

// checkAlarms checks that a function that stores or runs jobs sets alarms: in a group of the template, for a function
// that runs jobs (by its FunctionName, in running), with a role that may invoke it, and that its own role may do so.
func checkAlarms(t *template, name string, running map[string]bool, r *report) {
	props := t.resources[name].props
	value := get(props, "Environment", "Variables", "LAMBDA_ALARMS")
	place, err := url.Parse(plain(text(value)))
	if err != nil || place.Scheme != "scheduler" {
		r.add("jobs-alarms", name, "LAMBDA_ALARMS must be scheduler://group?function=ARN&role=ARN: schedules, callbacks and "+
			"jobs that nobody was woken for wait for alarms")
		return
	}
	_, function, _ := strings.Cut(place.Query().Get("function"), ":function:")
	function = templated(function)
	role, _, _ := strings.Cut(strings.Trim(templated(place.Query().Get("role")), "${}"), ".")
	group := templated(place.Host)
	switch {
	case !running[function]:
		r.add("jobs-alarms", name, "the alarms invoke %s, which no function here is with LAMBDA_FRONT=jobs", function)
	case !mayInvoke(t, role, function):
		r.add("jobs-alarms", name, "the role of the alarms, %s, must trust scheduler.amazonaws.com and be allowed to "+
			"invoke %s", role, function)
	case !slices.ContainsFunc(t.each("AWS::Scheduler::ScheduleGroup"), func(each string) bool {
		return text(t.resources[each].props["Name"]) == group
	}):
		r.add("jobs-alarms", name, "the alarms are in the group %s, which the template lacks", group)
	case !allows(t, target(props["Role"]), "scheduler:CreateSchedule", ":schedule/"+group+"/due-*"):
		r.add("jobs-alarms", name, "its role must be allowed to create schedules that are called due-* in %s", group)
	case !allows(t, target(props["Role"]), "iam:PassRole", role+".Arn"):
		r.add("jobs-alarms", name, "its role must be allowed to pass %s", role)
	}
}

// plain spells the ${…} of a text so that it can be part of a URL, and templated undoes that.
func plain(text string) string {
	return strings.NewReplacer("${", "~", "}", "~", "::", "__").Replace(text)
}

func templated(text string) string {
	for strings.Count(text, "~") > 1 {
		text = strings.Replace(strings.Replace(text, "~", "${", 1), "~", "}", 1)
	}
	return strings.ReplaceAll(text, "__", "::")
}

// mayInvoke reports whether EventBridge Scheduler may take a role, and with it invoke the function with a name.
func mayInvoke(t *template, role, function string) bool {
	props := t.resources[role].props
	trusted := slices.ContainsFunc(list(get(props, "AssumeRolePolicyDocument", "Statement")), func(s any) bool {
		return text(get(s, "Principal", "Service")) == "scheduler.amazonaws.com" && get(s, "Condition") != nil
	})
	return trusted && function != "" && allows(t, role, "lambda:InvokeFunction", ":function:"+function)
}

// allows reports whether a role may do an action on a resource whose ARN has an end, or that refers to it by GetAtt.
func allows(t *template, role, action, end string) bool {
	for _, s := range statements(t) {
		if s.in != role || text(s.body["Effect"]) != "Allow" {
			continue
		}
		may := slices.ContainsFunc(list(s.body["Action"]), func(a any) bool { return text(a) == action })
		on := slices.ContainsFunc(list(s.body["Resource"]), func(res any) bool {
			return strings.HasSuffix(text(res), end) || text(res) == "" && target(res)+".Arn" == end
		})
		if may && on {
			return true
		}
	}
	return false
}

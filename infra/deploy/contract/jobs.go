package contract

import "time"

// jobTime is the least timeout of the function that runs jobs: one job, and as much again to start some.
const jobTime = 4 * time.Minute

// checkJobs checks that a function runs the stored jobs of a gateway on Lambda, woken or not.
func checkJobs(t *template, r *report) {
	variable := func(name, variable string) string {
		return text(get(t.resources[name].props, "Environment", "Variables", variable))
	}
	running := map[string]bool{} // by FunctionName
	for _, name := range t.each("AWS::Serverless::Function", "AWS::Lambda::Function") {
		if variable(name, "LAMBDA_FRONT") != "jobs" {
			continue
		}
		props := t.resources[name].props
		running[text(props["FunctionName"])] = true
		if timeout := number(props["Timeout"]); timeout > 0 && time.Duration(timeout)*time.Second < jobTime {
			r.add("jobs-time", name, "Timeout must be %v or more: a job is begun only while there is time for all of it",
				jobTime)
		}
		checkSweep(t, name, r)
	}
	for _, name := range t.each("AWS::Serverless::Function", "AWS::Lambda::Function") {
		if function := variable(name, "LAMBDA_JOBS_FUNCTION"); function != "" && !running[function] {
			r.add("jobs-function", name, "LAMBDA_JOBS_FUNCTION is %s, which no function here is with LAMBDA_FRONT=jobs",
				function)
		}
		if get(t.resources[name].props, "Environment", "Variables", "LAMBDA_FRONT") != nil {
			checkAlarms(t, name, running, r)
		}
	}
}

// checkWakes checks the queues that wake a function that runs jobs: their messages are delivered to it, and not again
// while it runs.
func checkWakes(t *template, r *report) {
	for _, name := range t.each("AWS::Serverless::Function", "AWS::Lambda::Function") {
		props := t.resources[name].props
		if text(get(props, "Environment", "Variables", "LAMBDA_FRONT")) != "jobs" {
			continue
		}
		for _, variable := range []string{"JOBS_QUEUE", "CALLBACKS_QUEUE"} {
			for _, value := range branches(get(props, "Environment", "Variables", variable)) {
				queue := t.resources[target(value)]
				if queue.kind != "AWS::SQS::Queue" {
					continue
				}
				if number(queue.props["VisibilityTimeout"]) < 6*number(props["Timeout"]) {
					r.add("wakes-visibility", target(value), "VisibilityTimeout must be six times the timeout of %s or more", name)
				}
				if !sourced(t, target(value), name) {
					r.add("wakes-source", target(value), "must be an event source of %s", name)
				}
			}
		}
	}
}

// sourced reports whether the messages of a queue are delivered to a function.
func sourced(t *template, queue, function string) bool {
	for _, source := range t.each("AWS::Lambda::EventSourceMapping") {
		props := t.resources[source].props
		if target(props["EventSourceArn"]) == queue && target(props["FunctionName"]) == function {
			return true
		}
	}
	return false
}

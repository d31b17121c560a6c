package mcp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

// services are 25 attached servers: a name, what it is, and what it has. Each thing has nine tools.
var services = []struct{ name, about, things string }{
	{"github", "GitHub", "issue,pull request,repository,branch,release,workflow"},
	{"gitlab", "GitLab", "merge request,pipeline,project,snippet,runner"},
	{"jira", "Jira", "ticket,sprint,board,epic,worklog"},
	{"linear", "Linear", "task,cycle,team,label"},
	{"slack", "Slack", "message,channel,reminder,user group,emoji"},
	{"gmail", "Gmail", "email,draft,thread,filter,attachment"},
	{"calendar", "Google Calendar", "event,calendar,attendee,room booking"},
	{"drive", "Google Drive", "file,folder,permission,shared drive,comment"},
	{"notion", "Notion", "page,database,block,template"},
	{"stripe", "Stripe", "payment,refund,customer,subscription,invoice,payout,coupon,dispute"},
	{"shopify", "Shopify", "order,product,collection,discount code,inventory level,fulfillment"},
	{"salesforce", "Salesforce", "lead,opportunity,account,contact,campaign"},
	{"hubspot", "HubSpot", "deal,company,form,mailing list"},
	{"zendesk", "Zendesk", "support ticket,macro,help article,satisfaction rating"},
	{"aws", "Amazon Web Services", "instance,bucket,lambda function,security group,log group"},
	{"kubernetes", "Kubernetes", "pod,deployment,service,config map,secret,node"},
	{"postgres", "PostgreSQL", "table,index,view,role,backup"},
	{"datadog", "Datadog", "monitor,metric,incident,service level objective,dashboard"},
	{"pagerduty", "PagerDuty", "on-call schedule,escalation policy,alert"},
	{"weather", "the weather service", "forecast,station,storm warning"},
	{"maps", "the maps service", "route,place,address,traffic report"},
	{"flights", "the airline", "flight,seat,boarding pass,passenger"},
	{"hr", "the personnel system", "employee,vacation request,payslip,job opening,candidate"},
	{"twilio", "Twilio", "text message,phone call,phone number,voicemail"},
	{"crm", "the customer database", "note,segment,activity,owner"},
}

// verbs are the tools of a thing. %s stands for the thing, %[2]s for the service.
var verbs = []struct{ name, about string }{
	{"create_%s", "Creates a new %s in %[2]s and returns its ID."},
	{"get_%s", "Gets one %s of %[2]s by its ID, with all of its fields."},
	{"list_%ss", "Lists every %s of %[2]s, in pages, newest first."},
	{"search_%ss", "Searches %[2]s for each %s that matches a query."},
	{"update_%s", "Updates fields of a %s in %[2]s."},
	{"delete_%s", "Deletes a %s from %[2]s for good. This cannot be undone."},
	{"archive_%s", "Archives a %s of %[2]s, which hides it from lists."},
	{"export_%ss", "Exports every %s of %[2]s to a CSV file."},
	{"count_%ss", "Counts the %ss of %[2]s that match a filter."},
}

// particular are tools that have a name of their own.
var particular = []execution.Tool{
	{Name: "github:merge_pull_request",
		Description: "Merges a pull request into its base branch. Method: merge, squash or rebase."},
	{Name: "github:add_issue_comment", Description: "Adds a comment to an issue or a pull request."},
	{Name: "slack:post_message", Description: "Posts a message to a channel, or to a person."},
	{Name: "slack:invite_to_channel", Description: "Invites people to a channel."},
	{Name: "gmail:send_email", Description: "Sends an email with a subject, a body and attachments."},
	{Name: "gmail:mark_as_read", Description: "Marks emails as read."},
	{Name: "calendar:find_free_time", Description: "Finds times at which all of the given people are free."},
	{Name: "drive:share_file", Description: "Shares a file with people, who may view, comment or edit."},
	{Name: "stripe:cancel_subscription",
		Description: "Cancels the subscription of a customer, now or at the end of its period."},
	{Name: "stripe:capture_payment", Description: "Captures the funds of a payment that was authorized before."},
	{Name: "shopify:fulfill_order", Description: "Marks an order as shipped, with a tracking number."},
	{Name: "salesforce:convert_lead", Description: "Converts a lead to an account, a contact and an opportunity."},
	{Name: "zendesk:assign_ticket", Description: "Assigns a support ticket to an agent or a group."},
	{Name: "aws:invoke_lambda", Description: "Invokes a Lambda function with a payload and returns its response."},
	{Name: "aws:start_instance", Description: "Starts a stopped EC2 instance."},
	{Name: "aws:stop_instance", Description: "Stops a running EC2 instance."},
	{Name: "kubernetes:scale_deployment", Description: "Sets the number of replicas of a deployment."},
	{Name: "kubernetes:get_pod_logs", Description: "Returns the last lines that the containers of a pod logged."},
	{Name: "kubernetes:rollback_deployment", Description: "Returns a deployment to an earlier revision."},
	{Name: "postgres:run_query", Description: "Runs a read-only SQL query and returns its rows."},
	{Name: "datadog:query_metrics", Description: "Returns the points of a time series between two times."},
	{Name: "datadog:mute_monitor", Description: "Mutes the notifications of a monitor for a while."},
	{Name: "pagerduty:who_is_on_call", Description: "Returns the person who is on call now for a service."},
	{Name: "pagerduty:acknowledge_alert", Description: "Acknowledges an alert, so that it is not escalated."},
	{Name: "weather:current_conditions", Description: "Returns temperature, wind and humidity of a city now."},
	{Name: "maps:geocode", Description: "Converts an address to latitude and longitude."},
	{Name: "maps:get_directions",
		Description: "Returns the fastest way between two places by car, by bicycle or on foot."},
	{Name: "flights:check_in", Description: "Checks a passenger in for a flight and issues the boarding pass."},
	{Name: "flights:cancel_booking", Description: "Cancels a booking and returns the fare, where its rules permit."},
	{Name: "hr:approve_vacation", Description: "Approves or declines a vacation request of an employee."},
	{Name: "twilio:send_sms", Description: "Sends a text message (SMS) to a phone number."},
	{Name: "jira:transition_ticket", Description: "Moves a ticket to another status, such as In Progress or Done."},
}

func catalogue() []execution.Tool {
	all := slices.Clone(particular)
	for _, s := range services {
		for thing := range strings.SplitSeq(s.things, ",") {
			word := strings.ReplaceAll(strings.ReplaceAll(thing, " ", "_"), "-", "_")
			for _, v := range verbs {
				all = append(all, execution.Tool{
					Name: s.name + ":" + fmt.Sprintf(v.name, word), Description: fmt.Sprintf(v.about, thing, s.about),
				})
			}
		}
	}
	return all
}

// questions are what a model may search for, and the tools that do it, any of which is right.
var questions = [][]string{
	{"create a github issue", "github:create_issue"},
	{"open a pull request on GitHub", "github:create_pull_request"},
	{"merge a pull request", "github:merge_pull_request"},
	{"comment on an issue", "github:add_issue_comment"},
	{"list the branches of a repository", "github:list_branchs"},
	{"post a message to a slack channel", "slack:post_message"},
	{"send slack message", "slack:post_message", "slack:create_message"},
	{"invite somebody to a channel", "slack:invite_to_channel"},
	{"send an email", "gmail:send_email"},
	{"search my emails", "gmail:search_emails"},
	{"find a time when everybody is free", "calendar:find_free_time"},
	{"schedule a meeting in the calendar", "calendar:create_event"},
	{"share a file with a colleague", "drive:share_file"},
	{"refund a customer's payment", "stripe:create_refund"},
	{"cancel a subscription", "stripe:cancel_subscription"},
	{"list unpaid invoices", "stripe:list_invoices"},
	{"count the orders of last month", "shopify:count_orders"},
	{"mark an order as shipped", "shopify:fulfill_order"},
	{"convert a lead into an opportunity", "salesforce:convert_lead"},
	{"assign support ticket to an agent", "zendesk:assign_ticket"},
	{"invoke a lambda function", "aws:invoke_lambda"},
	{"stop an EC2 instance", "aws:stop_instance"},
	{"logs of a pod", "kubernetes:get_pod_logs"},
	{"scale a deployment to 5 replicas", "kubernetes:scale_deployment"},
	{"roll back the deployment", "kubernetes:rollback_deployment"},
	{"run a SQL query", "postgres:run_query"},
	{"query metrics from datadog", "datadog:query_metrics"},
	{"who is on call right now?", "pagerduty:who_is_on_call"},
	{"silence a monitor", "datadog:mute_monitor"},
	{"current temperature in Rome", "weather:current_conditions"},
	{"weather forecast", "weather:get_forecast", "weather:list_forecasts", "weather:search_forecasts"},
	{"latitude and longitude of an address", "maps:geocode"},
	{"directions from the office to the airport by car", "maps:get_directions"},
	{"check in for my flight", "flights:check_in"},
	{"approve vacation of an employee", "hr:approve_vacation"},
	{"send a text message to a phone", "twilio:send_sms"},
	{"move a Jira ticket to done", "jira:transition_ticket"},
	{"delete a Google Drive folder", "drive:delete_folder"},
	{"getCustomer stripe", "stripe:get_customer"},
	{"export all employees as CSV", "hr:export_employees"},
	{"add a new contact to Salesforce", "salesforce:create_contact"},
	{"remove a label in linear", "linear:delete_label"},
	{"edit a notion page", "notion:update_page"},
	{"fetch a zendesk ticket", "zendesk:get_support_ticket"},
	{"find products", "shopify:search_products"},
	{"show all kubernetes nodes", "kubernetes:list_nodes"},
	{"look up a flight", "flights:search_flights", "flights:get_flight"},
	{"make a discount code", "shopify:create_discount_code"},
	{"open a new jira epic", "jira:create_epic"},
	{"fetch pod logs", "kubernetes:get_pod_logs"},
	{"send a reminder in Slack", "slack:create_reminder"},
	{"how many open incidents are there", "datadog:count_incidents"},
	{"drop a database table", "postgres:delete_table"},
	{"list all s3 buckets", "aws:list_buckets"},
	{"new gmail draft", "gmail:create_draft"},
	{"read an email", "gmail:get_email"},
	{"set the escalation policy", "pagerduty:update_escalation_policy"},
	{"add note to customer", "crm:create_note"},
	{"issue a payout with stripe", "stripe:create_payout"},
	{"retrieve boarding passes", "flights:get_boarding_pass", "flights:list_boarding_passs"},
	{"end an incident", "datadog:update_incident", "datadog:archive_incident"},
}

// Among 1,000 tools, a search in a model's own words finds the tool.
func TestSearchAmongAThousandTools(t *testing.T) {
	t.Parallel()
	all := catalogue()
	first, five := 0, 0
	var missed strings.Builder
	for _, q := range questions {
		found := newToolIndex(all).rank(all, q[0])
		at := slices.IndexFunc(found, func(t execution.Tool) bool { return slices.Contains(q[1:], t.Name) })
		switch {
		case at == 0:
			first++
			fallthrough
		case at > 0 && at < 5:
			five++
		}
		if at != 0 {
			fmt.Fprintf(&missed, "%q: %s is at %d\n", q[0], q[1], at)
		}
	}
	if first < 50 || five < 58 {
		t.Errorf("of %d tools, %d of %d searches find theirs first, %d among five\n%s", len(all), first, len(questions),
			five, missed.String())
	}
}

package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
)

// approvalsTool holds what the commands for paused executions share.
type approvalsTool struct{ gatewayTool }

// approvalsCommand decides about paused executions of a gateway.
func approvalsCommand(con terminal.Console) *cobra.Command {
	tool := &approvalsTool{gatewayTool{con: con}}
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List paused executions of a gateway, and decide about them",
		Long: "List the executions of a gateway that wait, and decide about what they wait for. The gateway is the one of\n" +
			"--server or AIRLOCK_SERVER, else the one on this machine. Deciding needs a token with the scope approve.\n\n" +
			exit.Codes,
		Example: "  airlock approvals list\n" +
			"  airlock approvals show exec_01JD5Z6Q8V0000000000000000\n" +
			"  airlock approvals approve exec_01JD5Z6Q8V0000000000000000 --reason 'within the limit'\n" +
			"  airlock approvals reject exec_01JD5Z6Q8V0000000000000000 --seq 2",
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	tool.declare(cmd)
	cmd.AddCommand(tool.list(), tool.show(), tool.approve(), tool.reject())
	return cmd
}

func (a *approvalsTool) list() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the paused executions, oldest first",
		Example: "  airlock approvals list --json | jq -r '.[].id'",
		Args:    cobra.NoArgs,
		RunE: with(&a.gatewayTool, func(ctx context.Context, c *client.Client, _ []string) ([]client.Execution, error) {
			return pages(ctx, c.Paused)
		}, func(all []client.Execution) error {
			w := tabwriter.NewWriter(a.con.Stdout, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tRECEIVED\tBY\tWAITS FOR")
			for _, e := range all {
				var waits []string
				for _, x := range e.Waiting {
					waits = append(waits, operation(x))
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", terminal.OneLine(e.ID), terminal.OneLine(e.ReceivedAt),
					terminal.OneLine(e.RequestedBy), terminal.OneLine(strings.Join(waits, ", ")))
			}
			return w.Flush()
		}),
	}
}

// operation describes what an execution waits for in a few words.
func operation(w execution.Waiting) string {
	words := []string{fmt.Sprint(w.Seq), w.Kind}
	for _, text := range []string{w.Tool, w.Name, w.Title} {
		if text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}

func (a *approvalsTool) show() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Print what an execution waits for, and its code",
		Example: "  airlock approvals show exec_01JD5Z6Q8V0000000000000000",
		Args:    cobra.ExactArgs(1),
		RunE: with(&a.gatewayTool, func(ctx context.Context, c *client.Client, args []string) (client.Execution, error) {
			return c.Execution(ctx, args[0])
		}, func(e client.Execution) error {
			if err := a.print(e); err != nil || e.Code == "" {
				return err
			}
			_, err := fmt.Fprintf(terminal.OfGuests(a.con.Stdout), "\n%s\n", strings.TrimSuffix(e.Code, "\n"))
			return err
		}),
	}
}

// print prints the state of an execution: a line for itself, and one for each operation that it waits for.
func (a *approvalsTool) print(e client.Execution) error {
	out := a.con.Stdout
	line := e.ID + " " + string(e.Status)
	if e.RequestedBy != "" {
		line += fmt.Sprintf(", segment %d, requested by %s, expires %s", e.Segment, e.RequestedBy, e.ExpiresAt)
	}
	_, err := fmt.Fprintln(out, terminal.OneLine(line))
	for _, w := range e.Waiting {
		text := operation(w)
		for _, more := range []string{w.Detail, string(w.Args), string(w.Schema)} {
			if more != "" {
				text += " " + more
			}
		}
		fmt.Fprintln(out, "  "+terminal.OneLine(text))
	}
	for _, d := range e.Decided {
		fmt.Fprintln(out, "  "+terminal.OneLine(strings.TrimSpace(fmt.Sprintf("%d decided: %s by %s at %s %s", d.Seq,
			d.Decision, d.By, d.At, d.Reason))))
	}
	return err
}

// decisionFlags holds the flags of a decision.
type decisionFlags struct {
	seq                 int
	reason, args, value string
}

func (f *decisionFlags) declare(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.seq, "seq", 0, "number of the operation (default the only one that can be decided)")
	cmd.Flags().StringVar(&f.reason, "reason", "", "reason for the record; code whose operation is rejected reads it")
}

func (a *approvalsTool) approve() *cobra.Command {
	var f decisionFlags
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Let an operation happen, with its arguments or others, or answer it",
		Long: "Approve an operation of a paused execution. With --args its tool is called with other arguments; with\n" +
			"--value the tool is not called, and the value stands for its answer. Wait up to 30 seconds until the\n" +
			"execution pauses again or ends, and print its state.\n\n" + exit.Codes,
		Example: "  airlock approvals approve exec_01JD5Z6Q8V0000000000000000 --reason 'within the limit'\n" +
			"  airlock approvals approve exec_01JD5Z6Q8V0000000000000000 --seq 2 --args '{\"order\": 8}'\n" +
			"  airlock approvals approve exec_01JD5Z6Q8V0000000000000000 --value '\"paid by hand\"'",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			d := client.Decision{Decision: execution.Approve}
			if d.Args, err = jsonFlag("--args", f.args, a.con.Stdin); err != nil {
				return exit.With(exit.Usage, err)
			}
			if d.Value, err = jsonFlag("--value", f.value, a.con.Stdin); err != nil {
				return exit.With(exit.Usage, err)
			}
			switch {
			case d.Args != nil:
				d.Decision = execution.Edit
			case d.Value != nil:
				d.Decision = execution.Respond
			}
			return a.decide(cmd, args, f, d)
		},
	}
	f.declare(cmd)
	cmd.Flags().StringVar(&f.args, "args", "", "call the tool with these arguments: a JSON object, or @FILE")
	cmd.Flags().StringVar(&f.value, "value", "", "do not call the tool; its answer is this JSON, or @FILE")
	cmd.MarkFlagsMutuallyExclusive("args", "value")
	return cmd
}

func (a *approvalsTool) reject() *cobra.Command {
	var f decisionFlags
	cmd := &cobra.Command{
		Use:     "reject ID",
		Short:   "Refuse an operation; the code gets a RejectedError",
		Example: "  airlock approvals reject exec_01JD5Z6Q8V0000000000000000 --reason 'above the limit'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.decide(cmd, args, f, client.Decision{Decision: execution.Reject})
		},
	}
	f.declare(cmd)
	return cmd
}

// decide sends a decision and prints the state of the execution after it.
func (a *approvalsTool) decide(cmd *cobra.Command, args []string, f decisionFlags, d client.Decision) error {
	d.Seq, d.Reason = f.seq, f.reason
	ask := func(ctx context.Context, c *client.Client, args []string) (client.Execution, error) {
		if !cmd.Flags().Changed("seq") {
			var err error
			if d.Seq, err = onlyOne(ctx, c, args[0]); err != nil {
				return client.Execution{}, err
			}
		}
		waited := a.con.Progress("running")
		defer waited()
		return c.Decide(ctx, args[0], d)
	}
	return with(&a.gatewayTool, ask, a.print)(cmd, args)
}

// onlyOne returns the number of the only operation of an execution that somebody can decide.
func onlyOne(ctx context.Context, c *client.Client, id string) (int, error) {
	e, err := c.Execution(ctx, id)
	if err != nil {
		return 0, err
	}
	var seqs []int
	for _, w := range e.Waiting {
		if w.Kind == execution.WaitApproval || w.Kind == execution.WaitTool {
			seqs = append(seqs, w.Seq)
		}
	}
	switch len(seqs) {
	case 0:
		return 0, &execution.Error{Code: execution.InvalidRequest,
			Message: "the execution does not wait for a decision: its status is " + string(e.Status)}
	case 1:
		return seqs[0], nil
	}
	return 0, &execution.Error{Code: execution.InvalidRequest, Field: "--seq",
		Message: fmt.Sprintf("is required: the execution waits for the operations %s", strings.Trim(fmt.Sprint(seqs), "[]"))}
}

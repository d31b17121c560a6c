package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/airlock-run/airlock/functions/process/smallfile"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/policy/audit"
)

// checkpointCommand prints a signed checkpoint of the chains, to be stored elsewhere.
func (a *tool) checkpointCommand() *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use:   "checkpoint",
		Short: "Print a signed checkpoint of the chains, to store elsewhere",
		Long: "Print the head of each writer's chain as a signed checkpoint (c2sp.org/tlog-checkpoint), or without\n" +
			"--key as lines for --expect-head. Store it where those who can write records cannot: airlock audit verify\n" +
			"--checkpoint then finds records that were removed or rewritten since, even all of them. A checkpoint says\n" +
			"nothing about later records.",
		Example: "  airlock audit checkpoint --key checkpoint.key > records.checkpoint\n" +
			"  airlock audit verify --checkpoint records.checkpoint --checkpoint-key checkpoint.pub",
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.with(func(cmd *cobra.Command, store records.Store, _ []string) error {
		var signer note.Signer
		if keyFile != "" {
			text, err := smallfile.Read(keyFile, 4096)
			if err == nil {
				signer, err = note.NewSigner(strings.TrimSpace(string(text)))
			}
			if err != nil {
				return exit.With(exit.Usage, fmt.Errorf("--key: %s is not a private key of airlock audit keygen",
					terminal.OneLine(keyFile)))
			}
		}
		heads, err := store.Heads(cmd.Context())
		if err != nil {
			return exit.With(exit.Platform, err)
		}
		if signer == nil {
			for _, h := range heads {
				if _, err := fmt.Fprintln(a.con.Stdout, strings.ReplaceAll(h.String(), " ", ":")); err != nil {
					return exit.With(exit.Platform, err)
				}
			}
			return nil
		}
		doc, err := audit.SignCheckpoint(heads, time.Now(), signer)
		if err != nil {
			return exit.With(exit.Platform, err)
		}
		// the signature covers these bytes, and none of them steers a terminal
		if _, err := terminal.Exact(a.con.Stdout).Write(doc); err != nil {
			return exit.With(exit.Platform, err)
		}
		return nil
	})
	cmd.Flags().StringVar(&keyFile, "key", "",
		"the file with the private key that airlock audit keygen made (default: no signature, plain heads)")
	return cmd
}

// keygenCommand generates a key pair for checkpoints.
func (a *tool) keygenCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "keygen NAME",
		Short: "Generate the keys of checkpoints",
		Long: "Generate an Ed25519 key for checkpoints. The private key goes to a new file that only you can read; the\n" +
			"public key is printed. NAME is part of every checkpoint and usually a URL without its scheme. Keep the\n" +
			"private key away from the machines that write records: its holder can sign any state of them.",
		Example: "  airlock audit keygen example.com/airlock/audit --out checkpoint.key > checkpoint.pub",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		private, public, err := note.GenerateKey(rand.Reader, args[0])
		if err == nil {
			_, err = note.NewSigner(private)
		}
		if err != nil || terminal.OneLine(args[0]) != args[0] {
			return exit.With(exit.Usage, fmt.Errorf("%q is not a valid key name; use letters, digits, dots and slashes, such "+
				"as example.com/airlock/audit", args[0]))
		}
		f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return exit.With(exit.Usage, fmt.Errorf("--out: %w", err))
		}
		_, err = f.WriteString(private + "\n")
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return exit.With(exit.Platform, fmt.Errorf("--out: %w", err))
		}
		_, err = fmt.Fprintln(a.con.Stdout, public)
		return err
	}
	cmd.Flags().StringVar(&out, "out", "", "the new file for the private key")
	if err := cmd.MarkFlagRequired("out"); err != nil {
		panic(err) // the flag of the line above does not exist
	}
	return cmd
}

package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
)

// tokenCommand mints development tokens with the secret that verifies them.
func tokenCommand(con terminal.Console) *cobra.Command {
	var subject, tenant, scope string
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print a development token signed with JWT_SECRET",
		Long: "Print a token (HS256) that a gateway with the same JWT_SECRET accepts, with JWT_ISSUER and JWT_AUDIENCE if " +
			"set.\n" +
			"Scopes: " + strings.Join(authn.Scopes(), ", ") + ".\n" +
			"In production let an identity provider sign, and give the gateway its public key.",
		Example: "  export JWT_SECRET=$(openssl rand -base64 48)\n" +
			"  airlock token --sub alice --scope \"execute audit:read\" --ttl 1h --tenant acme",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			secret := con.Getenv("JWT_SECRET")
			if secret == "" {
				return exit.With(exit.Usage, errors.New("JWT_SECRET: is not set; use the gateway's own, or make one with: "+
					"openssl rand -base64 48"))
			}
			if _, err := authn.SecretKey([]byte(secret)); err != nil {
				return exit.With(exit.Usage, fmt.Errorf("JWT_SECRET: %w", err))
			}
			if ttl < time.Second {
				return exit.With(exit.Usage, errors.New("--ttl: must be at least 1s"))
			}
			now := time.Now()
			claims := jwt.MapClaims{
				"sub": subject, "scope": scope, "iat": now.Unix(), "exp": now.Add(ttl).Unix(),
			}
			for claim, value := range map[string]string{"tenant": tenant, "iss": con.Getenv("JWT_ISSUER"),
				"aud": con.Getenv("JWT_AUDIENCE")} {
				if value != "" {
					claims[claim] = value
				}
			}
			signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
			if err != nil {
				return exit.With(exit.Platform, fmt.Errorf("sign the token: %w", err))
			}
			if err := mintedIsAccepted(signed, secret, con); err != nil {
				return exit.With(exit.Usage, err)
			}
			_, err = fmt.Fprintln(con.Stdout, signed)
			return err
		},
	}
	cmd.Flags().StringVar(&subject, "sub", "dev", "subject of the token")
	cmd.Flags().StringVar(&scope, "scope", authn.Execute+" "+authn.AuditRead, "scopes of the token, separated by spaces")
	cmd.Flags().StringVar(&tenant, "tenant", "", "tenant of the token (default the gateway's default tenant)")
	cmd.Flags().DurationVar(&ttl, "ttl", time.Hour, "lifetime")
	return cmd
}

// mintedIsAccepted checks the token with the gateway's own rules, so that a bad flag fails here and not with a 401.
func mintedIsAccepted(token, secret string, con terminal.Console) error {
	key, err := authn.SecretKey([]byte(secret))
	if err != nil {
		return err
	}
	auth, err := authn.New(authn.Config{Keys: []authn.Key{key}, Issuer: con.Getenv("JWT_ISSUER"),
		Audience: con.Getenv("JWT_AUDIENCE"), Now: time.Now})
	if err != nil {
		return err
	}
	_, err = auth.Authenticate("Bearer "+token, "")
	return err
}

package authn_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/airlock-run/airlock/gateway/authn"
)

const secret = "a secret of the tests with 32 bytes or more"

var now = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

func clock() time.Time { return now }

func pub(t testing.TB, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func sign(t testing.TB, method jwt.SigningMethod, key any, header, claims map[string]any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, jwt.MapClaims(claims))
	for k, v := range header {
		token.Header[k] = v
	}
	return must[string](t)(token.SignedString(key))
}

func good() map[string]any {
	return map[string]any{
		"sub": "alice", "exp": now.Add(time.Hour).Unix(), "scope": "execute audit:read", "tenant": "acme",
	}
}

func with(name string, value any) map[string]any {
	claims := good()
	if value == nil {
		delete(claims, name)
	} else {
		claims[name] = value
	}
	return claims
}

func TestEveryAlgorithm(t *testing.T) {
	t.Parallel()
	rsaKey := must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048))
	ecKey := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	edPub, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		method jwt.SigningMethod
		sign   any
		verify authn.Key
	}{
		{jwt.SigningMethodHS256, []byte(secret), must[authn.Key](t)(authn.SecretKey([]byte(secret)))},
		{jwt.SigningMethodRS256, rsaKey, must[authn.Key](t)(authn.PublicKey(pub(t, rsaKey.Public())))},
		{jwt.SigningMethodES256, ecKey, must[authn.Key](t)(authn.PublicKey(pub(t, ecKey.Public())))},
		{jwt.SigningMethodEdDSA, edKey, must[authn.Key](t)(authn.PublicKey(pub(t, edPub)))},
	}
	for i, c := range cases {
		token := sign(t, c.method, c.sign, nil, good())
		for j, other := range cases {
			a := must[*authn.Authenticator](t)(authn.New(authn.Config{Keys: []authn.Key{other.verify}, Now: clock}))
			id, err := a.Authenticate("Bearer "+token, "")
			if i != j {
				if err == nil {
					t.Errorf("a token of %s passed under a key for %s", c.method.Alg(), other.verify.Algorithm())
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s under its own key: %v", c.method.Alg(), err)
			}
			if id.Subject != "jwt:/alice" || id.Tenant != "acme" {
				t.Errorf("%s: %s of %s, want jwt:/alice of acme", c.method.Alg(), id.Subject, id.Tenant)
			}
			if !id.May("execute") || id.May("priority") {
				t.Errorf("%s: scopes %v, want execute and not priority", c.method.Alg(), id.Scopes)
			}
		}
	}
	all := authn.Config{Now: clock}
	for _, c := range cases {
		all.Keys = append(all.Keys, c.verify)
	}
	a := must[*authn.Authenticator](t)(authn.New(all))
	for _, c := range cases {
		if _, err := a.Authenticate("bearer "+sign(t, c.method, c.sign, nil, good()), ""); err != nil {
			t.Errorf("%s beside others: %v", c.method.Alg(), err)
		}
	}
	// Key confusion: the bytes of the public key as an HMAC secret.
	for _, text := range [][]byte{pub(t, rsaKey.Public()), []byte(strings.TrimSpace(string(pub(t, rsaKey.Public()))))} {
		if id, err := a.Authenticate("Bearer "+sign(t, jwt.SigningMethodHS256, text, nil, good()), ""); err == nil {
			t.Errorf("key confusion: %+v", id)
		}
	}
	for _, method := range []jwt.SigningMethod{jwt.SigningMethodHS384, jwt.SigningMethodHS512} {
		if _, err := a.Authenticate("Bearer "+sign(t, method, []byte(secret), nil, good()), ""); err == nil {
			t.Errorf("%s passed", method.Alg())
		}
	}
	if _, err := a.Authenticate("Bearer "+sign(t, jwt.SigningMethodPS256, rsaKey, nil, good()), ""); err == nil {
		t.Error("PS256 passed under a key for RS256")
	}
	if _, err := a.Authenticate(
		"Bearer "+sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil, good()), "",
	); err == nil {
		t.Error("alg none passed")
	}
}

func TestTokensRefused(t *testing.T) {
	t.Parallel()
	key := must[authn.Key](t)(authn.SecretKey([]byte(secret)))
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{
		Keys: []authn.Key{key}, Issuer: "https://issuer.example", Audience: "airlock", Now: clock,
	}))
	base := func(name string, value any) map[string]any {
		claims := with(name, value)
		for k, v := range map[string]any{"iss": "https://issuer.example", "aud": "airlock"} {
			if name != k {
				claims[k] = v
			}
		}
		return claims
	}
	hs := func(header, claims map[string]any) string {
		return sign(t, jwt.SigningMethodHS256, []byte(secret), header, claims)
	}
	raw := func(header, payload string) string {
		text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." +
			base64.RawURLEncoding.EncodeToString([]byte(payload))
		sig := must[[]byte](t)(jwt.SigningMethodHS256.Sign(text, []byte(secret)))
		return text + "." + base64.RawURLEncoding.EncodeToString(sig)
	}
	fine := hs(nil, base("", nil))
	if _, err := a.Authenticate("Bearer "+fine, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Authenticate(
		"Bearer "+hs(map[string]any{"typ": "at+jwt"}, base("aud", []string{"x", "airlock"})), "",
	); err != nil {
		t.Fatal(err)
	}
	payload := `{"sub":"a","exp":4000000000,"iss":"https://issuer.example","aud":"airlock","scope":"execute"}`
	if _, err := a.Authenticate("Bearer "+raw(`{"alg":"HS256"}`, payload), ""); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ token, says string }{
		"no exp":              {hs(nil, base("exp", nil)), "lacks"},
		"expired":             {hs(nil, base("exp", now.Add(-time.Second).Unix())), "expired"},
		"expires now":         {hs(nil, base("exp", now.Unix())), "expired"},
		"exp is text":         {hs(nil, base("exp", "4000000000")), "not valid"},
		"exp in upper case":   {raw(`{"alg":"HS256"}`, strings.Replace(payload, `"exp"`, `"EXP"`, 1)), "lacks"},
		"not yet":             {hs(nil, base("nbf", now.Add(time.Minute).Unix())), "not valid yet"},
		"never":               {hs(nil, base("nbf", 1e30)), "nbf is not valid"},
		"from the future":     {hs(nil, base("iat", now.Add(time.Minute).Unix())), "not valid yet"},
		"other issuer":        {hs(nil, base("iss", "https://evil.example")), "iss"},
		"no issuer":           {hs(nil, base("iss", nil)), "lacks"},
		"other audience":      {hs(nil, base("aud", "other")), "aud"},
		"no audience":         {hs(nil, base("aud", nil)), "lacks"},
		"sub is a number":     {hs(nil, base("sub", 7)), "sub"},
		"sub with a newline":  {hs(nil, base("sub", "a\nb")), "sub"},
		"tenant is an object": {hs(nil, base("tenant", map[string]any{})), "tenant"},
		"tenant with a space": {hs(nil, base("tenant", "a b")), "tenant"},
		"scope is an array":   {hs(nil, base("scope", []string{"execute"})), "scope"},
		"scp is a number":     {hs(nil, base("scp", 1)), "scp"},
		"scp holds a number":  {hs(nil, base("scp", []any{1})), "scp"},
		"a scope without end": {hs(nil, base("scope", strings.Repeat("x", 300))), "scopes"},
		"crit":                {hs(map[string]any{"crit": []string{"exp"}}, base("", nil)), "crit"},
		"b64":                 {hs(map[string]any{"b64": false}, base("", nil)), "b64"},
		"zip":                 {hs(map[string]any{"zip": "DEF"}, base("", nil)), "zip"},
		"typ":                 {hs(map[string]any{"typ": "dpop+jwt"}, base("", nil)), "typ"},
		"typ is a number":     {hs(map[string]any{"typ": 1}, base("", nil)), "malformed"},
		"wrong secret": {
			sign(t, jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32)), nil, base("", nil)), "signature",
		},
		"alg none by hand": {
			base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + strings.Split(fine, ".")[1] + ".",
			"algorithm",
		},
		"alg in lower case": {raw(`{"alg":"hs256"}`, payload), "algorithm"},
		"alg missing":       {raw(`{}`, payload), "malformed"},
		"alg is an array":   {raw(`{"alg":["HS256"]}`, payload), "malformed"},
		"alg twice":         {raw(`{"alg":"none","alg":"HS256"}`, payload), "duplicate"},
		"claim twice": {
			raw(`{"alg":"HS256"}`, strings.Replace(payload, `"sub":"a"`, `"sub":"a","sub":"admin"`, 1)), "duplicate",
		},
		"claim twice, escaped": {
			raw(`{"alg":"HS256"}`, strings.Replace(payload, `"sub":"a"`, `"sub":"a","s\u0075b":"admin"`, 1)), "duplicate",
		},
		"deep duplicate": {
			raw(`{"alg":"HS256"}`, strings.Replace(payload, `"sub":"a"`, `"sub":"a","x":{"y":1,"y":2}`, 1)), "duplicate",
		},
		"payload is an array": {raw(`{"alg":"HS256"}`, `[]`), "malformed"},
		"payload is null":     {raw(`{"alg":"HS256"}`, `null`), "malformed"},
		"broken UTF-8":        {raw(`{"alg":"HS256"}`, "{\"sub\":\"\xff\",\"exp\":4000000000}"), "malformed"},
		"trailing bytes":      {raw(`{"alg":"HS256"}`, payload+"x"), "malformed"},
		"signature padded":    {fine + "=", "not valid"},
		"header padded":       {strings.Replace(fine, ".", "=.", 1), "malformed"},
		"no signature":        {fine[:strings.LastIndex(fine, ".")+1], "signature"},
		"two parts":           {strings.Join(strings.Split(fine, ".")[:2], "."), "malformed"},
		"four parts":          {fine + ".x", "malformed"},
		"empty parts":         {"..", "malformed"},
		"not a token":         {"hello", "malformed"},
		"too long":            {fine + strings.Repeat("A", 9000), "too long"},
		"a space inside":      {strings.Replace(fine, ".", ". ", 1), "malformed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, err := a.Authenticate("Bearer "+c.token, "")
			var refusal *authn.Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("got %+v, %v, want a refusal with %q", id, err, c.says)
			}
			if !strings.Contains(refusal.Reason, c.says) {
				t.Errorf("refused because %q, want %q", refusal.Reason, c.says)
			}
			if id.Subject != "" || id.Scopes != nil {
				t.Errorf("a refused token has the identity %+v", id)
			}
			if strings.ContainsAny(err.Error(), "\"\r\n") {
				t.Errorf("%q cannot stand in a header", err.Error())
			}
		})
	}
}

func TestScopesAndTenants(t *testing.T) {
	t.Parallel()
	key := must[authn.Key](t)(authn.SecretKey([]byte(secret)))
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{Keys: []authn.Key{key}, Now: clock}))
	identity := func(claims map[string]any) authn.Identity {
		return must[authn.Identity](t)(
			a.Authenticate("Bearer "+sign(t, jwt.SigningMethodHS256, []byte(secret), nil, claims), ""),
		)
	}
	if id := identity(with("scope", nil)); id.May(authn.Execute) {
		t.Error("a token without scopes may execute")
	}
	id := identity(map[string]any{"exp": now.Unix() + 1, "scp": []string{"execute", "audit:read:all"}})
	for _, scope := range []string{authn.Execute, authn.AuditRead} {
		if !id.May(scope) {
			t.Errorf("scopes %v do not include %s", id.Scopes, scope)
		}
	}
	if id.Tenant != authn.DefaultTenant {
		t.Errorf("tenant %q, want %q", id.Tenant, authn.DefaultTenant)
	}
	if id.Subject != "jwt:/" || !id.Anonymous() {
		t.Errorf("subject %q is anonymous: %v, want jwt:/ and true", id.Subject, id.Anonymous())
	}
	if (authn.Identity{}).May(authn.Execute) {
		t.Error("nobody may execute")
	}
	if identity(with("tenant", "a")).Owner() == identity(with("tenant", "b")).Owner() {
		t.Error("two tenants own the same")
	}
}

func TestAPIKey(t *testing.T) {
	t.Parallel()
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{APIKey: "sk-0123456789abcdef", Now: clock}))
	for _, h := range []string{"Bearer sk-0123456789abcdef", "bearer  sk-0123456789abcdef "} {
		if id, err := a.Authenticate(h, ""); err != nil || !id.May(authn.AuditReadAll) || id.Subject != "key:operator" {
			t.Errorf("%q: %+v, %v", h, id, err)
		}
	}
	if _, err := a.Authenticate("", "sk-0123456789abcdef"); err != nil {
		t.Error(err)
	}
	for _, h := range []string{
		"", "Bearer", "Bearer ", "Basic sk-0123456789abcdef", "sk-0123456789abcdef", "Bearer sk-0123456789abcdeF",
		"Bearer sk-0123456789abcdef0", "Bearer a.b.c",
	} {
		if id, err := a.Authenticate(h, ""); err == nil {
			t.Errorf("%q: %+v", h, id)
		}
	}
	if _, err := a.Authenticate("Bearer wrong", "sk-0123456789abcdef"); err == nil {
		t.Error("a bad Authorization was saved by X-API-Key")
	}
	var refusal *authn.Refusal
	if _, err := a.Authenticate("", ""); !errors.As(err, &refusal) || !refusal.Absent {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{Now: clock}))
	if id, err := a.Authenticate("", ""); err != nil || !a.Open() || !id.May(authn.Execute) {
		t.Errorf("%+v, %v", id, err)
	}
}

func TestKeysRefused(t *testing.T) {
	t.Parallel()
	small := must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 1024))
	p384 := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	edPub, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(
		&pem.Block{Type: "PRIVATE KEY", Bytes: must[[]byte](t)(x509.MarshalPKCS8PrivateKey(edKey))},
	)
	for says, text := range map[string][]byte{
		"2048":        pub(t, small.Public()),
		"P-256":       pub(t, p384.Public()),
		"private key": private,
		"not PEM":     []byte("hello"),
		"more than":   append(pub(t, edPub), pub(t, edPub)...),
		"type \"DUCK": pem.EncodeToMemory(&pem.Block{Type: "DUCK"}),
		"not parse":   pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")}),
	} {
		if _, err := authn.PublicKey(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	if _, err := authn.SecretKey([]byte(secret[:31])); err == nil {
		t.Error("31 bytes were taken as a secret")
	}
	key := must[authn.Key](t)(authn.SecretKey([]byte(secret)))
	for _, cfg := range []authn.Config{
		{}, {APIKey: "fifteen-bytes-1", Now: clock}, {APIKey: "sixteen bytes of", Now: clock},
		{Keys: []authn.Key{{}}, Now: clock}, {Keys: []authn.Key{key, key}, Now: clock},
	} {
		if _, err := authn.New(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}

func FuzzToken(f *testing.F) {
	key, err := authn.SecretKey([]byte(secret))
	if err != nil {
		f.Fatal(err)
	}
	a, err := authn.New(authn.Config{Keys: []authn.Key{key}, Now: clock})
	if err != nil {
		f.Fatal(err)
	}
	token := sign(f, jwt.SigningMethodHS256, []byte(secret), nil, good())
	parts := strings.Split(token, ".")
	f.Add(token)
	f.Add("eyJhbGciOiJub25lIn0." + parts[1] + ".")
	f.Add(parts[0] + "." + parts[1] + ".")
	f.Add("..")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := a.Authenticate("Bearer "+s, s); err == nil && strings.TrimSpace(s) != token {
			t.Fatalf("%q was taken for %+v", s, id)
		}
	})
}

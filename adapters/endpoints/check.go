package endpoints

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"

	"winnow/assistant/llm"
)

const (
	// checkTimeout limits a check; slowCheck applies if the key comes from a command or the keyring, which may ask
	// the user for a password.
	checkTimeout = 10 * time.Second
	slowCheck    = 70 * time.Second
	// tryTimeout limits a request for one word; it is long because the endpoint may have to load the model first.
	tryTimeout = 60 * time.Second
)

// Checked is a candidate that has listed its models.
type Checked struct {
	Name    string          // the prefix of its models' ids
	BaseURL string          // as written to the settings
	Models  []llm.ModelInfo // its chat models, at least one
	Pasted  bool            // the key was pasted, so Save needs a Storage
	HasKey  bool

	write    bool // the candidate is not an endpoint of this run, or has a different key there
	provider config.Provider
	endpoint *Endpoint
}

// ParseKey parses a key as entered by the user: env:NAME, cmd:COMMAND and keyring:NAME are references, anything else
// is the key itself; pasted is true for the latter. The error is a *Problem with the code BadKey.
func ParseKey(entered string) (key config.Secret, pasted bool, err error) {
	entered = strings.TrimSpace(entered)
	kind, rest, named := strings.Cut(entered, ":")
	if named && slices.Contains([]string{"env", "cmd", "keyring"}, kind) {
		if rest = strings.TrimSpace(rest); rest == "" || strings.ContainsFunc(rest, unicode.IsControl) {
			return "", false, &Problem{Code: BadKey, Err: errors.New("the text after " + kind + ": is empty or contains control characters")}
		}
		return config.Secret(kind + ":" + rest), false, nil
	}
	if strings.ContainsFunc(entered, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", false, &Problem{Code: BadKey, Err: errors.New("a key consists of letters, digits and symbols, without spaces")}
	}
	return config.Secret(entered), entered != "", nil
}

// Check asks a candidate for its models. address is used for a Custom candidate; key is what the user entered, or ""
// to use the candidate's own key, if any. The error is a *Problem or ctx.Err().
func (c *Connector) Check(ctx context.Context, cand Candidate, address, key string) (*Checked, error) {
	secret, pasted, err := ParseKey(cmp.Or(key, cand.key))
	if err != nil {
		return nil, err
	}
	if cand.Kind == KindCustom {
		if cand.provider, err = customProvider(address); err != nil {
			return nil, err
		}
		cand.Name, cand.BaseURL = cand.provider.Name, cand.provider.BaseURL
		if e := c.at(cand.BaseURL); e != nil { // use the endpoint's own key and name
			cand.Name, cand.BaseURL, cand.endpoint = e.Name, e.BaseURL, e
			cand.provider = c.providerOf(e)
		}
	}
	if pasted && c.opts.Endpoints.Redactor != nil {
		c.opts.Endpoints.Redactor.Add(string(secret))
	}
	ch := &Checked{Name: cand.Name, BaseURL: cand.BaseURL, Pasted: pasted, endpoint: cand.endpoint, provider: cand.provider}
	if ch.endpoint == nil || secret != "" {
		ch.write = true
		ch.Name = c.nameFor(cand.Name, cand.BaseURL)
		ch.provider.Name = ch.Name
		if secret != "" {
			ch.provider = withKey(ch.provider, secret)
		}
		if ch.endpoint, err = New(c.opts.Endpoints, ch.provider); err != nil {
			return nil, problemOf(err, ch.Name, ch.BaseURL, false)
		}
	}
	ch.HasKey = ch.endpoint.Key != "" || keyOf(ch.provider) != ""
	if ch.Models, err = c.list(ctx, ch); err != nil {
		return nil, err
	}
	return ch, nil
}

// IsAddress reports whether a text is meant as the address of an endpoint rather than a name: it has a scheme or a
// port, or is a host with a path.
func IsAddress(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsFunc(text, unicode.IsSpace) {
		return false
	}
	if _, rest, found := strings.Cut(text, "://"); found {
		return rest != ""
	}
	host, _, hasPath := strings.Cut(text, "/")
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return llm.Loopback(host) || hasPath && strings.Contains(host, ".")
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return name != "" && err == nil
}

// LooksLikeKey reports whether a text entered as an address seems to be a key: it has no scheme, and it has the
// prefix of a key or is a long word of letters and digits without a port or dots. Such a text is not shown and not
// looked up as a host name.
func LooksLikeKey(text string) bool {
	const longest = 20 // maximum length of a word that counts as a host name; keys are longer
	text = strings.TrimSpace(text)
	switch {
	case strings.Contains(text, "://"):
		return false
	case dotenv.ContainsSecret(text):
		return true
	}
	return len(text) > longest && strings.ContainsFunc(text, unicode.IsDigit) && strings.ContainsFunc(text, unicode.IsLetter) &&
		!strings.ContainsAny(text, ":./ ")
}

// customProvider returns a provider for an address that the user entered. Without a scheme, it uses http for this
// machine and https otherwise.
func customProvider(address string) (config.Provider, error) {
	address = strings.TrimSpace(address)
	if LooksLikeKey(address) {
		return config.Provider{}, &Problem{Code: KeyAsAddress}
	}
	if address != "" && !strings.Contains(address, "://") {
		scheme := "https:"
		if at, err := url.Parse("//" + address); err == nil && llm.Loopback(at.Hostname()) {
			scheme = "http:"
		}
		address = scheme + "//" + address
	}
	at, err := checkBaseURL(address)
	if err != nil {
		return config.Provider{}, &Problem{Code: BadAddress, At: address, Err: err}
	}
	return config.Provider{Name: NameOf(at), BaseURL: at.String()}, nil
}

// checkBaseURL checks the address of an endpoint that has no entry in the settings.
func checkBaseURL(address string) (*url.URL, error) {
	at, err := llm.CheckBaseURL(address, false)
	return at, llm.AllowHTTP(err, "add a [[provider]] with allow_http = true to the settings")
}

// at returns the endpoint of the run at an address, with or without the usual path, or nil.
func (c *Connector) at(address string) *Endpoint {
	bare := func(address string) string {
		return strings.Replace(strings.TrimSuffix(strings.TrimSuffix(address, "/"), "/v1"), "//localhost", "//127.0.0.1", 1)
	}
	for _, e := range c.opts.Set.All {
		if e = c.opts.Set.Named(e.Name); e.Name != OfflineName && bare(e.BaseURL) == bare(address) {
			return e
		}
	}
	return nil
}

// list asks for the models. If there is no endpoint at an address without a path, it also tries the path /v1.
func (c *Connector) list(ctx context.Context, ch *Checked) ([]llm.ModelInfo, error) {
	limit := checkTimeout
	if kind, _, _ := strings.Cut(ch.endpoint.Key, ":"); kind == "cmd" || kind == "keyring" {
		limit = slowCheck
	}
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	listed, err := chatModels(asking, ch.endpoint)
	if err == nil || ctx.Err() != nil {
		return listed, ctx.Err()
	}
	problem := problemOf(err, ch.Name, ch.BaseURL, ch.HasKey)
	at, _ := url.Parse(ch.BaseURL)
	if problem.Code != NotAnEndpoint || at == nil || at.Path != "" || !ch.write {
		return nil, problem
	}
	longer := *ch
	longer.BaseURL += "/v1"
	longer.provider.BaseURL = longer.BaseURL
	if longer.endpoint, err = New(c.opts.Endpoints, longer.provider); err != nil {
		return nil, problem
	}
	if listed, err = chatModels(asking, longer.endpoint); err != nil {
		if other := problemOf(err, longer.Name, longer.BaseURL, longer.HasKey); other.Code != NotAnEndpoint && other.Code != NoAnswer {
			problem = other // there is an endpoint at the longer address
		}
		return nil, problem
	}
	*ch = longer
	return listed, nil
}

// Try asks a model for one word, because not every endpoint checks the key when it lists its models. The error is a
// *Problem or ctx.Err().
func (c *Connector) Try(ctx context.Context, ch *Checked, id string) error {
	trying, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	req := llm.Request{
		Model:    strings.TrimPrefix(id, ch.Name+"/"),
		Messages: []llm.Message{{Role: llm.RoleUser, Content: "Answer with the word ok."}},
	}
	for _, err := range ch.endpoint.Stream(trying, req) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return problemOf(err, ch.Name, ch.BaseURL, ch.HasKey)
		}
		break // the model answers; leaving the loop ends the request
	}
	return ctx.Err()
}

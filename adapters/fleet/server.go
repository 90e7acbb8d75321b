package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// Server is a Target behind the HTTP API of a winnow server. Create it with NewServer.
type Server struct {
	name    string
	base    string
	token   string
	client  *http.Client
	session string // the id of the session that stages and saves; "" before it is needed
	user    string // the user of the session
	role    assistant.Role
}

// Limits of a request.
const (
	requestTime = 15 * time.Second
	maxAnswer   = 64 << 20
	maxProblem  = 64 << 10
)

// NewServer returns the server at an address, such as https://proxy.example:8443. allowHTTP allows an unencrypted
// connection to another machine. NewServer does not connect.
func NewServer(name, address, token string, allowHTTP bool) (*Server, error) {
	at, err := llm.CheckBaseURL(address, allowHTTP)
	if err != nil {
		return nil, errors.New(strings.NewReplacer("the base URL", "url", "the key", "the token").
			Replace(llm.AllowHTTP(err, "set allow_http = true in the [[target]] entry").Error()))
	}
	return &Server{name: name, base: strings.TrimRight(fmt.Sprint(at), "/"), token: token, client: &http.Client{
		Timeout: requestTime,
		// The token is only for this server.
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the server redirects to another address")
		},
	}}, nil
}

// Name implements Target.
func (s *Server) Name() string { return s.name }

// Export implements Target.
func (s *Server) Export(ctx context.Context) (e modelfilter.Exported, err error) {
	var out struct {
		Window modelfilter.Exported `json:"window"`
	}
	if err = s.call(ctx, http.MethodGet, "/v1/window/export", nil, &out); err == nil && out.Window.Providers == nil {
		err = errors.New("the server does not serve the model filter")
	}
	return out.Window, err
}

// Stage implements Target.
func (s *Server) Stage(ctx context.Context, rules []Rules) (plan assistant.SavePlan, user string, err error) {
	if err = s.open(ctx); err != nil {
		return plan, "", err
	}
	for _, r := range rules {
		var done imported
		err = s.call(ctx, http.MethodPost, "/v1/window/edit", map[string]any{"session": s.session, "tool": "import_rules", "arguments": map[string]any{
			"provider": r.Provider, "ignore": list(r.Ignore), "whitelist": list(r.Allow), "mode": "replace",
		}}, &done)
		if err == nil {
			err = done.refusal()
		}
		if err != nil {
			return plan, "", fmt.Errorf("staging the rules of %s: %w", r.Provider, err)
		}
	}
	err = s.call(ctx, http.MethodGet, "/v1/window/plan?session="+url.QueryEscape(s.session), nil, &plan)
	return plan, s.user, err
}

// imported is the result of the tool import_rules.
type imported struct {
	Data struct {
		Results []struct {
			Pattern, Message string
			Success          bool
		}
	}
}

// refusal returns an error for the first rule that was refused, or nil.
func (i imported) refusal() error {
	for _, r := range i.Data.Results {
		if !r.Success {
			return fmt.Errorf("the rule %s was refused: %s", safetext.Visible(r.Pattern), safetext.Visible(r.Message))
		}
	}
	return nil
}

// list returns a list that JSON does not encode as null, because null would leave the target's list unchanged.
func list(rules []string) []string { return append([]string{}, rules...) }

// open opens the session if it is not open yet. It returns an error if the user may not save, so that nothing is staged.
func (s *Server) open(ctx context.Context) error {
	if s.session == "" {
		var opened struct {
			ID, User string
			Role     assistant.Role
		}
		if err := s.call(ctx, http.MethodPost, "/v1/sessions", map[string]any{}, &opened); err != nil {
			return err
		}
		s.session, s.user, s.role = opened.ID, opened.User, opened.Role
	}
	if !s.role.May(assistant.RoleSave) {
		return fmt.Errorf("its token has the role %s, but saving needs the role %s", s.role, assistant.RoleSave)
	}
	return nil
}

// Save implements Target.
func (s *Server) Save(ctx context.Context, digest string) (saved assistant.Saved, err error) {
	err = s.call(ctx, http.MethodPost, "/v1/window/save", map[string]any{"session": s.session, "digest": digest}, &saved)
	return saved, err
}

// Discard implements Target.
func (s *Server) Discard(ctx context.Context, digest string) error {
	return s.call(ctx, http.MethodPost, "/v1/window/discard", map[string]any{"session": s.session, "digest": digest}, nil)
}

// Close closes the session. Changes that it staged stay staged.
func (s *Server) Close(ctx context.Context) error {
	if s.session == "" {
		return nil
	}
	id := s.session
	s.session = ""
	return s.call(ctx, http.MethodDelete, "/v1/sessions/"+url.PathEscape(id), nil, nil)
}

// call makes a request. If body is nil, the request has no body; if into is nil, the response is ignored.
func (s *Server) call(ctx context.Context, method, path string, body, into any) error {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, sent)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return problem(resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return unreachable(err)
	case len(raw) > maxAnswer:
		return fmt.Errorf("the response is larger than %d MiB", maxAnswer>>20)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return errors.New("the response is not from a winnow server")
	}
	return nil
}

// unreachable describes a connection error without the address, because the user knows the target by its name.
func unreachable(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("the server cannot be reached: %s", safetext.Visible(err.Error()))
}

// problem returns the error that a response describes.
func problem(resp *http.Response) error {
	var p struct {
		Detail, Code string
		By           []string
	}
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem)) // if the body is incomplete, the status is reported
	if json.Unmarshal(raw, &p) != nil || p.Detail == "" {
		return fmt.Errorf("the server responded with status %d", resp.StatusCode)
	}
	switch p.Code {
	case "unauthorized":
		return errors.New("the server does not accept the token")
	case "plan_changed", "precondition_failed":
		return changedBy(p.By)
	}
	return errors.New(string(safetext.Visible(p.Detail)))
}

package api

import (
	"context"
	"crypto/subtle"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"winnow/assistant"
	"winnow/assistant/serve"
)

// roles maps the id of an operation to the role that it needs; "" means that no token is needed. A session also checks
// the role of its user, for every front end.
var roles = map[string]assistant.Role{
	"openSession": assistant.RoleRead, "listSessions": assistant.RoleRead, "getSession": assistant.RoleRead, "closeSession": assistant.RoleRead,
	"sendMessage": assistant.RolePropose, "followEvents": assistant.RoleRead, "cancelTurn": assistant.RolePropose,
	"answerQuestion": assistant.RolePropose, "showRequest": assistant.RoleRead,
	"listPairs": assistant.RoleRead, "retryPair": assistant.RolePropose, "listAnswers": assistant.RoleRead,
	"chooseAnswer": assistant.RolePropose, "decideProposal": assistant.RolePropose, "listProposals": assistant.RoleRead,
	"branchSession": assistant.RolePropose, "showCancelled": assistant.RoleRead, "keepCancelled": assistant.RolePropose, "askAgain": assistant.RolePropose,
	"showTitle": assistant.RoleRead, "setTitle": assistant.RolePropose,
	"listCheckpoints": assistant.RoleRead, "rollBack": assistant.RoleWrite,
	"showWindow": assistant.RoleRead, "exportWindow": assistant.RoleRead, "editWindow": assistant.RoleRead, "planSave": assistant.RoleRead,
	"saveWindow": assistant.RoleSave, "discardChanges": assistant.RoleWrite,
	"listTokens": assistant.RoleAdmin, "getToken": assistant.RoleAdmin, "addToken": assistant.RoleAdmin, "removeToken": assistant.RoleAdmin,
	"showDocument": assistant.RoleRead, "showMetrics": assistant.RoleMetrics, "showHealth": "", "showReady": "",
}

// clientKey is the context key of the credential of a request.
type clientKey struct{}

// clientOf returns the credential of a request. If the request has none, it returns a credential with the lowest role
// and no user.
func clientOf(ctx context.Context) serve.Credential {
	client, ok := ctx.Value(clientKey{}).(serve.Credential)
	if !ok {
		client.Role = assistant.RoleMetrics
	}
	return client
}

// startKey is the key of the credential of Options.Token.
const startKey = "start"

// clientFor returns the credential for a token, or the problem with which the request must be refused.
func (s *Server) clientFor(token string) (client serve.Credential, p *problem) {
	if s.opts.Token != "" && subtle.ConstantTimeCompare([]byte(serve.TokenHash(token)), []byte(serve.TokenHash(s.opts.Token))) == 1 {
		return serve.Credential{Key: startKey, User: s.opts.User, Role: assistant.RoleAdmin}, nil
	}
	if s.opts.Tokens.Path == "" {
		return client, unauthorized(token)
	}
	return find(s.opts.Tokens, token, s.log)
}

// find returns the credential for a token in a token file, or the problem with which the request must be refused.
func find(tokens serve.Tokens, token string, log *slog.Logger) (serve.Credential, *problem) {
	client, known, err := tokens.Find(token)
	switch {
	case err != nil: // the client must not throw its token away
		log.Error("cannot read the tokens", "error", err)
		return client, internalProblem()
	case !known:
		return client, unauthorized(token)
	}
	return client, nil
}

// clients tracks the requests being handled, by the key of their credential.
type clients struct {
	most int // maximum number of open requests of one credential

	mu       sync.Mutex
	requests map[string]map[*http.Request]context.CancelFunc
}

// begin returns r with a context that ends when the credential of r is revoked; done must be called at the end of the
// request. ok is false if the credential already has too many open requests. Requests without a credential are not
// limited, because they are short.
func (c *clients) begin(r *http.Request) (_ *http.Request, done func(), ok bool) {
	key := clientOf(r.Context()).Key
	ctx, cancel := context.WithCancel(r.Context())
	r = r.WithContext(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if key != "" && len(c.requests[key]) >= c.most {
		cancel()
		return r, func() {}, false
	}
	if c.requests == nil {
		c.requests = map[string]map[*http.Request]context.CancelFunc{}
	}
	if c.requests[key] == nil {
		c.requests[key] = map[*http.Request]context.CancelFunc{}
	}
	c.requests[key][r] = cancel
	return r, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.requests[key], r); len(c.requests[key]) == 0 {
			delete(c.requests, key)
		}
	}, true
}

// end ends the requests of all credentials that are not valid.
func (c *clients) end(valid func(key string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, requests := range c.requests {
		if !valid(key) {
			for _, cancel := range requests {
				cancel()
			}
		}
	}
}

// keys returns the keys of the credentials with open requests.
func (c *clients) keys() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.requests))
}

// usedKeys returns the keys of the tokens that open requests, agents and sessions use.
func (s *Server) usedKeys() map[string]bool {
	keys := s.clients.keys()
	if s.opts.Agents != nil {
		keys = append(keys, s.opts.Agents.Keys()...)
	}
	for _, st := range s.open() {
		keys = append(keys, st.Key())
	}
	used := map[string]bool{}
	for _, key := range keys {
		if strings.HasPrefix(key, serve.TokenPrefix) {
			used[key] = true
		}
	}
	return used
}

// endRevoked ends the sessions and requests of tokens that have been removed or have expired.
func (s *Server) endRevoked() {
	revoked := s.usedKeys() // collected before the tokens are read, which may miss a token that is added and used meanwhile
	if s.opts.Tokens.Path != "" {
		keys, err := s.opts.Tokens.Keys()
		if err != nil {
			s.log.Error("cannot read the tokens: ending all sessions that were opened with a token", "error", err)
		}
		for _, key := range keys {
			delete(revoked, key)
		}
	}
	isValid := func(key string) bool { return !revoked[key] }
	s.clients.end(isValid)
	if s.opts.Agents != nil {
		s.opts.Agents.End(isValid)
	}
	for _, st := range s.open() {
		if isValid(st.Key()) {
			continue
		}
		s.metrics.Ended(serve.ServerHTTP, "revoked")
		s.log.Info("the session was closed: its token was removed or has expired", "session", st.ID(), "user", st.User())
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		if err := s.closeStream(ctx, st); err != nil {
			s.log.Error("the session could not be closed", "session", st.ID(), "error", err)
		}
		cancel()
	}
}

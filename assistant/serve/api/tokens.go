package api

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"winnow/assistant"
	"winnow/assistant/serve"
)

// tokenInfo is a token without its value and hash.
type tokenInfo struct {
	Name    string         `json:"name" doc:"the name of the user, and of the token" example:"anna"`
	Role    assistant.Role `json:"role" enum:"metrics,read,propose,write,save,admin" doc:"what the user may do"`
	Created time.Time      `json:"created" doc:"when the token was added"`
	Expires *time.Time     `json:"expires,omitempty" doc:"when the token expires; absent if never"`
}

func infoOfToken(t serve.Token) tokenInfo {
	info := tokenInfo{Name: t.Name, Role: t.Role, Created: t.Created}
	if !t.Expires.IsZero() {
		info.Expires = &t.Expires
	}
	return info
}

// tokens returns the token file, or a problem if the server has none.
func (s *Server) tokens() (serve.Tokens, error) {
	if s.opts.Tokens.Path == "" {
		return serve.Tokens{}, newProblem("no_tokens", "this server has no token file")
	}
	return s.opts.Tokens, nil
}

// tokenList is a page of the tokens.
type tokenList struct {
	Tokens []tokenInfo `json:"tokens" nullable:"false" doc:"in the order in which they were added; tokens added in the same second are ordered by name"`
	PageEnd
}

func (s *Server) listTokens(_ context.Context, in *Paging) (tokenList, error) {
	list := tokenList{Tokens: []tokenInfo{}}
	file, err := s.tokens()
	if err != nil {
		return list, err
	}
	all, err := file.List()
	if err != nil {
		return list, err
	}
	key := func(t serve.Token) string { return byTime(t.Created, t.Name) }
	page, end, err := pageOf(sorted(all, key), *in, false, key)
	for _, t := range page {
		list.Tokens = append(list.Tokens, infoOfToken(t))
	}
	list.PageEnd = end
	return list, err
}

// newToken is the body of a request that adds a token.
type newToken struct {
	Name    string         `json:"name" minLength:"1" maxLength:"40" pattern:"^[^\\s/]+$" doc:"the name of the user, and of the token" example:"anna"`
	Role    assistant.Role `json:"role,omitempty" enum:"metrics,read,propose,write,save,admin" doc:"what the user may do; the default is save"`
	Seconds int64          `json:"seconds,omitempty" minimum:"1" maximum:"3153600000" doc:"after how many seconds the token expires; the default is never"`
}

// addedToken is the body of the response that contains a new token.
type addedToken struct {
	Added tokenInfo `json:"added" doc:"what is stored about the token"`
	Token string    `json:"token" doc:"the value of the token, for the header Authorization: Bearer TOKEN; only its hash is stored"`
}

// madeToken is the response to a request that adds a token, with headers and body.
type madeToken struct {
	Location string `header:"Location" doc:"the path of the token"`
	Body     addedToken
}

func (s *Server) addToken(ctx context.Context, in *jsonBody[newToken]) (*madeToken, error) {
	file, err := s.tokens()
	if err != nil {
		return nil, err
	}
	role, err := assistant.ParseRole(string(in.Body.Role))
	if err != nil {
		return nil, err
	}
	token, added, err := file.Add(in.Body.Name, role, time.Duration(in.Body.Seconds)*time.Second)
	if err == nil {
		s.log.Info("token added", "user", added.Name, "role", string(added.Role), "by", clientOf(ctx).User)
	}
	return &madeToken{"/v1/tokens/" + url.PathEscape(added.Name), addedToken{infoOfToken(added), token}}, err
}

// tokenPath contains the path parameter of a token.
type tokenPath struct {
	Name string `path:"name" doc:"the name of the token"`
}

func (s *Server) getToken(_ context.Context, in *tokenPath) (tokenInfo, error) {
	file, err := s.tokens()
	if err != nil {
		return tokenInfo{}, err
	}
	all, err := file.List()
	for _, t := range all {
		if t.Name == in.Name {
			return infoOfToken(t), nil
		}
	}
	return tokenInfo{}, cmp.Or(err, serve.ErrNoToken)
}

func (s *Server) removeToken(ctx context.Context, in *tokenPath) error {
	file, err := s.tokens()
	if err == nil {
		err = file.Remove(in.Name)
	}
	if err == nil {
		s.log.Info("token removed", "user", in.Name, "by", clientOf(ctx).User)
		s.endRevoked()
	}
	return err
}

// proposalList is a page of the pairs with open proposals.
type proposalList struct {
	Pairs []pairInfo `json:"pairs" nullable:"false" doc:"oldest first; decide with /v1/sessions/{id}/pairs/{seq}/proposals/{proposal}, in a session of your own"`
	PageEnd
}

func (s *Server) listProposals(ctx context.Context, in *Paging) (proposalList, error) {
	list := proposalList{Pairs: []pairInfo{}}
	pairs, err := s.hub.Proposals(ctx)
	if err != nil {
		return list, err
	}
	key := func(p assistant.Pair) int64 { return p.Seq }
	page, end, err := pageOf(sorted(pairs, key), *in, false, key)
	for _, p := range page {
		list.Pairs = append(list.Pairs, pairInfo{Seq: p.Seq, Pair: p})
	}
	list.PageEnd = end
	return list, err
}

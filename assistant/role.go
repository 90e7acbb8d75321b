package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// Role says what the user of a session may do in a shared window. The zero
// value, for a program with a single user, allows everything.
type Role string

// The roles. Each may do everything that the previous one may. RoleMetrics is
// separate: it is for monitoring programs and cannot open a session.
const (
	RoleRead    Role = "read"    // look, but change nothing
	RolePropose Role = "propose" // talk to the assistant; changes to the window become proposals
	RoleWrite   Role = "write"   // change the window and undo one's own changes
	RoleSave    Role = "save"    // save or discard, decide on proposals, and undo other users' changes
	RoleAdmin   Role = "admin"   // manage the server and end sessions of other users
	RoleMetrics Role = "metrics" // read metrics and health
)

// Roles lists the roles, least privileged first.
func Roles() []Role {
	return []Role{RoleMetrics, RoleRead, RolePropose, RoleWrite, RoleSave, RoleAdmin}
}

// ParseRole returns the role with this name; "" means RoleSave.
func ParseRole(name string) (Role, error) {
	if name == "" {
		return RoleSave, nil
	}
	if role := Role(name); slices.Contains(Roles(), role) {
		return role, nil
	}
	names := make([]string, len(Roles()))
	for i, role := range Roles() {
		names[i] = string(role)
	}
	return "", fmt.Errorf("there is no role %q: the roles are %s", name, strings.Join(names, ", "))
}

// May reports whether the role includes the permissions of another role.
func (r Role) May(need Role) bool {
	switch {
	case r == "" || r == need:
		return true
	case need == RoleMetrics:
		return r == RoleAdmin
	}
	return r != RoleMetrics && slices.Index(Roles(), r) > slices.Index(Roles(), need)
}

// CodeForbidden is the error code of a call that the user's role does not
// allow.
const CodeForbidden = "forbidden"

// RoleError is returned when the user's role does not allow an action.
type RoleError struct{ Role, Need Role }

func (e *RoleError) Error() string {
	return fmt.Sprintf("this needs the role %s, which the role %s does not include", e.Need, e.Role)
}

// Role returns the role of the session's user.
func (s *Session) Role() Role { return s.opts.Role }

// Needs returns a *RoleError if the user lacks the permissions of role.
func (s *Session) Needs(role Role) error {
	if s.opts.Role.May(role) {
		return nil
	}
	return &RoleError{s.opts.Role, role}
}

// Proposer is a Window in which a user with RolePropose can propose changes.
type Proposer interface {
	// Mark returns a function that restores the window to its current state,
	// including the authors of unsaved changes.
	Mark() (restore func() error)
	// Proposals returns payloads that change the window's state from before to
	// after when they are accepted. It returns none if the two states do not
	// differ in anything that can be saved.
	Proposals(before, after json.RawMessage) ([]Payload, error)
}

// mark returns a function that restores the window to its current state, which
// the caller passes as now.
func (s *Session) mark(now json.RawMessage) (restore func() error) {
	if p, ok := s.opts.Window.(Proposer); ok {
		return p.Mark()
	}
	return func() error { return s.opts.Window.Apply(now) }
}

// othersUnsaved returns the unsaved changes of other users if the user may not
// undo them.
func (s *Session) othersUnsaved() []Change {
	w, ok := s.opts.Window.(Discarder)
	if !ok || s.opts.Role.May(RoleSave) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.PlanDiscard("").Changes), func(c Change) bool { return c.By.User == s.opts.Author })
}

// keeps returns a *RoleError if one of these changes by other users is gone.
func (s *Session) keeps(others []Change) error {
	if len(others) == 0 {
		return nil
	}
	now := s.othersUnsaved()
	for _, c := range others {
		if !slices.Contains(now, c) {
			return &RoleError{s.opts.Role, RoleSave}
		}
	}
	return nil
}

// checkRollback returns a *RoleError if a rollback would undo steps of other
// sessions or users and the user may not do that.
func (s *Session) checkRollback(id string, scope checkpoint.Scope) error {
	if s.opts.Role.May(RoleSave) || scope == checkpoint.ScopeConversation {
		return nil
	}
	own := len(s.opts.Journal.OthersSince(id, s.ID())) == 0
	for _, c := range s.opts.Journal.List("") {
		if c.ID == id { // the session may have been continued by another user
			own = own && !slices.ContainsFunc(checkpoint.Changes(s.opts.Journal), func(made checkpoint.Change) bool {
				return made.Seq > c.Seq && made.User != s.opts.Author
			})
		}
	}
	if own {
		return nil
	}
	return s.Needs(RoleSave)
}

// checkUndo returns a *RoleError if undoing a rollback would undo what
// another session did, the rollback itself or later steps, and the user may not
// do that.
func (s *Session) checkUndo(intent checkpoint.Intent) error {
	s.mu.Lock()
	own := intent.Undoes == s.rollback
	s.mu.Unlock()
	for _, c := range s.opts.Journal.List("") {
		own = own && (c.Session == s.ID() || !slices.Contains(intent.Dropped, c.ID))
	}
	if own {
		return nil
	}
	return s.Needs(RoleSave)
}

// CheckOwner returns a *RoleError if a pair belongs to another user and the user may
// not change it.
func (s *Session) CheckOwner(ctx context.Context, refs []Ref) error {
	seqs := make([]int64, len(refs))
	for i, r := range refs {
		seqs[i] = r.Seq
	}
	if len(seqs) == 0 {
		return nil
	}
	return s.checkOwner(ctx, seqs...)
}

// checkOwner is like CheckOwner, for pairs given by Seq.
func (s *Session) checkOwner(ctx context.Context, seqs ...int64) error {
	if err := s.Needs(RolePropose); err != nil || len(seqs) == 0 || s.opts.Role.May(RoleSave) {
		return err
	}
	pairs, err := s.Pairs(ctx, seqs)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(pairs, func(p Pair) bool { return p.Author != s.opts.Author }) {
		return s.Needs(RoleSave)
	}
	return nil
}

func nonzero(all ...int64) []int64 {
	return slices.DeleteFunc(all, func(n int64) bool { return n == 0 })
}

// instead returns proposals that replace a change, or the error that prevents
// it. If both are nil, the change stays.
func (s *Session) instead(before, after json.RawMessage, others []Change) (payloads []Payload, err error) {
	if s.opts.Role == RolePropose && !jsondelta.Equal(before, after) {
		return s.proposalsOf(before, after)
	}
	return nil, s.keeps(others)
}

// storeProposals stores proposals that a user makes by hand as a separate pair.
// It returns a *Proposed or the reason why they could not be stored. The caller
// holds s.work.
func (s *Session) storeProposals(ctx context.Context, description string, payloads []Payload) error {
	p := &Pair{
		ID: NewID(s.now()), Session: s.ID(), Author: s.opts.Author, Topic: s.Topic(), Model: proposalModel,
		UserText: safetext.Clean(description), State: PairComplete, CreatedAt: s.now(), AssistantText: proposedText,
	}
	for _, made := range payloads {
		made.ID = NewID(s.now())[16:] // the random part
		p.Payloads = append(p.Payloads, made)
	}
	if err := s.opts.Store.Commit(ctx, &Batch{Put: []*Pair{p}}); err != nil {
		return err
	}
	s.mu.Lock()
	s.updates.addStale(p.Seq)
	s.view.put(PairRef(p, s.opts.Settings.Budget.CPT()))
	s.mu.Unlock()
	s.recountPayloads(ctx)
	return &Proposed{Pair: p.Seq, Summary: s.announceProposals(p)}
}

// proposedText is the answer text of a proposal that a user makes by hand.
const proposedText = "Proposed. A user with the role save must accept this."

// proposalsOf returns what a user with RolePropose proposes instead of a
// change.
func (s *Session) proposalsOf(before, after json.RawMessage) ([]Payload, error) {
	p, ok := s.opts.Window.(Proposer)
	if !ok {
		return nil, &RoleError{s.opts.Role, RoleWrite}
	}
	payloads, err := p.Proposals(before, after)
	if err != nil {
		return nil, err
	}
	types := s.PayloadTypes()
	for i, made := range payloads {
		if at := slices.IndexFunc(types, samePayload(made.Type)); at >= 0 && made.Summary == "" {
			payloads[i].Summary = types[at].summary(made.Data)
		}
	}
	return payloads, nil
}

// Proposed reports that a change became a proposal instead, which a user with
// RoleSave must accept or reject.
type Proposed struct {
	Pair    int64  // contains the proposals
	Summary string // what they would change
}

// Error implements error. A front end reports a Proposed as a success.
func (p *Proposed) Error() string {
	return "proposed: " + p.Summary + ". A user with the role save must accept this"
}

// AsProposed returns the proposal that was made instead of a change, or nil.
func AsProposed(err error) *Proposed {
	if p, ok := errors.AsType[*Proposed](err); ok {
		return p
	}
	return nil
}

// announceProposals announces the undecided proposals of a pair to the other
// sessions, and returns their summary. It returns "" if there are none.
func (s *Session) announceProposals(p *Pair) string {
	var what []string
	for _, made := range p.Payloads {
		if made.Decision == "" && s.isProposal(made) {
			what = append(what, made.Summary)
		}
	}
	summary := strings.Join(what, "; ")
	if summary != "" {
		s.opts.Member.AnnouncePair(windowlock.Proposed, p.Session, p.Seq, summary)
	}
	return summary
}

// isProposal reports whether p is a proposal, which the user can accept or reject.
func (s *Session) isProposal(p Payload) bool {
	types := s.PayloadTypes()
	i := slices.IndexFunc(types, samePayload(p.Type))
	return i >= 0 && types[i].Proposal()
}

package checkpoint

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Kind is the kind of the step after a checkpoint.
type Kind string

// The kinds of steps.
const (
	KindStart Kind = "start" // the start of a session, its first checkpoint
	KindTurn  Kind = "turn"  // a turn of the assistant that called a write tool
	KindEdit  Kind = "edit"  // an edit that the user made by hand
)

// Checkpoint is a point to which rules and conversation can go back: the
// moment before a step. Kind, Description and Tools describe that step.
type Checkpoint struct {
	ID   string    `json:"id"`   // unique in the journal: 12 characters of a-z and 2-7
	Seq  int64     `json:"seq"`  // orders checkpoints; Time does not
	Time time.Time `json:"time"` // when it was made, in UTC
	Kind Kind      `json:"kind"`
	// Description is one line for the list, never empty in a Checkpoint that
	// the journal returns: Describe makes it from Tools.
	Description string `json:"description,omitempty"`
	// Tools are the calls of write tools in the turn: those passed to Add,
	// each replaced by its result when Record is called after it ran.
	Tools   []ToolSummary `json:"tools,omitempty"`
	Session string        `json:"session,omitempty"`  // "" outside sessions
	PairSeq int64         `json:"position,omitempty"` // of the turn's pair in the database: a rollback cuts it and later ones; 0: none
	Full    bool          `json:"full,omitempty"`     // the whole state is stored here, not a delta
	Undone  bool          `json:"undone,omitempty"`   // a rollback went back to here: LastStep skips it
}

// ToolSummary is one call of a write tool in a checkpoint.
type ToolSummary struct {
	Name   string `json:"name"`
	Args   string `json:"args,omitempty"`   // a JSON object, or any text
	Effect string `json:"effect,omitempty"` // the tool's own message, such as "Added 5 models to ignore"
	OK     bool   `json:"ok,omitempty"`     // it succeeded; a call without OK and Effect has not run yet
	// Lasting says that a rollback does not take the effect back: a file was written.
	Lasting bool `json:"lasting,omitempty"`
}

const (
	// maxDescribedCalls is how many calls a description names before "+N more".
	maxDescribedCalls = 3
	// maxArgsRunes is how much of a call's arguments a description shows.
	maxArgsRunes = 60
)

// Describe makes the one-line description of a turn from its tools, such as
// add_ignore_rule("*-preview"). Control characters become spaces; nothing
// else is sanitised.
func Describe(tools []ToolSummary) string {
	if len(tools) == 0 {
		return "Assistant turn"
	}
	var parts []string
	for _, t := range tools[:min(len(tools), maxDescribedCalls)] {
		parts = append(parts, t.Name+"("+shorten(describeArgs(t.Args))+")")
	}
	text := strings.Join(parts, ", ")
	if more := len(tools) - maxDescribedCalls; more > 0 {
		text += ", +" + strconv.Itoa(more) + " more"
	}
	return text
}

// describeArgs shows the values of a JSON object, in the order of their names,
// without the names, which the tool's name implies; any other text as it is.
func describeArgs(args string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) != nil {
		return args
	}
	var values []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		values = append(values, string(object[name]))
	}
	return strings.Join(values, ", ")
}

// shorten returns s as one line of at most maxArgsRunes characters.
func shorten(s string) string {
	runes := []rune(s)
	if len(runes) > maxArgsRunes {
		runes = append(runes[:maxArgsRunes-1], '…')
	}
	for i, r := range runes {
		if unicode.IsControl(r) {
			runes[i] = ' '
		}
	}
	return string(runes)
}

// Effect returns in one line what the step did: the effects of the tools that
// ran, "Initial state" for a session's start, "" when nothing is known.
func (c Checkpoint) Effect() string {
	if c.Kind == KindStart {
		return "Initial state"
	}
	var parts []string
	for _, t := range c.Tools {
		if t.Effect != "" {
			parts = append(parts, t.Effect)
		}
	}
	return strings.Join(parts, "; ")
}

// Undoes says what a rollback to the checkpoint takes back of its own step; "" when that
// is not known. A file that was written stays.
func (c Checkpoint) Undoes() string {
	var parts []string
	lasting := false
	for _, t := range c.Tools {
		switch {
		case !t.OK:
		case t.Lasting:
			lasting = true
		default:
			parts = append(parts, t.Effect)
		}
	}
	text := strings.Join(parts, "; ")
	if lasting {
		text += "; what it saved stays in the file"
	}
	return strings.TrimPrefix(text, "; ")
}

// described returns a copy that has a description and shares no slice with c.
func (c Checkpoint) described() Checkpoint {
	c.Tools = slices.Clone(c.Tools)
	if c.Description != "" {
		return c
	}
	switch c.Kind {
	case KindStart:
		c.Description = "Session start"
	case KindEdit:
		c.Description = "Edit"
	case KindTurn:
		c.Description = Describe(c.Tools)
	}
	return c
}

// addResults records that tools ran: each result replaces the call without a
// result that has its name and arguments, or is added.
func (c *Checkpoint) addResults(tools []ToolSummary) {
	for _, t := range tools {
		i := slices.IndexFunc(c.Tools, func(a ToolSummary) bool {
			return a == ToolSummary{Name: t.Name, Args: t.Args}
		})
		if i < 0 {
			c.Tools = append(c.Tools, t)
		} else {
			c.Tools[i] = t
		}
	}
}

// Scope is what a rollback reverts.
type Scope string

// The scopes. ScopeConversation keeps all checkpoints in the list, because the
// rules that they can revert are still in effect.
const (
	ScopeBoth         Scope = "both"
	ScopeRules        Scope = "rules"
	ScopeConversation Scope = "conversation"
)

// Intent is a rollback, or the undo of one, that is recorded and not yet done.
// The caller sets the window to State, marks the pairs in the database and
// then calls Finish, or Abandon when one of them failed.
type Intent struct {
	ID       string   `json:"id"` // the pairs that the rollback cuts are marked with it in the database
	Scope    Scope    `json:"scope"`
	Undoes   string   `json:"undoes,omitempty"` // id of the rollback to undo: the pairs marked with it come back, none are cut; "" for a rollback
	Target   string   `json:"target"`           // id of the checkpoint to go back to
	Cut      int64    `json:"cut,omitempty"`    // every visible pair of Sessions from this PairSeq on is cut; 0: none. With Undoes: Cut of that rollback
	Sessions []string `json:"sessions,omitempty"`
	Dropped  []string `json:"dropped,omitempty"` // checkpoints that leave the list at Finish; with Undoes, the steps made since the rollback

	State    json.RawMessage `json:"-"` // the window state to apply
	Previous json.RawMessage `json:"-"` // the one it replaces; the same with ScopeConversation
}

// newID returns a new id: 60 random bits as 12 characters.
func newID() string {
	const length = 12
	return strings.ToLower(rand.Text()[:length])
}

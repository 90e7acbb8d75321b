package checkpoint

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Kind is the kind of the step that follows a checkpoint.
type Kind string

// The kinds of steps.
const (
	KindStart Kind = "start" // the start of a session, its first checkpoint
	KindTurn  Kind = "turn"  // a turn of the assistant that called a write tool
	KindEdit  Kind = "edit"  // an edit that the user made by hand
)

// Checkpoint is a point to which the window and the conversation can be rolled back: the moment before a step. Kind,
// Description and Tools describe that step.
type Checkpoint struct {
	ID   string    `json:"id"`   // unique in the journal: 12 characters of a-z and 2-7
	Seq  int64     `json:"seq"`  // increases with each checkpoint, unlike Time
	Time time.Time `json:"time"` // when the checkpoint was made, in UTC
	Kind Kind      `json:"kind"`
	// Description is one line for lists. It is never empty in a Checkpoint returned by the journal; for a turn,
	// Describe makes it from Tools.
	Description string `json:"description,omitempty"`
	// Tools are the turn's calls to write tools: Add stores the calls, Record replaces them with their results.
	Tools   []ToolSummary `json:"tools,omitempty"`
	Session string        `json:"session,omitempty"` // "" outside sessions
	// PairSeq is the sequence number of the turn's pair in the database; 0 means no pair. A rollback cuts this pair and
	// all later ones.
	PairSeq int64 `json:"position,omitempty"`
	Full    bool  `json:"full,omitempty"`   // the record contains the whole state, not a delta
	Undone  bool  `json:"undone,omitempty"` // the step was rolled back; LastStep skips it
}

// ToolSummary is one call to a write tool in a checkpoint.
type ToolSummary struct {
	Name   string `json:"name"`
	Args   string `json:"args,omitempty"`   // as the model sent them: usually a JSON object, but possibly not even valid JSON
	Effect string `json:"effect,omitempty"` // what the call did, such as "dimmed to 40 %"
	OK     bool   `json:"ok,omitempty"`     // the call succeeded; a call without OK and Effect has not run yet
	// Lasting is set if a rollback does not revert the effect, such as a written file.
	Lasting bool `json:"lasting,omitempty"`
}

// Describe lists the effects of a turn's calls except lasting ones, or returns "Assistant turn" if no call has run or
// changed anything. Control characters become spaces; nothing else is sanitised.
func Describe(tools []ToolSummary) string {
	const described = 3
	effects, _ := effectsOf(tools)
	if len(effects) == 0 {
		return "Assistant turn"
	}
	text := strings.Join(effects[:min(len(effects), described)], "; ")
	if more := len(effects) - described; more > 0 {
		text += "; " + strconv.Itoa(more) + " more"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// effectsOf returns the effects that a rollback reverts; lasting reports whether there are effects that it does not
// revert.
func effectsOf(tools []ToolSummary) (effects []string, lasting bool) {
	for _, t := range tools {
		switch {
		case !t.OK || t.Effect == "":
		case t.Lasting:
			lasting = true
		default:
			effects = append(effects, t.Effect)
		}
	}
	return effects, lasting
}

// Undoes describes the effects of the checkpoint's own step that a rollback to the checkpoint reverts. It also
// mentions saved changes, which stay in the file. It returns "" for the start of a session.
func (c Checkpoint) Undoes() string {
	effects, lasting := effectsOf(c.Tools)
	text := strings.Join(effects, "; ")
	if text == "" && c.Kind != KindStart {
		text = c.Description
	}
	if lasting {
		text += "; saved changes stay in the file"
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

// addResults adds the results of tools. Each result replaces the call with the same name and arguments that has no
// result yet, or is appended if there is no such call.
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

// The scopes. ScopeConversation keeps all checkpoints in the list, because the changes that they can revert are
// still in effect.
const (
	ScopeBoth         Scope = "both"
	ScopeWindow       Scope = "window"
	ScopeConversation Scope = "conversation"
)

// UnmarshalText reads a scope. Journals of earlier versions call ScopeWindow "rules".
func (s *Scope) UnmarshalText(text []byte) error {
	if *s = Scope(text); *s == "rules" {
		*s = ScopeWindow
	}
	return nil
}

// Intent is a rollback, or the undo of a rollback, that has been recorded but not carried out. The caller sets the
// window to State, marks the pairs in the database and then calls Finish, or Abandon if one of these steps failed.
type Intent struct {
	ID    string `json:"id"` // identifies the rollback, and marks the pairs that it cuts in the database
	Scope Scope  `json:"scope"`
	// Undoes is the id of the rollback to undo, whose pairs are restored; "" if the intent is a rollback.
	Undoes string `json:"undoes,omitempty"`
	Target string `json:"target"` // id of the checkpoint to roll back to
	// Cut is the PairSeq of the first pair to cut in Sessions; 0 means none. If Undoes is set, it is the Cut of the
	// rollback being undone.
	Cut      int64    `json:"cut,omitempty"`
	Sessions []string `json:"sessions,omitempty"` // ids
	// Dropped contains the ids of the checkpoints that Finish removes from the list. If Undoes is set, these are the
	// steps made since the rollback.
	Dropped []string `json:"dropped,omitempty"`

	State    json.RawMessage `json:"-"` // the window state to apply
	Previous json.RawMessage `json:"-"` // the state that State replaces; equal to State with ScopeConversation
}

// newID returns a new id: 60 random bits as 12 characters.
func newID() string {
	const length = 12
	return strings.ToLower(rand.Text()[:length])
}

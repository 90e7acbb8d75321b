package assistant

import (
	"encoding/json"
	"time"
)

// Window is the thing the assistant works on. Implement it and the assistant
// sees it, changes it through its tools, and can take every change back.
//
// The session calls a window from one goroutine at a time. Its own user
// interface may call it at any moment: a window guards its own state.
type Window interface {
	// Context is what the model is told about the window now: a value that
	// encodes to a JSON object.
	Context() (any, error)
	// Prompt tells the model how to work in this window.
	Prompt() string
	// Tools are the actions the model may take.
	Tools() []Tool
	// State is everything that a checkpoint brings back, as a value that
	// encodes to JSON. Equal states encode equally.
	State() (any, error)
	// ApplyState brings a state back, all of it or nothing.
	ApplyState(state json.RawMessage) error
	// StateHash changes whenever the context may have changed.
	StateHash() string
	// Lock keeps the user from changing the window while the assistant works;
	// Unlock ends that. They come in pairs and do not nest.
	Lock()
	Unlock()
}

// Change is one thing that happened in a window between two messages, as the
// model is told: a "type", its own fields, and a "timestamp".
type Change map[string]any

// NewChange returns a change of this kind at this moment.
func NewChange(kind string, at time.Time, fields map[string]any) Change {
	c := Change{"type": kind, "timestamp": at.UTC().Format(time.RFC3339)}
	for k, v := range fields {
		c[k] = v
	}
	return c
}

// ChangeLog is a Window that remembers what its user did. A window without it
// gets one "context_changed" entry with the paths that differ.
type ChangeLog interface {
	// Changes returns what happened after mark, oldest first, and the mark to
	// ask with next time. Mark 0 asks for everything.
	Changes(mark int64) (changes []Change, next int64)
}

// Budgeter is a Window that cuts its context to a size.
type Budgeter interface {
	// SetContextBudget bounds the context to about so many estimated tokens.
	SetContextBudget(tokens int)
}

// Pager is a Window that is a page with tabs; see Page.
type Pager interface {
	// Where names the page, tab and subtab that are open.
	Where() Place
}

// Place is a page with its open tab and subtab; both may be "".
type Place struct{ Page, Tab, Subtab string }

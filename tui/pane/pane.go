// Package pane says what the screen asks of the part of it that shows a window.
//
// The root model holds a Pane and draws it beside the conversation; tui/rules
// and tui/historypane are such. A pane does no I/O: it answers a key with an Action, and the root
// performs it, because it alone starts commands and knows whether the
// assistant is at work.
package pane

import (
	"cmp"
	"context"
	"encoding/json"

	"winnow/tui/overlay"
	"winnow/tui/style"
)

// Pane is the part of the screen that shows the window and lets the user work
// on it by hand. tui/rules and tui/historypane are such. It is drawn and asked from Update alone; it
// does no I/O itself: what takes time it returns as a Run.
type Pane interface {
	// Lines draws the inside of the pane: h lines of w cells.
	Lines(w, h int) []string
	SetStyles(st style.Styles)
	SetFocus(on bool)
	// Changed tells the pane that the window is another now.
	Changed()
	// Do carries out an action of the key table by its name.
	Do(action string) Action
	// Key gives a text line of the pane a key; it is asked only while Typing.
	Key(name, text string) Action
	// Typing says whether a text line of the pane has the focus.
	Typing() bool
	// Escape clears the text line, or leaves it when it is empty.
	Escape()
	// Click is a click on a row of the pane.
	Click(x, y int) Action
	// Status is what header and footer say of the window.
	Status() Status
}

// Saver is a Pane whose window can be saved.
type Saver interface {
	// Plan shows what a save would change, as lines that are safe to show.
	Plan(ctx context.Context, st style.Styles) (lines []string, changes bool, err error)
	// Save writes, and says what was done.
	Save(ctx context.Context) (said string, err error)
	// Discard goes back to what was saved. It is a change like any other.
	Discard() error
}

// Reader is a Pane that shows what has to be read first.
type Reader interface {
	// Stale says that what is drawn is out of date. It asks for one Read, and
	// says so only once until that has ended. It answers from memory: it is asked
	// after every message.
	Stale() bool
	// Read reads what there is to show; the next frame has it. It may take its
	// time and is safe from any goroutine.
	Read(ctx context.Context) error
}

// Hinter is a Pane that says which keys have a meaning there.
type Hinter interface {
	// Hints are those keys, the most useful first; none for all that the key
	// table has for a pane.
	Hints() []Hint
}

// Hint is a key with what it does now, in two or three words.
type Hint struct{ Key, Text string }

// Effect is what accepting a proposal of the model would do to what the window
// shows.
type Effect struct {
	Hidden, Shown []string // what would become hidden, and available
	Known         bool     // there is anything that could
	Refused       []string // reasons of what would not be taken
}

// Forecaster is a Pane that can tell the effect of a proposal. Effect is safe
// from any goroutine.
type Forecaster interface {
	Effect(proposal json.RawMessage) (Effect, error)
}

// Status is what header and footer say of the window.
type Status struct {
	Title    string // "model filter"
	Subtitle string // the provider
	Unsaved  bool
}

// Action is what a pane asks the root to do. One of Nothing, Edit, Notify, SetFilter, Pick, Confirm, Run.
//
//sumtype:decl
type Action interface{ action() }

type (
	// Nothing is done.
	Nothing struct{}
	// Edit is a change of the window, one step that can be undone.
	Edit struct {
		Description string // what the step does, for the list of checkpoints: "Add ignore rule “*mini*”"
		Change      func() error
		// Done says what was done, for the notice: "added ignore rule “*mini*”:
		// 2 models hidden". It is called once, after a Change that succeeded and
		// from where that was called. nil is the description.
		Done func() string
		// View says that only what is shown is another: there is nothing to save.
		View bool
	}
	// Notify shows a notice.
	Notify struct {
		Text string
		Bad  bool
	}
	// SetFilter executes a line of the filter language: the conversation shows what
	// it leaves, and a command in it is done.
	SetFilter struct{ Line string }
	// Pick lets the user choose from a list.
	Pick struct {
		Title   string
		Entries []overlay.Entry
		Then    func(value string) Action
	}
	// Confirm asks a question that y answers; every other key declines.
	Confirm struct {
		Title string
		Lines []string
		Yes   string // what y does, in two words
		Then  func() Action
	}
	// Run takes time: network or disk. It ends with a sentence or an error.
	Run struct {
		Doing string // shown meanwhile
		Run   func(ctx context.Context) (said string, err error)
	}
)

// Notice is the text of the notice once Change has succeeded.
func (e Edit) Notice() string {
	if e.Done == nil {
		return e.Description
	}
	return e.Done()
}

func (Nothing) action()   {}
func (Edit) action()      {}
func (Notify) action()    {}
func (SetFilter) action() {}
func (Pick) action()      {}
func (Confirm) action()   {}
func (Run) action()       {}

// None is the pane of a session without a window: it shows nothing and does nothing.
type None struct {
	Title string // what the header calls it; "" is "chat"
}

// Lines implements Pane.
func (None) Lines(_, h int) []string { return make([]string, h) }

// SetStyles implements Pane.
func (None) SetStyles(style.Styles) {}

// SetFocus implements Pane.
func (None) SetFocus(bool) {}

// Changed implements Pane.
func (None) Changed() {}

// Do implements Pane.
func (None) Do(string) Action { return Nothing{} }

// Key implements Pane.
func (None) Key(string, string) Action { return Nothing{} }

// Typing implements Pane.
func (None) Typing() bool { return false }

// Escape implements Pane.
func (None) Escape() {}

// Click implements Pane.
func (None) Click(int, int) Action { return Nothing{} }

// Status implements Pane.
func (n None) Status() Status { return Status{Title: cmp.Or(n.Title, "chat")} }

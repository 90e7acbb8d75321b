package pane

import (
	"cmp"
	"context"
	"encoding/json"

	"winnow/tui/overlay"
	"winnow/tui/style"
)

// Pane is the part of the screen that shows the window.
type Pane interface {
	// Lines draws the pane with its frame: h lines of w cells.
	Lines(w, h int) []string
	SetStyles(st style.Styles)
	// SetKeys gives the pane the keys as they are bound, for its hints.
	SetKeys(keys Keys)
	SetFocus(on bool)
	// Changed reports that the window may have changed.
	Changed()
	// Do performs an action of the key table by its name.
	Do(action string) Action
	// Key gives a key to the text line of the pane, and pasted text with an empty
	// name. It is called only while Typing.
	Key(name, text string) Action
	// Typing reports whether a text line of the pane has the focus.
	Typing() bool
	// Escape clears the text line, or closes it when it is empty.
	Escape()
	// Click handles a click at a cell of the pane.
	Click(x, y int) Action
	// Status is what header and footer show of the window.
	Status() Status
}

// Keys returns the key that an action of the key table is bound to in a pane, as
// it is shown; "" when no key is bound to it.
type Keys func(action string) string

// key is the key of an action; "" also when keys is nil.
func (keys Keys) key(action string) string {
	if keys == nil {
		return ""
	}
	return keys(action)
}

// Hint names the key of an action and what it does, as in "d deletes it"; ""
// when no key is bound to it, or when keys is nil.
func (keys Keys) Hint(action, does string) string {
	if key := keys.key(action); key != "" {
		return key + " " + does
	}
	return ""
}

// Hints are the keys of actions with what each does, as pairs of an action and a
// text; an action without a key is left out.
func (keys Keys) Hints(pairs ...string) []Hint {
	var hints []Hint
	for i := 0; i+1 < len(pairs); i += 2 {
		if key := keys.key(pairs[i]); key != "" {
			hints = append(hints, Hint{Key: key, Text: pairs[i+1]})
		}
	}
	return hints
}

// Loader is a Pane that draws what it has read before.
type Loader interface {
	// Stale reports, from memory, that what is drawn is out of date and wants a
	// Read. It reports that once, until the Read has ended.
	Stale() bool
	// Read reads what there is to show; the next frame shows it. It may wait for
	// the disk.
	Read(ctx context.Context) error
}

// Hinter is a Pane whose keys have a meaning of their own.
type Hinter interface {
	// Hints are those keys, the most useful first. The keys of the key table that
	// mean the same in every pane are not among them.
	Hints() []Hint
}

// Hint is a key with what it does now, in two or three words.
type Hint struct{ Key, Text string }

// Effect is what accepting a proposal of the model would do to the models.
type Effect struct {
	Hidden, Shown []string // models that would become hidden, and shown
	Known         bool     // any models are known
	Refused       []string // reasons of the changes that would be refused
}

// Forecaster is a Pane that knows the effect of a proposal. Effect is safe from
// any goroutine.
type Forecaster interface {
	Effect(proposal json.RawMessage) (Effect, error)
}

// Completer is a Pane whose names can be completed where the user types them.
type Completer interface {
	// Completions are the names, the most likely ones first.
	Completions() []string
}

// Status is what header and footer show of the window.
type Status struct {
	Title    string // "model filter"
	Subtitle string // the provider
	Unsaved  bool
	Deletes  string // what the key that deletes a rule does here, in a word or two; "" is nothing
}

// Action is what a pane asks the root to do: one of Nothing, Edit, Notify,
// SetFilter, Pick, Confirm, Run, Discard.
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
		// ViewOnly says that only the display changes: there is nothing to save.
		ViewOnly bool
	}
	// Notify shows a notice.
	Notify struct {
		Text    string
		IsError bool
	}
	// SetFilter executes a line of the filter language: the conversation shows what
	// it matches, and a command in it is executed.
	SetFilter struct{ Line string }
	// Pick lets the user choose from a list.
	Pick struct {
		Title   string
		Entries []overlay.Entry
		Then    func(value string) Action
	}
	// Confirm asks a question. y and the keys of More answer it; every other key
	// declines.
	Confirm struct {
		Title string
		Lines []string
		Yes   string // what y does, in a few words
		Then  func() Action
		More  []Answer
	}
	// Run takes time: network or disk. It ends with a sentence or an error.
	Run struct {
		Doing string // shown meanwhile
		Run   func(ctx context.Context) (notice string, err error)
	}
	// Discard drops the unsaved changes of the window, after a question.
	Discard struct{}
)

// Answer is a further answer to a Confirm.
type Answer struct {
	Key   string // neither y nor n, nor enter
	Label string
	Then  func() Action
}

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
func (Discard) action()   {}

// None is the pane of a session without a window: it shows nothing and does nothing.
type None struct {
	Title string // what the header calls it; "" is "chat"
}

// Lines implements Pane.
func (None) Lines(_, h int) []string { return make([]string, h) }

// SetStyles implements Pane.
func (None) SetStyles(style.Styles) {}

// SetKeys implements Pane.
func (None) SetKeys(Keys) {}

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

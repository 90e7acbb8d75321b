package pane

import (
	"cmp"

	"winnow/assistant"
	"winnow/checkpoint"
	"winnow/tui/keymap"
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
	// Show gives the pane what the workspace has published. The pane draws that alone.
	Show(State)
	// Changed reports that what the pane has asked for by itself may be out of date.
	Changed()
	// Wants is what the pane asks for by itself, from memory: to tell the window what the
	// user looks at, or to read what is not known yet. It is asked after every message,
	// and asks once.
	Wants() (e Edit, ok bool)
	// Do performs an action of the key table.
	Do(a keymap.Action) Action
	// Key gives the text line of the pane an action of the mode Line or Editing, or with
	// "" what was typed or pasted. It is called only while Typing.
	Key(a keymap.Action, text string) Action
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
type Keys func(keymap.Action) string

// key is the key of an action; "" also when keys is nil.
func (keys Keys) key(action keymap.Action) string {
	if keys == nil {
		return ""
	}
	return keys(action)
}

// Named is the key of an action by its name in the key table; see package advice.
func (keys Keys) Named(action string) string { return keys.key(keymap.Action(action)) }

// Hint names the key of an action and what it does, as in "d deletes it"; ""
// when no key is bound to it, or when keys is nil.
func (keys Keys) Hint(action keymap.Action, does string) string {
	if key := keys.key(action); key != "" {
		return key + " " + does
	}
	return ""
}

// Hints are the keys of actions with what each does; an action without a key is left out.
func (keys Keys) Hints(all ...keymap.Hint) []Hint {
	var hints []Hint
	for _, does := range all {
		for _, a := range does.Actions {
			if key := keys.key(a); key != "" {
				hints = append(hints, Hint{Key: key, Text: does.Text})
			}
		}
	}
	return hints
}

// State is what the workspace has published.
type State struct {
	Window      any                     // the snapshot of the window; nil: none yet
	Holder      string                  // whose turn has a shared window, beside the own one; "" is nobody's
	Topic       string                  // of new messages
	Checkpoints []checkpoint.Checkpoint // of the session, oldest first
}

// Receiver is a Pane that computes what takes longer than a frame; see Compute.
type Receiver interface {
	// Receive takes the result of a Compute.
	Receive(result any) Action
}

// Hinter is a Pane whose keys have a meaning of their own.
type Hinter interface {
	// Hints are those keys, the most useful first. The keys of the key table that
	// mean the same in every pane are not among them.
	Hints() []Hint
}

// Arguer is a Pane some of whose actions can be given what they would ask for.
type Arguer interface {
	// DoWith performs an action of the key table on what was typed after its name.
	DoWith(a keymap.Action, argument string) Action
}

// Hint is a key with what it does now, in two or three words.
type Hint struct{ Key, Text string }

// Welcomer is a Pane that says on an empty conversation what its window is about.
type Welcomer interface {
	// Welcome is for a conversation without messages; ok is false while nothing is known.
	Welcome() (w Welcome, ok bool)
}

// Welcome is what an empty conversation shows of a window.
type Welcome struct {
	Facts    []Fact
	Requests []string // that make sense for what the window holds, the best first
}

// Fact is a line of a Welcome. Name and Text are drawn in columns.
type Fact struct{ Name, Text string }

// Completer is a Pane whose names can be completed where the user types them.
type Completer interface {
	// Completions are the names, the most likely ones first.
	Completions() []string
}

// Status is what header and footer show of the window.
type Status struct {
	Title    string // "model filter"
	Subtitle string // the provider
	Unsaved  int    // changes that can be saved
	Deletes  string // what the key that deletes a rule does here, in a word or two; "" is nothing
}

// Action is what a pane asks the root to do: one of Nothing, Edit, Notify,
// SetFilter, SelectTopic, Pick, Confirm, Compute, Discard.
//
//sumtype:decl
type Action interface{ action() }

type (
	// Nothing is done.
	Nothing struct{}
	// Edit is an act in the window, based on what the pane shows. One that is a step can
	// be undone, and later keys wait for it.
	Edit struct {
		Act      assistant.Act
		Revision int64  // of the snapshot that was shown
		Doing    string // shown meanwhile; "" shows nothing
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
	// SelectTopic gives new messages a topic; "" for none.
	SelectTopic struct{ Path string }
	// Pick lets the user choose from a list.
	Pick struct {
		Title   string
		Entries []overlay.Entry
		Then    func(value string) Action
	}
	// Confirm asks a question that can be answered with yes or no.
	Confirm struct {
		Title string
		Lines []string
		Yes   string // what yes does, in a few words
		Then  func() Action
	}
	// Compute takes longer than a frame, and works on memory alone. Receive gets the
	// result, unless that is an error, which is shown.
	Compute struct {
		Doing string // shown meanwhile
		Run   func() (result any, err error)
	}
	// Discard drops the unsaved changes of the window, after a question.
	Discard struct{}
)

func (Nothing) action()     {}
func (Edit) action()        {}
func (Notify) action()      {}
func (SetFilter) action()   {}
func (Pick) action()        {}
func (SelectTopic) action() {}
func (Confirm) action()     {}
func (Compute) action()     {}
func (Discard) action()     {}

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

// Show implements Pane.
func (None) Show(State) {}

// Changed implements Pane.
func (None) Changed() {}

// Wants implements Pane.
func (None) Wants() (Edit, bool) { return Edit{}, false }

// Do implements Pane.
func (None) Do(keymap.Action) Action { return Nothing{} }

// Key implements Pane.
func (None) Key(keymap.Action, string) Action { return Nothing{} }

// Typing implements Pane.
func (None) Typing() bool { return false }

// Escape implements Pane.
func (None) Escape() {}

// Click implements Pane.
func (None) Click(int, int) Action { return Nothing{} }

// Status implements Pane.
func (n None) Status() Status { return Status{Title: cmp.Or(n.Title, "chat")} }

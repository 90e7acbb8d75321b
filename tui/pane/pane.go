package pane

import (
	"cmp"

	"winnow/assistant"
	"winnow/assistant/safetext"
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
	// SetKeys sets the key bindings for the pane's hints.
	SetKeys(keys Keys)
	SetFocus(on bool)
	// Show passes the state published by the workspace to the pane, which draws nothing
	// else.
	Show(State)
	// Changed is called when the results of the pane's own requests (see Wants) may be out
	// of date.
	Changed()
	// Wants returns an act that the pane requests without a key press: to report what the
	// user is looking at, or to read what is not known yet. Wants is called after every
	// message, must not do I/O, and requests the same act only once.
	Wants() (e Edit, ok bool)
	// Do performs an action of the key table.
	Do(a keymap.Action) Action
	// Key passes an action of the mode Line or Editing to the pane's text line or, if the
	// action is "", typed or pasted text. It is called only while Typing.
	Key(a keymap.Action, text string) Action
	// Typing reports whether a text line of the pane has the focus.
	Typing() bool
	// Escape clears the text line or closes an empty one; without a text line, it ends the
	// search. It reports whether there was anything to do.
	Escape() bool
	// Click handles a click at a cell of the pane.
	Click(x, y int) Action
	// Status returns what the header and the footer show about the window.
	Status() Status
}

// Keys returns the key bound to an action of the key table in a pane, as shown to the user;
// "" if there is none.
type Keys func(keymap.Action) string

// key returns the key of an action; "" if keys is nil.
func (keys Keys) key(action keymap.Action) string {
	if keys == nil {
		return ""
	}
	return keys(action)
}

// Named returns the key of an action by its name in the key table; see package advice.
func (keys Keys) Named(action string) string { return keys.key(keymap.Action(action)) }

// Hint returns the key of an action and what it does, as in "d deletes it"; "" if no key is
// bound to it or keys is nil.
func (keys Keys) Hint(action keymap.Action, does string) string {
	if key := keys.key(action); key != "" {
		return key + " " + does
	}
	return ""
}

// Notify returns a notice of a text and the Hint of an action: "this is a list · d deletes it".
func (keys Keys) Notify(text safetext.Text, action keymap.Action, does string) Notify {
	return Notify{Text: Join(text, safetext.Sprintf("%s", keys.Hint(action, does)))}
}

// Hints returns the keys of actions with what each does; actions without a key are left
// out.
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
	Window      any                     // the snapshot of the window; nil if there is none yet
	Working     bool                    // a turn of the user's own session is running
	Holder      string                  // another user whose turn has locked the shared window; "" if unknown or none
	Topic       string                  // topic of new messages
	Checkpoints []checkpoint.Checkpoint // checkpoints of the session, oldest first
}

// Receiver is a Pane with computations that take longer than a frame; see Compute.
type Receiver interface {
	// Receive handles the result of a Compute.
	Receive(result any) Action
}

// Hinter is a Pane with keys that have a special meaning.
type Hinter interface {
	// Hints returns these keys, the most useful ones first. Keys that mean the same in
	// every pane are omitted.
	Hints() []Hint
}

// Arguer is a Pane that accepts arguments for some actions, instead of asking for them.
type Arguer interface {
	// DoWith performs an action of the key table with the text typed after its name.
	DoWith(a keymap.Action, argument string) Action
}

// Hint is a key with what it does now, in two or three words.
type Hint struct{ Key, Text string }

// Legender is a Pane with signs that the help explains.
type Legender interface {
	// Legend returns the signs that the pane can show.
	Legend() []Sign
}

// Sign explains one or more symbols with the same meaning.
type Sign struct{ Icon, Means string }

// SignTable contains the signs that a pane can show: how each is drawn, and what it means.
type SignTable []struct {
	Icon  func(*style.Icons) string
	Means string
}

// Legend returns the signs as they are drawn with these icons.
func (t SignTable) Legend(icons *style.Icons) []Sign {
	legend := make([]Sign, len(t))
	for i, s := range t {
		legend[i] = Sign{s.Icon(icons), s.Means}
	}
	return legend
}

// Welcomer is a Pane that describes its window in an empty conversation.
type Welcomer interface {
	// Welcome is called for a conversation without messages; ok is false while the pane
	// knows nothing about the window.
	Welcome() (w Welcome, ok bool)
}

// Welcome is what an empty conversation shows about a window.
type Welcome struct {
	Facts    []Fact
	Requests []string // useful example requests for the window's content, best first
}

// Fact is a line of a Welcome. Name and Text are drawn in columns.
type Fact struct{ Name, Text string }

// Completer is a Pane with names that can be completed where the user types them.
type Completer interface {
	// Completions returns the names, most likely first.
	Completions() []string
}

// Status is what the header and the footer show about the window.
type Status struct {
	Title      string // name of the window, for example "model filter"
	Subtitle   string // what is open in it, for example a provider
	Unsaved    int    // changes that can be saved
	DeleteHint string // what the key for DeleteRule does here, in a word or two; "" if nothing

	Searching bool // a search hides rows
}

// Action is what a pane asks the root to do: a Nothing, Edit, Notify, SetFilter,
// SelectTopic, Pick, Confirm, Compute or Discard.
//
//sumtype:decl
type Action interface{ action() }

type (
	// Nothing does nothing.
	Nothing struct{}
	// Edit is an act in the window, based on what the pane shows. If the act is a step, it
	// can be undone, and later keys wait for it.
	Edit struct {
		Act      assistant.Act
		Revision int64         // revision of the displayed snapshot
		Doing    safetext.Text // shown while the act runs; "" shows nothing
		// ViewOnly means that only the display changes, so there is nothing to save.
		ViewOnly bool
	}
	// Notify shows a notice.
	Notify struct {
		Text    safetext.Text
		IsError bool
	}
	// SetFilter executes a line of the filter language: the conversation shows the matching
	// messages, and a command in the line is executed.
	SetFilter struct{ Line string }
	// SelectTopic sets the topic of new messages; "" for none.
	SelectTopic struct{ Path string }
	// Pick lets the user choose from a list.
	Pick struct {
		Title   string
		Entries []overlay.Entry
		Then    func(value string) Action
	}
	// Confirm asks a yes-or-no question.
	Confirm struct {
		Title safetext.Text
		Lines []string
		Yes   string // what yes does, in a few words
		Then  func() Action
	}
	// Compute runs a computation that takes longer than a frame and does no I/O. The result
	// goes to Receiver.Receive; an error is shown to the user instead.
	Compute struct {
		Doing safetext.Text // shown while the computation runs
		Run   func() (result any, err error)
	}
	// Discard discards the unsaved changes to the window, after asking.
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

// None is the pane of a session without a window: it shows and does nothing.
type None struct {
	Title string // shown in the header; "" means "chat"
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
func (None) Escape() bool { return false }

// Click implements Pane.
func (None) Click(int, int) Action { return Nothing{} }

// Status implements Pane.
func (n None) Status() Status { return Status{Title: cmp.Or(n.Title, "chat")} }

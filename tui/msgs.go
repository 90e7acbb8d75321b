package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// Noticed tells the screen what came out beside it, such as which model the
// endpoints named. The program around sends it; the model may be another one
// since.
type Noticed struct {
	Text string // a sentence for the footer; "" says nothing
	Bad  bool   // it is a failure
}

// The messages below answer the commands of cmds.go; err is set when one has
// failed. Those of a turn are in stream.go.
type (
	// sessionReadyMsg brings what the screen shows and works on.
	sessionReadyMsg struct {
		parts  Parts
		loaded startLoadedMsg
		err    error
	}
	// startLoadedMsg is what is shown first.
	startLoadedMsg struct {
		boundary boundaryComputedMsg
		draft    history.Draft
		recall   workspace.Recall
		models   modelList
		drawing  []int64 // the pairs being drawn when the program died
		err      error
	}
	// boundaryComputedMsg is a boundary that was computed anew, with the counter
	// and the pairs it divides. near: the conversation is close to what the model
	// takes.
	boundaryComputedMsg struct {
		refs    []assistant.Ref
		at      budget.Boundary
		counter string
		near    bool
	}
	// pairsLoadedMsg brings pairs; those of a turn that has ended name it.
	pairsLoadedMsg struct {
		turn  int // 0 for all others
		asked []int64
		pairs []assistant.Pair
		err   error
	}
	// pairsChangedMsg says that pairs were marked or deleted; seqs are those that
	// are still there.
	pairsChangedMsg struct {
		notice string
		seqs   []int64
		err    error
	}
	// pairCheckedMsg says whether the active line shows a pair.
	pairCheckedMsg struct {
		seq   int64
		shown bool
	}
	// retryPreparedMsg brings the prompt that answers a pair again.
	retryPreparedMsg struct {
		prompt assistant.Prompt
		err    error
	}
	// reAskReadMsg brings a message to be edited; replaces: its pair has failed and
	// goes when it is sent.
	reAskReadMsg struct {
		text     string
		replaces bool
		err      error
	}
	// messageStoredMsg says that a message waits durably for the end of the turn.
	messageStoredMsg struct {
		prompt assistant.Prompt
		typed  string
		err    error
	}
	// confirmWantedMsg asks for a yes; yes does it.
	confirmWantedMsg struct {
		confirm workspace.Confirm
		yes     tea.Cmd
	}
	// textFoundMsg is the pairs of the whole history that contain a text.
	textFoundMsg struct {
		needle string
		back   bool
		seqs   []int64 // sorted
		err    error
	}
	// filterAppliedMsg is what a line has made the view.
	filterAppliedMsg struct {
		line     string
		refs     []assistant.Ref
		boundary boundaryComputedMsg
		hints    []string
		err      error
	}
	// filterCountedMsg is how many pairs a line that is typed would leave.
	filterCountedMsg struct {
		line  string
		count int
		err   error
	}
	// commandPlannedMsg is the :command of a line with its pairs.
	commandPlannedMsg struct {
		line  string
		order history.Command
		err   error
	}
	// commandExecutedMsg is what a command has done.
	commandExecutedMsg struct {
		line  string
		order history.Command
		out   history.Outcome
		err   error
	}
	// commandUndoneMsg is what a command had done that is undone.
	commandUndoneMsg struct {
		out history.Outcome
		err error
	}
	// viewStaleMsg says that the line of the view cannot be evaluated.
	viewStaleMsg struct{ err error }
	// failedMsg answers what is done in the background and only heard of when it
	// fails.
	failedMsg struct{ err error }
	// namesLoadedMsg is what completion offers.
	namesLoadedMsg struct {
		topics []string
		saved  map[string]string
	}
	// topicsChangedMsg says that the topic at from is at to now. from is "" for a
	// new topic, to for one whose pairs have none now.
	topicsChangedMsg struct {
		notice   string
		from, to string
		topics   []string
		saved    map[string]string
		err      error
	}
	// sessionsLoadedMsg is the sessions of the history.
	sessionsLoadedMsg struct {
		sessions []history.Session
		err      error
	}
	// sessionChangedMsg says that another session goes on, or could not; switched
	// may be true beside an error.
	sessionChangedMsg struct {
		resumed, switched bool
		err               error
	}
	// rolledBackMsg says that the window is as it was before a step.
	rolledBackMsg struct {
		notice   string
		text     string // of the first pair that was cut
		undoable bool
		err      error
	}
	// requestsLoadedMsg is the requests of a pair, oldest first, or the one that
	// would be sent now; err also beside requests, when one of them is damaged.
	requestsLoadedMsg struct {
		pair     int64 // 0: none was asked for
		sent     bool  // else it is the one that would be sent now
		requests []shownRequest
		err      error
	}
	// modelsLoadedMsg says that the endpoints were asked; failed by provider.
	modelsLoadedMsg struct{ failed map[string]error }
	// modelPickedMsg says that a model answers from the next message on.
	modelPickedMsg struct {
		id     string
		models modelList
		err    error
	}
	// favouritesStoredMsg is the models that are marked now.
	favouritesStoredMsg struct {
		id         string // the one whose mark has changed
		favourites []string
		err        error
	}
	// settingStoredMsg says that a setting holds for the next start, too.
	settingStoredMsg struct {
		at         int // the line of the settings
		key, value string
		err        error
	}
	// draftStoredMsg says that a draft is durable.
	draftStoredMsg struct {
		text string
		err  error
	}
	// filesReadMsg brings a message with the texts of its files.
	filesReadMsg struct {
		n      int // which one
		prompt assistant.Prompt
		err    error
	}
	// filesListedMsg is what a folder holds, for the list above the input.
	filesListedMsg struct {
		dir   string
		files []fileEntry
		err   error
	}
	// changeDoneMsg answers what keys wait for, with the answer of what was done.
	changeDoneMsg struct{ answer tea.Msg }
)

// Messages of the window and its pane.
type (
	// paneReadMsg says that the pane has been read anew.
	paneReadMsg struct{ err error }
	// editedMsg says that the window was changed by hand; view: only what is shown
	// is another, there is nothing to save.
	editedMsg struct {
		notice string
		view   bool
		err    error
	}
	// ranMsg says that an action of the pane that took time has ended.
	ranMsg struct {
		notice string
		err    error
	}
	// savePlannedMsg is what a save would change; quit: the program ends after it.
	savePlannedMsg struct {
		lines   []string
		changes bool
		quit    bool
		err     error
	}
	// savedMsg says that the file is written.
	savedMsg struct {
		notice string
		quit   bool
		err    error
	}
	// savedChangedMsg is a change of the saved state by somebody else.
	savedChangedMsg struct {
		change assistant.SavedChange
		more   <-chan assistant.SavedChange
	}
	// effectsComputedMsg is what each proposal would do, by its payload.
	effectsComputedMsg struct{ effects map[string]pane.Effect }
)

// Messages of the terminal and of timers.
type (
	// pickerSearchedMsg is what the search of a long list leaves.
	pickerSearchedMsg struct{ found overlay.Found }
	// copiedMsg says which ways took a text.
	copiedMsg struct {
		what   string
		native bool // the system's clipboard has it
		tmux   bool // the buffer of tmux has it
	}
	// editorReadyMsg names the file that the editor gets.
	editorReadyMsg struct {
		path string
		err  error
	}
	// editorClosedMsg brings what was edited.
	editorClosedMsg struct {
		text string
		err  error
	}
	// burstRestedMsg says that this many keys of a paste had come a while ago.
	burstRestedMsg struct{ keys int }
	// draftDueMsg says that the draft was changed a while ago.
	draftDueMsg struct{}
	// tickedMsg moves what is animated. It comes only while something is.
	tickedMsg struct{}
	// edgeDueMsg says that a selection dragged beyond the edge scrolls on.
	edgeDueMsg struct{}
	// onceMoreDueMsg says that a second press does not quit any more.
	onceMoreDueMsg struct{}
	// idleMsg says that no key came for a while after an answer.
	idleMsg struct{ turn int }
)

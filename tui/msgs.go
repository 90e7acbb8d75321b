package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/history"
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

// turnEventsMsg carries events of a running turn, in order: streamed chunks,
// tool calls and trim retries. more is nil when the turn is over. It answers
// waitEvents.
type turnEventsMsg struct {
	turn   int
	events []assistant.Event
	more   <-chan assistant.Event
	at     time.Time // when the batch was whole
}

// The events of a turn become messages of their own kind before they change
// the screen; turn.go handles each.
type (
	// chunkStreamedMsg is a piece of text or reasoning.
	chunkStreamedMsg struct{ event assistant.Event }
	// toolCalledMsg is the start, progress or end of a tool call.
	toolCalledMsg struct{ event assistant.Event }
	// trimRetriedMsg is a request that goes out again with fewer pairs.
	trimRetriedMsg struct{ trimmed assistant.ContextTrimmed }
	// requestRetriedMsg is a request or an invalid call that is tried again.
	requestRetriedMsg struct{ retry assistant.Retrying }
	// statusChangedMsg is a word about what happens.
	statusChangedMsg struct{ text string }
	// checkpointMadeMsg is a durable checkpoint.
	checkpointMadeMsg struct{ made assistant.CheckpointCreated }
	// answerWantedMsg is a question of a tool.
	answerWantedMsg struct{ ask assistant.ConfirmRequest }
	// turnEndedMsg is how the turn ended: Complete, Error or Cancelled.
	turnEndedMsg struct{ end assistant.Event }
)

// boundaryComputedMsg carries a boundary that was computed anew, with the
// counter and the pairs it divides.
type boundaryComputedMsg struct {
	refs    []assistant.Ref
	at      budget.Boundary
	counter string
}

// startLoadedMsg answers loadStart.
type startLoadedMsg struct {
	draft         string
	stash         []string
	sent          []string
	lines, recent []string
	favourites    []string
	topics        []string
	saved         map[string]string
	err           error
}

// pairsLoadedMsg answers loadPairs, and settlePair with the turn that has
// ended; either pairs or err is set.
type pairsLoadedMsg struct {
	turn  int // 0 for loadPairs
	asked []int64
	pairs []assistant.Pair
	err   error
}

// textFoundMsg answers findText: the pairs of the whole history that say it.
type textFoundMsg struct {
	needle string
	back   bool
	seqs   []int64 // sorted
	err    error
}

// filterAppliedMsg answers applyFilter.
type filterAppliedMsg struct {
	line  string
	refs  []assistant.Ref
	hints []string
	err   error
}

// filterCountedMsg answers countFilter while a line is typed.
type filterCountedMsg struct {
	line  string
	count int
	err   error
}

// orderReadyMsg answers readyOrder: the command of a line with its pairs.
type orderReadyMsg struct {
	line  string
	order history.Command
	err   error
}

// orderDoneMsg answers carryOut.
type orderDoneMsg struct {
	line  string
	order history.Command
	out   history.Outcome
	err   error
}

// orderUndoneMsg answers takeBack.
type orderUndoneMsg struct {
	done orderDoneMsg
	err  error
}

// viewStaleMsg answers refilter when the line of the view cannot be evaluated.
type viewStaleMsg struct{ err error }

// failedMsg answers what is done in the background and only heard of when it
// fails.
type failedMsg struct{ err error }

// pickerSearchedMsg answers the search of a long picker.
type pickerSearchedMsg struct{ found overlay.Found }

// editedMsg answers editWindow: a change of the window by hand.
type editedMsg struct {
	said string // what was done
	view bool   // only what is shown is another: there is nothing to save
	err  error
}

// ranMsg answers runAction.
type ranMsg struct {
	said string
	err  error
}

// planMadeMsg answers planSave.
type planMadeMsg struct {
	lines   []string
	changes bool
	quit    bool // the program ends after the save
	err     error
}

// savedMsg answers saveWindow.
type savedMsg struct {
	said string
	quit bool
	err  error
}

// rolledBackMsg answers rollBack, undoRollback and undoStep.
type rolledBackMsg struct {
	said string
	text string // of the first pair that was cut
	err  error
}

// renewedMsg answers renewSession and resumeSession.
type renewedMsg struct {
	resumed bool
	err     error
}

// changeDoneMsg answers what keys wait for, with the answer of what was done.
type changeDoneMsg struct{ answer tea.Msg }

// pairsChangedMsg answers what deletes or marks pairs.
type pairsChangedMsg struct {
	said string
	seqs []int64
	err  error
}

// modelsLoadedMsg answers refreshModels.
type modelsLoadedMsg struct{ failed map[string]error }

// requestsLoadedMsg answers loadRequests: the requests of a pair, oldest first,
// or the one that would be sent now.
type requestsLoadedMsg struct {
	pair     int64 // 0: none was asked for
	sent     bool  // else it is the one that would be sent now
	requests []shownRequest
	err      error // also beside requests, when one of them is damaged
}

// copiedMsg answers copyText: which ways took the text.
type copiedMsg struct {
	what   string
	native bool
}

// editorReadyMsg answers writeForEditor: the draft is in a file.
type editorReadyMsg struct {
	path string
	err  error
}

// filesReadMsg answers readFiles: the message with the texts of its files.
type filesReadMsg struct {
	n      int // which fetch it is of
	prompt assistant.Prompt
	err    error
}

// filesListedMsg answers listFiles: what a folder holds, for the list above the
// input.
type filesListedMsg struct {
	dir   string
	files []fileEntry
	err   error
}

// editorClosedMsg answers onEditorReady.
type editorClosedMsg struct {
	text string
	err  error
}

// settingKeptMsg answers keepSetting.
type settingKeptMsg struct {
	at         int // the line of the settings
	key, value string
	err        error
}

// burstRestedMsg answers awaitRest: a while ago this many keys of a paste had
// come.
type burstRestedMsg struct{ keys int }

// draftKeptMsg answers keepDraft.
type draftKeptMsg struct {
	text string
	err  error
}

// tickedMsg moves what is animated. It comes only while something is.
type tickedMsg struct{ at time.Time }

// forecastMadeMsg answers forecast: what each proposal would do, by its payload.
type forecastMadeMsg struct{ effects map[string]pane.Effect }

// edgeDueMsg says that a selection dragged beyond the edge scrolls on.
type edgeDueMsg struct{}

// onceMoreDueMsg says that a second ctrl+c does not quit any more.
type onceMoreDueMsg struct{}

// draftDueMsg says that the draft was changed a while ago.
type draftDueMsg struct{}

// idleMsg says that no key came for a while after an answer.
type idleMsg struct {
	turn int
	seq  int64
}

// namesLoadedMsg answers loadNames.
type namesLoadedMsg struct {
	topics []string
	saved  map[string]string
}

// topicsChangedMsg answers editTopics: the topic at from is at to now. from is
// "" for a new topic, to for one whose pairs have none now.
type topicsChangedMsg struct {
	said     string
	from, to string
	topics   []string
	saved    map[string]string
	err      error
}

// sessionsLoadedMsg answers loadSessions.
type sessionsLoadedMsg struct {
	sessions []history.Session
	err      error
}

// pairShownMsg answers checkShown.
type pairShownMsg struct {
	seq   int64
	shown bool
}

// paneReadMsg says that the pane has been read anew; it answers readPane.
type paneReadMsg struct{ err error }

package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/chat"
	"winnow/tui/markdown"
	"winnow/tui/overlay"

	"winnow/tui/keymap"
)

// Messages of commands that do not call the workspace, and of timers.
type (
	// draftDueMsg means that the draft must be stored; draftChanged starts its timer.
	draftDueMsg struct{}
	// enterDueMsg means that the user has paused after a line break, see explainEnter.
	enterDueMsg struct{ text string }
	// onceMoreDueMsg means that the time for the second press is over, see interrupt.
	onceMoreDueMsg struct{}
	// replyDueMsg means that idlePause has passed since a long reply was shown, see showReply.
	replyDueMsg struct{ turn int }
	// answerDueMsg means that the user has not answered a question of a tool in time, see
	// askTool.
	answerDueMsg struct {
		id       string
		question overlay.Overlay
		wait     time.Duration
	}
	// secondPassedMsg counts down the seconds until a message is sent again.
	secondPassedMsg struct{ resend *unsentMessage }
	// codeReadMsg contains the code blocks of the focused pair.
	codeReadMsg struct{ blocks []markdown.Code }
	// suggestedMsg contains the completions of a word that starts with an @, see offer.
	suggestedMsg struct {
		word    string
		entries []overlay.Entry
	}
	// attachedMsg contains a message with its files, see post.
	attachedMsg struct {
		of     *outgoing
		prompt assistant.Prompt
		err    error
	}
	// editorFileMsg contains the path of a temporary file with the draft, for the user's editor.
	editorFileMsg struct {
		path string
		err  error
	}
	// editedMsg contains the draft written in the user's editor.
	editedMsg struct {
		text string
		err  error
	}
	// copiedMsg contains a copied text, and the places to which it was copied; see copyOut.
	copiedMsg struct {
		what string
		text safetext.Text
		to   []string
	}
	// settingStoredMsg ends storing a setting for the next start; err is why it was not stored,
	// nil if it was.
	settingStoredMsg struct{ err error }
	// topicReadMsg contains a page of the help.
	topicReadMsg struct {
		topic keymap.HelpTopic
		lines []string
	}
	// requestReadMsg contains the view of a request that was sent to the model, or would be sent
	// now; see (*requestList).open.
	requestReadMsg struct {
		request int64               // number of the query that made the view
		all     []chat.ShownRequest // the requests that the user can switch between
		at      int                 // index in all of the request in the view
		view    *chat.RequestView
	}
	// quitDueMsg makes quitting stop waiting for the acts before it, see Model.quit.
	quitDueMsg struct{ request int64 }
	// overlayWorkedMsg contains the result of an overlay.Work; calling show applies it.
	overlayWorkedMsg struct{ show func() }
)

// tick returns a command that sends a message after a delay.
func tick(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// onScreenMsg routes the messages declared in this file; the result is false for others.
func (m *Model) onScreenMsg(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case draftDueMsg:
		return m.carryOut(m.input.onDraftDue()), true
	case enterDueMsg:
		return m.carryOut(m.input.onEnterDue(msg)), true
	case onceMoreDueMsg:
		return m.onOnceMoreDue(), true
	case quitDueMsg:
		if msg.request != m.quitting {
			return nil, true
		}
		return m.quitNow(), true
	case replyDueMsg:
		m.onReplyDue(msg)
		return nil, true
	case answerDueMsg:
		return m.onAnswerDue(msg), true
	case secondPassedMsg:
		return m.onSecondPassed(msg), true
	case codeReadMsg:
		return m.carryOut(m.conv.onCode(msg.blocks)), true
	case suggestedMsg:
		return m.carryOut(m.input.onSuggested(msg)), true
	case attachedMsg:
		return m.onAttached(msg), true
	case editorFileMsg:
		return m.onEditorFile(msg), true
	case editedMsg:
		return m.onEdited(msg), true
	case copiedMsg:
		return m.onCopied(msg), true
	case settingStoredMsg:
		return m.onSettingStored(msg), true
	case topicReadMsg:
		return m.open(overlay.HelpTopic, overlay.NewText(safetext.Sprintf("Help: %s", msg.topic.Name), msg.lines), nil), true
	case requestReadMsg:
		return m.carryOut(m.requests.show(msg, m.inUse().Budget.Estimate)), true
	case overlayWorkedMsg:
		msg.show()
		return nil, true
	}
	return nil, false
}

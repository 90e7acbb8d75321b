package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/chat"
	"winnow/tui/markdown"
	"winnow/tui/overlay"

	"winnow/tui/slash"
)

// Messages of commands that do not call the workspace, and of timers.
type (
	// draftDueMsg says that the draft is to be stored; its timer is started by draftChanged.
	draftDueMsg struct{}
	// enterDueMsg says that the text has rested on a line break, see explainEnter.
	enterDueMsg struct{ text string }
	// onceMoreDueMsg says that the time to press the key again is over, see interrupt.
	onceMoreDueMsg struct{}
	// replyDueMsg says that the user has had the time to read on, see showReply.
	replyDueMsg struct{ turn int }
	// answerDueMsg says that a question of a tool has waited long enough, see askTool.
	answerDueMsg struct {
		id       string
		question overlay.Overlay
		wait     time.Duration
	}
	// secondPassedMsg counts the seconds to the time when a message is sent again.
	secondPassedMsg struct{ resend *unsentMessage }
	// codeReadMsg is the code blocks of the focused pair; digit is that of the block to copy,
	// 0: it is not known yet.
	codeReadMsg struct {
		blocks []markdown.Code
		digit  int
	}
	// suggestedMsg is what completes a word that begins with an @, see offer.
	suggestedMsg struct {
		word    string
		entries []overlay.Entry
	}
	// attachedMsg is a message with its files, see post.
	attachedMsg struct {
		of     *outgoing
		prompt assistant.Prompt
		err    error
	}
	// editorFileMsg is the file with the draft, for the user's editor.
	editorFileMsg struct {
		path string
		err  error
	}
	// editedMsg is the draft that the user's editor has written.
	editedMsg struct {
		text string
		err  error
	}
	// copiedMsg is a text that was copied, and where to; see copySafe.
	copiedMsg struct {
		what, text string
		to         []string
	}
	// settingStoredMsg says that a setting was stored for the next start, or why not.
	settingStoredMsg struct{ err error }
	// topicReadMsg is a page of the help.
	topicReadMsg struct {
		topic slash.HelpTopic
		lines []string
	}
	// requestReadMsg is the view of one of several requests, read by a request of that
	// number.
	requestReadMsg struct {
		request int64
		all     []chat.ShownRequest
		at      int
		view    *chat.RequestView
	}
	// overlayWorkedMsg is the result of an overlay.Work, which show applies.
	overlayWorkedMsg struct{ show func() }
)

// tick makes a command that sends a message when a time has passed.
func tick(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// onScreenMsg routes these messages.
func (m *Model) onScreenMsg(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case draftDueMsg:
		return m.carryOut(m.input.onDraftDue()), true
	case enterDueMsg:
		return m.carryOut(m.input.onEnterDue(msg)), true
	case onceMoreDueMsg:
		return m.onOnceMoreDue(), true
	case replyDueMsg:
		m.onReplyDue(msg)
		return nil, true
	case answerDueMsg:
		return m.onAnswerDue(msg), true
	case secondPassedMsg:
		return m.onSecondPassed(msg), true
	case codeReadMsg:
		return m.carryOut(m.conv.onCode(msg.blocks, msg.digit)), true
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
		return m.open(overlay.HelpTopic, overlay.NewText("Help: "+msg.topic.Name, msg.lines), nil), true
	case requestReadMsg:
		return m.carryOut(m.requests.show(msg, m.inUse().Budget.Estimate)), true
	case overlayWorkedMsg:
		msg.show()
		return nil, true
	}
	return nil, false
}

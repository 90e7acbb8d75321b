package tui

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/chat"
	"winnow/tui/overlay"
)

// Sets of modes in which keys work.
var (
	inInput    = []mode{modeInput}
	inView     = []mode{modeView}
	inCommand  = []mode{modeCommand}
	inPane     = []mode{modePane}
	inAll      = []mode{modeInput, modeView, modeCommand, modePane}
	notCommand = []mode{modeInput, modeView, modePane}
	walking    = []mode{modeView, modePane}
)

// actionTable is every key of the program. Its order is the order of help.
// enterSends swaps the send keys: enter sends, the others break the line.
func actionTable(enterSends bool) []*action {
	table := slices.Concat(inputActions(), viewActions(), commandActions())
	for n := range 4 {
		table = append(table, &action{
			name: "star-" + strconv.Itoa(n), help: assistant.Counted(n, "star"), modes: inView, keys: []string{strconv.Itoa(n)}, do: stars(n), inside: true,
		})
	}
	table = slices.Concat(table, paneActions(), globalActions())
	for n := 1; n <= 9; n++ {
		table = append(table, &action{
			name: "choose-" + strconv.Itoa(n), help: "choose suggestion " + strconv.Itoa(n), modes: inAll,
			keys: []string{"alt+" + strconv.Itoa(n)}, do: func(m *Model) tea.Cmd { return m.choose(n - 1) }, inside: true,
		})
	}
	if enterSends {
		table[0].keys, table[1].keys = []string{"enter"}, []string{"shift+enter", "ctrl+enter", "ctrl+j", "alt+enter"}
	}
	return table
}

// inputActions write a message.
func inputActions() []*action {
	return []*action{
		{name: "send", title: "Send the message", help: "send; while a turn runs: queue", modes: inInput, keys: []string{"ctrl+enter", "ctrl+j", "alt+enter"}, do: (*Model).send, footer: 1},
		{name: "newline", help: "new line", modes: inInput, keys: []string{"enter", "shift+enter"}, do: onInput((*input).newLine), inside: true},
		{name: "escape", help: "close, clear, cancel or leave, as applies", modes: inAll, keys: []string{"esc"}, do: (*Model).escape, footer: 2, inside: true},
		{name: "older-message", help: "earlier message (on the first line)", modes: inInput, keys: []string{"up"}, do: recall(-1), inside: true},
		{name: "newer-message", help: "later message (on the last line)", modes: inInput, keys: []string{"down"}, do: recall(1), inside: true},
		{name: "undo-typing", help: "undo typing", modes: inInput, keys: []string{"ctrl+z"}, do: onInput((*input).undoTyping), inside: true},
	}
}

// viewActions walk through the conversation and work on its pairs.
func viewActions() []*action {
	return []*action{
		{name: "next-item", help: "next item", modes: inView, keys: []string{"j", "down"}, do: onChat((*chat.View).NextPart), inside: true, footer: 3, hint: "next"},
		{name: "previous-item", help: "previous item", modes: inView, keys: []string{"k", "up"}, do: onChat((*chat.View).PrevPart), inside: true},
		{name: "next-message", help: "next message", modes: inView, keys: []string{"J"}, do: onChat((*chat.View).NextPair), inside: true},
		{name: "previous-message", help: "previous message", modes: inView, keys: []string{"K"}, do: onChat((*chat.View).PrevPair), inside: true},
		{name: "first-message", title: "Go to the first message", help: "first message", modes: inView, keys: []string{"g", "home"}, do: onChat((*chat.View).Top)},
		{name: "last-message", title: "Go to the end and follow it", help: "last message; follow the end", modes: inView, keys: []string{"G", "end"}, do: onChat((*chat.View).Bottom)},
		{name: "half-page-down", help: "half a page down", modes: inView, keys: []string{"ctrl+d"}, do: onChat(func(v *chat.View) { v.HalfPage(1) }), inside: true},
		{name: "half-page-up", help: "half a page up", modes: inView, keys: []string{"ctrl+u"}, do: onChat(func(v *chat.View) { v.HalfPage(-1) }), inside: true},
		{name: "page-down", help: "a page down", modes: []mode{modeInput, modeView}, keys: []string{"pgdown"}, do: onChat(func(v *chat.View) { v.Page(1) }), inside: true},
		{name: "page-up", help: "a page up", modes: []mode{modeInput, modeView}, keys: []string{"pgup"}, do: onChat(func(v *chat.View) { v.Page(-1) }), inside: true},
		{name: "jump-to-boundary", title: "Jump to the context boundary", help: "jump to the boundary: the first pair sent", modes: inView, keys: []string{"O", "o"}, do: onConversation((*conversation).jumpToBoundary), footer: 8, hint: "boundary"},
		{name: "search", title: "Search the conversation", help: "search the conversation", modes: inView, keys: []string{"/"}, do: func(m *Model) tea.Cmd { m.conv.search.open(""); return nil }, footer: 6, hint: "search"},
		{name: "next-hit", help: "next hit", modes: inView, keys: []string{"n"}, do: onConversation(func(c *conversation) tea.Cmd { return c.toHit(false) }), inside: true},
		{name: "previous-hit", help: "previous hit", modes: inView, keys: []string{"N"}, do: onConversation(func(c *conversation) tea.Cmd { return c.toHit(true) }), inside: true},
		{name: "previous-checkpoint", help: "previous checkpoint", modes: inView, keys: []string{"{"}, do: toCheckpoint(-1), inside: true},
		{name: "next-checkpoint", help: "next checkpoint", modes: inView, keys: []string{"}"}, do: toCheckpoint(1), inside: true},
		{name: "fold", title: "Open or close the focused block", help: "open or close reasoning or tool card", modes: inView, keys: []string{"space"}, do: onChat(func(v *chat.View) { v.ToggleFold() }), footer: 4, hint: "fold"},
		{name: "fold-all", title: "Open or close all blocks", help: "open or close all", modes: inView, keys: []string{"z"}, do: onChat((*chat.View).ToggleAll)},
		{name: "enter", help: "choose what is focused, else write a message", modes: inView, keys: []string{"enter"}, do: (*Model).viewEnter, inside: true, footer: 1, hint: "write"},
		{name: "previous-choice", help: "previous choice", modes: inView, keys: []string{"h", "left"}, do: moveChoice(-1), inside: true},
		{name: "next-choice", help: "next choice", modes: inView, keys: []string{"l", "right"}, do: moveChoice(1), inside: true},
		{name: "input", title: "Write a message", help: "write a message", modes: inView, keys: []string{"i"}, do: func(m *Model) tea.Cmd { m.setMode(modeInput); return nil }},
		{name: "retry", title: "Retry or regenerate the message", help: "retry a failed pair, else regenerate", modes: inView, keys: []string{"r"}, do: whenIdle((*Model).retryPair)},
		{name: "re-ask", title: "Edit and ask again", help: "edit the message and send it as a new pair", modes: inView, keys: []string{"e"}, do: onPair((*Model).reAskPair)},
		{name: "delete-pair", title: "Delete the message pair", help: "delete the pair", modes: inView, keys: []string{"d"}, do: whenIdle(func(m *Model, p assistant.Pair) tea.Cmd { return m.conv.deletePair(p) })},
		{name: "copy-answer", title: "Copy the answer", help: "copy the answer", modes: inView, keys: []string{"y"}, do: copyFocused("the answer", (*chat.View).Answer), footer: 5, hint: "copy"},
		{name: "copy-pair", title: "Copy the pair as Markdown", help: "copy the pair as Markdown", modes: inView, keys: []string{"Y"}, do: copyFocused("the pair", (*chat.View).Markdown)},
		{name: "copy-code", title: "Copy a code block", help: "copy a code block; a digit picks one", modes: inView, keys: []string{"c"}, do: onConversation((*conversation).copyCode)},
		{name: "raw", title: "Show the raw text", help: "raw view of the answer", modes: inView, keys: []string{"v"}, do: onChat((*chat.View).ToggleRaw)},
		{name: "exact-request", title: "Show the exact request", help: "the exact request of the pair, as it was sent", modes: inView, keys: []string{"x"}, do: onPickers(func(p *pickers) tea.Cmd { return p.exactRequest(false) })},
		{name: "next-request", title: "Show the request that would be sent now", modes: nil, do: onPickers(func(p *pickers) tea.Cmd { return p.exactRequest(true) })},
		{name: "star", title: "Star the pair", help: "more stars, up to three, then none", modes: inView, keys: []string{"*"}, do: stars(-1)},
		{name: "flag", title: "Flag the pair", help: "flag or unflag", modes: inView, keys: []string{"a"}, do: onPair(func(m *Model, p assistant.Pair) tea.Cmd { return m.conv.flagPair(p) })},
		{name: "topic", title: "Give the pair a topic", help: "topic of the pair", modes: inView, keys: []string{"t"}, do: onPickers((*pickers).openPairTopic)},
		{name: "undo-pairs", title: "Undo the last command on pairs", help: "undo the last :command on pairs", modes: inView, keys: []string{"u"}, do: (*Model).undoCommand},
	}
}

// commandActions work on the filter line.
func commandActions() []*action {
	return []*action{
		{name: "apply-filter", help: "apply the line", modes: inCommand, keys: []string{"enter"}, do: (*Model).applyLine, inside: true, footer: 1, hint: "apply"},
		{name: "older-filter", help: "earlier filter", modes: inCommand, keys: []string{"ctrl+p", "up"}, do: onCommandLine((*commandLine).walk, -1), inside: true},
		{name: "newer-filter", help: "later filter", modes: inCommand, keys: []string{"ctrl+n", "down"}, do: onCommandLine((*commandLine).walk, 1), inside: true},
		{name: "complete-filter", help: "complete the word; again: next entry", modes: inCommand, keys: []string{"tab"}, do: onCommandLine((*commandLine).complete, 1), inside: true, footer: 3, hint: "complete"},
		{name: "complete-filter-back", help: "previous entry of the list", modes: inCommand, keys: []string{"shift+tab"}, do: onCommandLine((*commandLine).complete, -1), inside: true},
	}
}

// paneActions work on the rules. The pane carries them out by name.
func paneActions() []*action {
	list := []*action{
		{name: "pane-down", help: "next line", keys: []string{"j", "down"}},
		{name: "pane-up", help: "previous line", keys: []string{"k", "up"}},
		{name: "pane-first", help: "first line", keys: []string{"g", "home"}},
		{name: "pane-last", help: "last line", keys: []string{"G", "end"}},
		{name: "pane-page-down", help: "a page down", keys: []string{"pgdown", "ctrl+d"}},
		{name: "pane-page-up", help: "a page up", keys: []string{"pgup", "ctrl+u"}},
		{name: "pane-select", help: "select a line", keys: []string{"space"}, footer: 5, hint: "select"},
		{name: "pane-highlight", help: "highlight what the rule or model touches", keys: []string{"enter"}, footer: 6, hint: "highlights"},
		{name: "add-ignore", title: "Add an ignore rule", help: "add an ignore rule", keys: []string{"i"}, footer: 1, hint: "ignore"},
		{name: "add-allow", title: "Add an allow rule", help: "add an allow rule", keys: []string{"w"}, footer: 1, hint: "allow"},
		{name: "delete-rule", title: "Delete the rule", help: "delete the rule", keys: []string{"x", "delete"}, footer: 1, hint: "delete"},
		{name: "provider", title: "Switch the provider", help: "provider", keys: []string{"p"}, footer: 4, hint: "provider"},
		{name: "pane-search", title: "Search the models", help: "search the models", keys: []string{"/"}},
		{name: "previous-tab", title: "Previous tab of the pane", help: "previous tab", keys: []string{"["}},
		{name: "next-tab", title: "Next tab of the pane", help: "next tab", keys: []string{"]"}, footer: 4, hint: "tab"},
		{name: "refresh-models", title: "Refresh the models", help: "ask the provider for its models", keys: []string{"ctrl+r"}},
		{name: "import-rules", title: "Import rules", help: "import rules", keys: []string{"I"}},
		{name: "discard", title: "Discard unsaved rules", help: "discard unsaved rules (asks first)", keys: []string{"D"}},
	}
	for _, a := range list {
		a.modes, a.inside, a.do = inPane, a.title == "", paneAction(a.name)
	}
	return list
}

// globalActions work anywhere, or nearly.
func globalActions() []*action {
	return []*action{
		{name: "next-region", title: "Next region", help: "next region", modes: notCommand, keys: []string{"tab"}, do: (*Model).nextRegion, footer: 7, hint: "pane"},
		{name: "previous-region", title: "Previous region", help: "previous region", modes: notCommand, keys: []string{"shift+tab"}, do: func(m *Model) tea.Cmd { m.setMode(m.neighbour(-1)); return nil }},
		{name: "filter", title: "Filter the conversation", help: "filter line", modes: inView, keys: []string{"f"}, do: func(m *Model) tea.Cmd { return m.openCommand(m.session.Filter()) }},
		{name: "command-line", title: "Type a :command on the shown pairs", modes: nil, do: commandOnShown(":")},
		{name: "export-shown", title: "Export the shown pairs to a file", modes: nil, do: commandOnShown(":export ")},
		{name: "star-shown", title: "Star the shown pairs", modes: nil, do: commandOnShown(":star ")},
		{name: "flag-shown", title: "Flag the shown pairs", modes: nil, do: commandOnShown(":flag")},
		{name: "unflag-shown", title: "Unflag the shown pairs", modes: nil, do: commandOnShown(":unflag")},
		{name: "topic-shown", title: "Move the shown pairs to a topic", modes: nil, do: commandOnShown(":topic ")},
		{name: "delete-shown", title: "Delete the shown pairs", modes: nil, do: commandOnShown(":delete")},
		{name: "save-filter", title: "Save the filter under a name", modes: nil, do: commandOnShown(":save ")},
		{name: "list-filters", title: "Saved filters: apply or delete one", modes: nil, do: func(m *Model) tea.Cmd { return m.runLine(":filters") }},
		{name: "palette", title: "Command palette", help: "command palette", modes: notCommand, keys: []string{"ctrl+p"}, do: (*Model).openPalette, anywhere: true},
		{name: "palette-colon", help: "command palette", modes: walking, keys: []string{":"}, do: (*Model).openPalette, inside: true},
		{name: "help", title: "Help", help: "help", modes: inAll, keys: []string{"f1"}, do: (*Model).openHelp, anywhere: true, opens: overlay.Help, footer: 20},
		{name: "help-question", help: "help", modes: walking, keys: []string{"?"}, do: (*Model).openHelp, inside: true},
		{name: "models", title: "Select a model", help: "models", modes: notCommand, keys: []string{"ctrl+l"}, do: onPickers((*pickers).openModels), footer: 8, hint: "model"},
		{name: "checkpoints", title: "Checkpoints and rollback", help: "checkpoints", modes: notCommand, keys: []string{"ctrl+g"}, do: onPickers((*pickers).openCheckpoints)},
		{name: "topics", title: "Select a topic", help: "topics", modes: notCommand, keys: []string{"ctrl+t"}, do: onPickers((*pickers).openTopics)},
		{name: "new-session", title: "New session", help: "new session", modes: notCommand, keys: []string{"ctrl+n"}, do: (*Model).newSession},
		{name: "editor", title: "Edit the draft in $EDITOR", help: "edit the draft in $EDITOR", modes: notCommand, keys: []string{"ctrl+o"}, do: (*Model).openEditor},
		{name: "save", title: "Save the rules", help: "save", modes: inAll, keys: []string{"ctrl+s"}, do: (*Model).save, footer: 3},
		{name: "hud", title: "Context HUD", help: "context HUD", modes: inAll, keys: []string{"f2"}, do: (*Model).openHUD, opens: overlay.HUD},
		{name: "mouse", title: "Mouse on or off", help: "mouse on or off", modes: inAll, keys: []string{"f3"}, do: (*Model).toggleMouse},
		{name: "notices", title: "Notices", help: "notices", modes: inAll, keys: []string{"f4"}, do: func(m *Model) tea.Cmd { return m.openNotices() }, opens: overlay.Notices},
		{name: "undo", title: "Undo the newest change of the rules", help: "undo the newest change of the rules", modes: walking, keys: []string{"ctrl+z"}, do: onPickers((*pickers).undo)},
		{name: "undo-rollback", title: "Undo the last rollback", modes: nil, do: onPickers((*pickers).undoRollback)},
		{name: "cancel", title: "Cancel the turn", help: "cancel or clear; pressed twice: quit", modes: inAll, keys: []string{"ctrl+c"}, do: (*Model).interrupt, anywhere: true},
		{name: "queued", title: "Queued message: edit, send now or drop", help: "the queued message: edit, send now or drop", modes: notCommand, keys: []string{"alt+q"}, do: (*Model).openQueued},
		{name: "sessions", title: "Sessions of the history", modes: nil, do: (*Model).openSessions},
		{name: "settings", title: "Settings: theme, mouse, confirm, context", modes: nil, do: (*Model).openSettings},
		{name: "suspend", title: "Suspend winnow", modes: nil, do: func(*Model) tea.Cmd { return tea.Suspend }},
		{name: "quit", title: "Quit", help: "quit", modes: inAll, keys: []string{"ctrl+q"}, do: (*Model).quit, anywhere: true},
	}
}

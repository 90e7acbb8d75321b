package keymap

import (
	"slices"
	"strconv"

	"winnow/assistant"
	"winnow/tui/overlay"
)

// Sets of modes in which keys work.
var (
	inInput    = []Mode{Input}
	inView     = []Mode{View}
	inCommand  = []Mode{Command}
	inPane     = []Mode{Pane}
	inHUD      = []Mode{HUD}
	inAll      = []Mode{Input, View, Command, Pane, HUD}
	notCommand = []Mode{Input, View, Pane, HUD}
	walking    = []Mode{View, Pane, HUD}
	viewOrPane = []Mode{View, Pane}
)

// table is every action of the program. Its order is the order of help.
// enterSends swaps the keys that send: enter sends, the others break the line.
func table(enterSends bool) []*Action {
	all := slices.Concat(inputActions(), viewActions(), commandActions())
	for n := range 4 {
		all = append(all, &Action{
			Name: "star-" + strconv.Itoa(n), Help: assistant.Counted(n, "star"), Modes: inView, Keys: []string{strconv.Itoa(n)},
		})
	}
	all = slices.Concat(all, paneActions(), hudActions(), globalActions())
	for n := 1; n <= 9; n++ {
		all = append(all, &Action{
			Name: "choose-" + strconv.Itoa(n), Help: "choose suggestion " + strconv.Itoa(n), Modes: inAll,
			Keys: []string{"alt+" + strconv.Itoa(n)},
		})
	}
	if enterSends { // all[0] is send, all[1] is newline
		all[0].Keys, all[1].Keys = []string{"enter"}, []string{"shift+enter", "ctrl+enter", "ctrl+j", "alt+enter"}
	}
	return all
}

// inputActions write a message.
func inputActions() []*Action {
	return []*Action{
		{Name: "send", Title: "Send the message", Help: "send; while a turn runs: queue", Modes: inInput, Keys: []string{"ctrl+enter", "ctrl+j", "alt+enter"}, Footer: 1, Early: true},
		{Name: "newline", Help: "new line", Modes: inInput, Keys: []string{"enter", "shift+enter"}, Early: true},
		{Name: "escape", Help: "close, clear, cancel or leave, as applies", Modes: inAll, Keys: []string{"esc"}, Footer: 2, Early: true},
		{Name: "older-message", Help: "earlier message (on the first line)", Modes: inInput, Keys: []string{"up"}},
		{Name: "newer-message", Help: "later message (on the last line)", Modes: inInput, Keys: []string{"down"}},
		{Name: "undo-typing", Help: "undo typing", Modes: inInput, Keys: []string{"ctrl+z"}, Early: true},
	}
}

// viewActions walk through the conversation and work on its pairs.
func viewActions() []*Action {
	return []*Action{
		{Name: "next-item", Help: "next item", Modes: inView, Keys: []string{"j", "down"}, Footer: 3, Hint: "next"},
		{Name: "previous-item", Help: "previous item", Modes: inView, Keys: []string{"k", "up"}},
		{Name: "next-message", Help: "next message", Modes: inView, Keys: []string{"J"}},
		{Name: "previous-message", Help: "previous message", Modes: inView, Keys: []string{"K"}},
		{Name: "first-message", Title: "Go to the first message", Help: "first message", Modes: inView, Keys: []string{"g", "home"}},
		{Name: "last-message", Title: "Go to the end and follow it", Help: "last message; follow the end", Modes: inView, Keys: []string{"G", "end"}},
		{Name: "half-page-down", Help: "half a page down", Modes: inView, Keys: []string{"ctrl+d"}},
		{Name: "half-page-up", Help: "half a page up", Modes: inView, Keys: []string{"ctrl+u"}},
		{Name: "page-down", Help: "a page down", Modes: []Mode{Input, View}, Keys: []string{"pgdown"}},
		{Name: "page-up", Help: "a page up", Modes: []Mode{Input, View}, Keys: []string{"pgup"}},
		{Name: "jump-to-boundary", Title: "Jump to the context boundary", Help: "jump to the boundary: the first pair sent", Modes: inView, Keys: []string{"O", "o"}, Footer: 8, Hint: "boundary"},
		{Name: "search", Title: "Search the conversation", Help: "search the conversation", Modes: inView, Keys: []string{"/"}, Footer: 6, Hint: "search"},
		{Name: "next-hit", Help: "next hit", Modes: inView, Keys: []string{"n"}},
		{Name: "previous-hit", Help: "previous hit", Modes: inView, Keys: []string{"N"}},
		{Name: "previous-checkpoint", Help: "previous checkpoint", Modes: inView, Keys: []string{"{"}},
		{Name: "next-checkpoint", Help: "next checkpoint", Modes: inView, Keys: []string{"}"}},
		{Name: "fold", Title: "Open or close the focused block", Help: "open or close reasoning or tool card", Modes: inView, Keys: []string{"space"}, Footer: 4, Hint: "fold"},
		{Name: "fold-all", Title: "Open or close all blocks", Help: "open or close all", Modes: inView, Keys: []string{"z"}},
		{Name: "enter", Help: "choose what is focused, else write a message", Modes: inView, Keys: []string{"enter"}, Footer: 1, Hint: "write", Early: true},
		{Name: "previous-choice", Help: "previous choice", Modes: inView, Keys: []string{"h", "left"}},
		{Name: "next-choice", Help: "next choice", Modes: inView, Keys: []string{"l", "right"}},
		{Name: "retry", Title: "Retry or regenerate the message", Help: "retry a failed pair, else regenerate", Modes: inView, Keys: []string{"r"}},
		{Name: "previous-answer", Title: "Previous answer to the message", Help: "previous answer to the message", Modes: inView, Keys: []string{"<"}},
		{Name: "next-answer", Title: "Next answer to the message", Help: "next answer to the message", Modes: inView, Keys: []string{">"}},
		{Name: "re-ask", Title: "Edit and ask again", Help: "edit the message and send it as a new pair", Modes: inView, Keys: []string{"e"}},
		{Name: "delete-pair", Title: "Delete the message pair", Help: "delete the pair", Modes: inView, Keys: []string{"d"}},
		{Name: "copy-answer", Title: "Copy the answer", Help: "copy the answer", Modes: inView, Keys: []string{"y"}, Footer: 5, Hint: "copy"},
		{Name: "copy-pair", Title: "Copy the pair as Markdown", Help: "copy the pair as Markdown", Modes: inView, Keys: []string{"Y"}},
		{Name: "copy-code", Title: "Copy a code block", Help: "copy a code block; a digit picks one", Modes: inView, Keys: []string{"c"}},
		{Name: "raw", Title: "Show the raw text", Help: "raw view of the answer", Modes: inView, Keys: []string{"v"}},
		{Name: "exact-request", Title: "Show the exact request", Help: "the exact request of the pair, as it was sent", Modes: inView, Keys: []string{"x"}},
		{Name: "next-request", Title: "Show the request that would be sent now", Modes: nil},
		{Name: "star", Title: "Star the pair", Help: "more stars, up to three, then none", Modes: inView, Keys: []string{"*"}},
		{Name: "flag", Title: "Flag the pair", Help: "flag or unflag", Modes: inView, Keys: []string{"a"}},
		{Name: "topic", Title: "Give the pair a topic", Help: "topic of the pair", Modes: inView, Keys: []string{"t"}},
		{Name: "undo-pairs", Title: "Undo the last command on pairs", Help: "undo the last :command on pairs", Modes: inView, Keys: []string{"u"}},
	}
}

// commandActions work on the filter line.
func commandActions() []*Action {
	return []*Action{
		{Name: "apply-filter", Help: "apply the line", Modes: inCommand, Keys: []string{"enter"}, Footer: 1, Hint: "apply"},
		{Name: "older-filter", Help: "earlier filter", Modes: inCommand, Keys: []string{"ctrl+p", "up"}},
		{Name: "newer-filter", Help: "later filter", Modes: inCommand, Keys: []string{"ctrl+n", "down"}},
		{Name: "complete-filter", Help: "complete the word; again: next entry", Modes: inCommand, Keys: []string{"tab"}, Footer: 3, Hint: "complete"},
		{Name: "complete-filter-back", Help: "previous entry of the list", Modes: inCommand, Keys: []string{"shift+tab"}},
	}
}

// paneActions work on the rules.
func paneActions() []*Action {
	list := []*Action{
		{Name: "pane-down", Help: "next line", Keys: []string{"j", "down"}},
		{Name: "pane-up", Help: "previous line", Keys: []string{"k", "up"}},
		{Name: "pane-first", Help: "first line", Keys: []string{"g", "home"}},
		{Name: "pane-last", Help: "last line", Keys: []string{"G", "end"}},
		{Name: "pane-page-down", Help: "a page down", Keys: []string{"pgdown", "ctrl+d"}},
		{Name: "pane-page-up", Help: "a page up", Keys: []string{"pgup", "ctrl+u"}},
		{Name: "pane-select", Help: "select a line", Keys: []string{"space"}, Footer: 5, Hint: "select"},
		{Name: "pane-highlight", Help: "highlight what the rule or model touches", Keys: []string{"enter"}, Footer: 6, Hint: "highlights"},
		{Name: "add-ignore", Title: "Hide models: add an ignore rule", Help: "hide: add an ignore rule", Keys: []string{"h"}, Footer: 1, Hint: "hide"},
		{Name: "add-allow", Title: "Allow models: add an allow rule", Help: "allow: add an allow rule", Keys: []string{"a"}, Footer: 1, Hint: "allow"},
		{Name: "delete-rule", Title: "Delete the rule", Help: "delete the rule", Keys: []string{"x", "delete"}, Footer: 1, Hint: "delete"},
		{Name: "provider", Title: "Switch the provider", Help: "provider", Keys: []string{"p"}, Footer: 4, Hint: "provider"},
		{Name: "pane-search", Title: "Search the models", Help: "search the models", Keys: []string{"/"}},
		{Name: "previous-tab", Title: "Previous tab of the pane", Help: "previous tab", Keys: []string{"[", "left"}},
		{Name: "next-tab", Title: "Next tab of the pane", Help: "next tab", Keys: []string{"]", "right"}, Footer: 4, Hint: "tab"},
		{Name: "refresh-models", Title: "Refresh the models", Help: "ask the provider for its models", Keys: []string{"ctrl+r"}},
		{Name: "import-rules", Title: "Import rules", Help: "import rules", Keys: []string{"I"}},
		{Name: "discard", Title: "Discard unsaved rules", Help: "discard unsaved rules (asks first)", Keys: []string{"D"}},
	}
	for _, a := range list {
		a.Modes = inPane
	}
	return list
}

// hudActions walk through the pairs of the docked HUD.
func hudActions() []*Action {
	return []*Action{
		{Name: "hud-down", Help: "next pair, an older one", Modes: inHUD, Keys: []string{"j", "down"}, Footer: 3, Hint: "older"},
		{Name: "hud-up", Help: "previous pair", Modes: inHUD, Keys: []string{"k", "up"}},
		{Name: "hud-first", Help: "newest pair", Modes: inHUD, Keys: []string{"g", "home"}},
		{Name: "hud-last", Help: "oldest pair", Modes: inHUD, Keys: []string{"G", "end"}},
		{Name: "hud-page-down", Help: "a page down", Modes: inHUD, Keys: []string{"pgdown", "ctrl+d"}},
		{Name: "hud-page-up", Help: "a page up", Modes: inHUD, Keys: []string{"pgup", "ctrl+u"}},
		{Name: "hud-show", Help: "show the pair in the conversation", Modes: inHUD, Keys: []string{"enter"}, Footer: 1, Hint: "shows the pair"},
	}
}

// globalActions work anywhere, or nearly.
func globalActions() []*Action {
	return []*Action{
		{Name: "next-region", Title: "Next region", Help: "next region", Modes: notCommand, Keys: []string{"tab"}, Footer: 7, Hint: "pane", Early: true},
		{Name: "previous-region", Title: "Previous region", Help: "previous region", Modes: notCommand, Keys: []string{"shift+tab"}, Early: true},
		{Name: "input", Title: "Write a message", Help: "write a message", Modes: viewOrPane, Keys: []string{"i"}, Early: true},
		{Name: "filter", Title: "Filter the conversation", Help: "filter line", Modes: viewOrPane, Keys: []string{"f"}},
		{Name: "command-line", Title: "Type a :command on the shown pairs", Modes: nil},
		{Name: "export-shown", Title: "Export the shown pairs to a file", Modes: nil},
		{Name: "star-shown", Title: "Star the shown pairs", Modes: nil},
		{Name: "flag-shown", Title: "Flag the shown pairs", Modes: nil},
		{Name: "unflag-shown", Title: "Unflag the shown pairs", Modes: nil},
		{Name: "topic-shown", Title: "Move the shown pairs to a topic", Modes: nil},
		{Name: "delete-shown", Title: "Delete the shown pairs", Modes: nil},
		{Name: "save-filter", Title: "Save the filter under a name", Modes: nil},
		{Name: "all-pairs", Title: "Show the pairs of all sessions", Modes: nil},
		{Name: "list-filters", Title: "Saved filters: apply or delete one", Modes: nil},
		{Name: "palette", Title: "Command palette", Help: "command palette", Modes: notCommand, Keys: []string{"ctrl+p"}, Anywhere: true},
		{Name: "palette-colon", Help: "command palette", Modes: walking, Keys: []string{":"}},
		{Name: "help", Title: "Help", Help: "help", Modes: inAll, Keys: []string{"f1"}, Anywhere: true, Opens: overlay.Help, Footer: 20},
		{Name: "help-question", Help: "help", Modes: walking, Keys: []string{"?"}},
		{Name: "models", Title: "Select a model", Help: "models", Modes: notCommand, Keys: []string{"ctrl+l"}, Footer: 8, Hint: "model"},
		{Name: "checkpoints", Title: "Checkpoints and rollback", Help: "checkpoints", Modes: notCommand, Keys: []string{"ctrl+g"}},
		{Name: "topics", Title: "Select a topic", Help: "topics", Modes: notCommand, Keys: []string{"ctrl+t"}},
		{Name: "new-session", Title: "New session", Help: "new session", Modes: notCommand, Keys: []string{"ctrl+n"}},
		{Name: "editor", Title: "Edit the draft in $EDITOR", Help: "edit the draft in $EDITOR", Modes: notCommand, Keys: []string{"ctrl+o"}},
		{Name: "save", Title: "Save the rules", Help: "save", Modes: inAll, Keys: []string{"ctrl+s"}, Footer: 3},
		{Name: "hud", Title: "Context HUD", Help: "context HUD", Modes: inAll, Keys: []string{"f2"}, Opens: overlay.HUD},
		{Name: "dock-context", Title: "Dock or undock the context HUD", Help: "dock the HUD, so that it stays while you type", Modes: inAll, Keys: []string{"f5"}},
		{Name: "mouse", Title: "Mouse on or off", Help: "mouse on or off", Modes: inAll, Keys: []string{"f3"}},
		{Name: "notices", Title: "Notices", Help: "notices", Modes: inAll, Keys: []string{"f4"}, Opens: overlay.Notices},
		{Name: "connect", Title: "Connect a model", Help: "connect a model", Modes: inAll, Keys: []string{"f6"}, Opens: overlay.Connect, Footer: 2},
		{Name: "undo", Title: "Undo the newest change of the rules", Help: "undo the newest change of the rules", Modes: walking, Keys: []string{"ctrl+z"}},
		{Name: "unfilter", Title: "End the filter: the pairs of this session", Help: "end the filter: the pairs of this session", Modes: walking, Keys: []string{"F"}},
		{Name: "undo-rollback", Title: "Undo the last rollback", Modes: nil},
		{Name: "cancel", Title: "Cancel the turn", Help: "cancel or clear; pressed twice: quit", Modes: inAll, Keys: []string{"ctrl+c"}, Anywhere: true, Early: true},
		{Name: "queued", Title: "Queued message: edit, send now or drop", Help: "the queued message: edit, send now or drop", Modes: notCommand, Keys: []string{"alt+q"}},
		{Name: "pane", Title: "Go to the rules", Modes: nil},
		{Name: "sessions", Title: "Sessions of the history", Modes: nil},
		{Name: "settings", Title: "Settings: theme, mouse, confirm, context", Modes: nil},
		{Name: "suspend", Title: "Suspend winnow", Modes: nil},
		{Name: "quit", Title: "Quit", Help: "quit", Modes: inAll, Keys: []string{"ctrl+q"}, Anywhere: true, Early: true},
	}
}

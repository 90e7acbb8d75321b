package keymap

import (
	"slices"
	"strconv"

	"winnow/assistant"
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

// All terminals send ctrlJ, but not every terminal sends ctrlEnter.
const ctrlEnter, ctrlJ Key = "ctrl+enter", "ctrl+j"

// table returns every action of the program, in the order of the help. enterSends swaps the
// keys for sending: enter sends, and the other keys insert a line break.
func table(enterSends bool) []*Row {
	all := slices.Concat(inputActions(), viewActions(), commandActions())
	for n := range 4 {
		all = append(all, &Row{
			Name: Stars(n), Help: assistant.Counted(n, "star"), Modes: inView, Keys: []Key{Key(strconv.Itoa(n))},
		})
	}
	all = slices.Concat(all, paneActions(), hudActions(), globalActions())
	for n := 1; n <= 9; n++ {
		all = append(all, &Row{
			Name: Choose(n), Help: "choose suggestion " + strconv.Itoa(n), Modes: inAll,
			Keys: []Key{Key("alt+" + strconv.Itoa(n))},
		})
	}
	all = append(all, overlayActions()...)
	if enterSends { // all[0] is send, all[1] is newline
		all[0].Keys, all[1].Keys = []Key{"enter"}, []Key{"shift+enter", "ctrl+enter", "ctrl+j", "alt+enter"}
	}
	return all
}

// inputActions returns the actions for writing a message.
func inputActions() []*Row {
	return []*Row{
		{Name: Send, Group: "Messages", Title: "Send the message", Help: "send; while a turn runs: queue", Modes: inInput, Keys: []Key{ctrlEnter, ctrlJ, "alt+enter"}, Footer: 1, Early: true},
		{Name: Newline, Help: "new line", Modes: inInput, Keys: []Key{"enter", "shift+enter"}, Early: true},
		{Name: Escape, Help: "back", Modes: inAll, Keys: []Key{"esc"}, Footer: 2, Early: true},
		{Name: OlderMessage, Help: "earlier message (on the first line)", Modes: inInput, Keys: []Key{"up"}},
		{Name: NewerMessage, Help: "later message (on the last line)", Modes: inInput, Keys: []Key{"down"}},
		{Name: UndoTyping, Help: "undo typing", Modes: inInput, Keys: []Key{"ctrl+z"}, Early: true},
	}
}

// viewActions returns the actions that move through the conversation and work on its pairs.
func viewActions() []*Row {
	return []*Row{
		{Name: NextItem, Help: "next item", Modes: inView, Keys: []Key{"j", "down"}, Footer: 3, Hint: "next"},
		{Name: PreviousItem, Help: "previous item", Modes: inView, Keys: []Key{"k", "up"}},
		{Name: NextMessage, Help: "next message", Modes: inView, Keys: []Key{"J"}},
		{Name: PreviousMessage, Help: "previous message", Modes: inView, Keys: []Key{"K"}},
		{Name: FirstMessage, Title: "Go to the first message", Help: "first message", Modes: inView, Keys: []Key{"g", "home"}},
		{Name: LastMessage, Title: "Go to the end and follow it", Help: "last message; follow the end", Modes: inView, Keys: []Key{"G", "end"}},
		{Name: HalfPageDown, Help: "half a page down", Modes: inView, Keys: []Key{"ctrl+d"}},
		{Name: HalfPageUp, Help: "half a page up", Modes: inView, Keys: []Key{"ctrl+u"}},
		{Name: PageDown, Help: "a page down", Modes: []Mode{Input, View}, Keys: []Key{"pgdown"}},
		{Name: PageUp, Help: "a page up", Modes: []Mode{Input, View}, Keys: []Key{"pgup"}},
		{Name: JumpToBoundary, Title: "Go to the boundary: the first message that is sent", Help: "first message sent (boundary)", Modes: inView, Keys: []Key{"O", "o"}, Footer: 8, Hint: "to the first sent"},
		{Name: Search, Title: "Search the conversation", Help: "search the conversation", Modes: inView, Keys: []Key{"/"}, Footer: 6, Hint: "search"},
		{Name: NextHit, Help: "next hit", Modes: inView, Keys: []Key{"n"}},
		{Name: PreviousHit, Help: "previous hit", Modes: inView, Keys: []Key{"N"}},
		{Name: PreviousCheckpoint, Help: "previous checkpoint", Modes: inView, Keys: []Key{"{"}},
		{Name: NextCheckpoint, Help: "next checkpoint", Modes: inView, Keys: []Key{"}"}},
		{Name: Fold, Title: "Open or close the focused block", Help: "open or close: reasoning, a tool card, a long message", Modes: inView, Keys: []Key{"space"}, Footer: 4, Hint: "fold"},
		{Name: FoldAll, Title: "Open or close all blocks", Help: "open or close all", Modes: inView, Keys: []Key{"z"}},
		{Name: Enter, Help: "choose the focused item, or write a message", Modes: inView, Keys: []Key{"enter"}, Footer: 1, Hint: "write", Early: true},
		{Name: PreviousChoice, Help: "previous choice", Modes: inView, Keys: []Key{"h", "left"}},
		{Name: NextChoice, Help: "next choice", Modes: inView, Keys: []Key{"l", "right"}},
		{Name: Retry, Title: "Retry, or regenerate the answer", Help: "retry a failed message, or regenerate the answer", Modes: inView, Keys: []Key{"r"}},
		{Name: PreviousAnswer, Title: "Previous answer to the message", Help: "previous answer", Modes: inView, Keys: []Key{"<"}},
		{Name: NextAnswer, Title: "Next answer to the message", Help: "next answer", Modes: inView, Keys: []Key{">"}},
		{Name: Branch, Title: "Branch a new session off here", Help: "new session from here: a branch that continues from the message", Modes: inView, Keys: []Key{"B"}},
		{Name: ReAsk, Title: "Edit and ask again", Help: "edit the message, and send it as a new one", Modes: inView, Keys: []Key{"e"}},
		{Name: DeletePair, Title: "Delete the message and its answer", Help: "delete the message, with its answer", Modes: inView, Keys: []Key{"d"}},
		{Name: CopyAnswer, Title: "Copy the answer", Help: "copy the answer", Modes: inView, Keys: []Key{"y"}, Footer: 5, Hint: "copy"},
		{Name: CopyPair, Title: "Copy message and answer as Markdown", Help: "copy the message, with its answer, as Markdown", Modes: inView, Keys: []Key{"Y"}},
		{Name: CopyCode, Title: "Copy a code block", Help: "copy a code block; a digit picks one", Modes: inView, Keys: []Key{"c"}},
		{Name: Raw, Title: "Show the raw text", Help: "raw view of the answer", Modes: inView, Keys: []Key{"v"}},
		{Name: ExactRequest, Title: "Show the exact request", Help: "the exact request, as it was sent", Modes: inView, Keys: []Key{"x"}},
		{Name: NextRequest, Group: "Messages", Title: "Show the request that would be sent now", Modes: nil},
		{Name: Star, Title: "Star the message", Help: "more stars, up to three, then none", Modes: inView, Keys: []Key{"*"}},
		{Name: Flag, Title: "Flag the message", Help: "flag or unflag", Modes: inView, Keys: []Key{"a"}},
		{Name: Topic, Title: "Give the message a topic", Help: "topic of the message", Modes: inView, Keys: []Key{"t"}},
		{Name: UndoPairs, Title: "Undo the last command of a filter line", Help: "undo the last command of a filter line, such as :star 2", Modes: inView, Keys: []Key{"u"}},
	}
}

// commandActions returns the actions that edit and apply the filter line.
func commandActions() []*Row {
	return []*Row{
		{Name: ApplyFilter, Help: "apply the line", Modes: inCommand, Keys: []Key{"enter"}, Footer: 1, Hint: "apply"},
		{Name: OlderFilter, Help: "earlier filter", Modes: inCommand, Keys: []Key{"ctrl+p", "up"}},
		{Name: NewerFilter, Help: "later filter", Modes: inCommand, Keys: []Key{"ctrl+n", "down"}},
		{Name: CompleteFilter, Help: "complete the word; again: next entry", Modes: inCommand, Keys: []Key{"tab"}, Footer: 3, Hint: "complete"},
		{Name: CompleteFilterBack, Help: "previous entry", Modes: inCommand, Keys: []Key{"shift+tab"}},
	}
}

// paneActions returns the actions of every pane, named after the actions of the rules pane. A
// pane performs the actions that make sense for it, and answers the others with a notice or
// not at all; for example, the history pane uses DeleteRule to delete a saved filter.
func paneActions() []*Row {
	list := []*Row{
		{Name: PaneDown, Help: "next line", Keys: []Key{"j", "down"}},
		{Name: PaneUp, Help: "previous line", Keys: []Key{"k", "up"}},
		{Name: PaneFirst, Help: "first line", Keys: []Key{"g", "home"}},
		{Name: PaneLast, Help: "last line", Keys: []Key{"G", "end"}},
		{Name: PanePageDown, Help: "a page down", Keys: []Key{"pgdown", "ctrl+d"}},
		{Name: PanePageUp, Help: "a page up", Keys: []Key{"pgup", "ctrl+u"}},
		{Name: PaneSelect, Help: "select a line", Keys: []Key{"space"}, Footer: 5, Hint: "select"},
		{Name: PaneSelectAll, Title: "Select all listed models or rules", Help: "select all listed; again: none", Keys: []Key{"*"}},
		{Name: PaneHighlight, Help: "highlight the models of the rule, or the rule of the model", Keys: []Key{"enter"}, Footer: 6, Hint: "highlight"},
		{Name: AddIgnore, Title: "Hide models: add an ignore rule", Help: "hide: add an ignore rule", Keys: []Key{"h"}, Footer: 1, Hint: "hide"},
		{Name: AddAllow, Title: "Allow models: add an allow rule", Help: "allow: add an allow rule", Keys: []Key{"a"}, Footer: 1, Hint: "allow"},
		{Name: DeleteRule, Title: "Delete the rule", Help: "delete the rule", Keys: []Key{"x", "delete"}, Footer: 1, Hint: "delete"},
		{Name: Provider, Title: "Switch the provider", Help: "provider", Keys: []Key{"p"}, Footer: 4, Hint: "provider"},
		{Name: PaneSearch, Title: "Search the models: a name or conditions", Help: "search the models: a name, price>10 tools unused:30d", Keys: []Key{"/"}},
		{Name: SortModels, Title: "Sort the models", Help: "sort the models; repeat an order to reverse it", Keys: []Key{"s"}},
		{Name: PreviousTab, Title: "Previous tab of the pane", Help: "previous tab", Keys: []Key{"[", "left"}},
		{Name: NextTab, Title: "Next tab of the pane", Help: "next tab", Keys: []Key{"]", "right"}, Footer: 4, Hint: "tab"},
		{Name: RefreshModels, Title: "Refresh the models", Help: "ask the provider for its models", Keys: []Key{"ctrl+r"}},
		{Name: ImportRules, Title: "Import rules", Help: "import rules", Keys: []Key{"I"}},
		{Name: WhyModel, Title: "Explain why a model is hidden or shown"},
		{Name: Discard, Title: "Discard unsaved rules", Help: "discard unsaved rules (asks first)", Keys: []Key{"D"}},
	}
	for _, a := range list {
		a.Modes = inPane
	}
	return list
}

// hudActions returns the actions that move through the pairs of the docked HUD.
func hudActions() []*Row {
	return []*Row{
		{Name: HUDDown, Help: "next (older) message", Modes: inHUD, Keys: []Key{"j", "down"}, Footer: 3, Hint: "older"},
		{Name: HUDUp, Help: "previous message", Modes: inHUD, Keys: []Key{"k", "up"}},
		{Name: HUDFirst, Help: "newest message", Modes: inHUD, Keys: []Key{"g", "home"}},
		{Name: HUDLast, Help: "oldest message", Modes: inHUD, Keys: []Key{"G", "end"}},
		{Name: HUDPageDown, Help: "a page down", Modes: inHUD, Keys: []Key{"pgdown", "ctrl+d"}},
		{Name: HUDPageUp, Help: "a page up", Modes: inHUD, Keys: []Key{"pgup", "ctrl+u"}},
		{Name: HUDShow, Help: "show the message in the conversation", Modes: inHUD, Keys: []Key{"enter"}, Footer: 1, Hint: "show the message"},
	}
}

// globalActions returns the actions that work in all or nearly all modes, or only from the
// palette.
func globalActions() []*Row {
	return []*Row{
		{Name: NextRegion, Title: "Next region", Help: "next region", Modes: notCommand, Keys: []Key{"tab"}, Footer: 7, Hint: "pane", Early: true},
		{Name: PreviousRegion, Title: "Previous region", Help: "previous region", Modes: notCommand, Keys: []Key{"shift+tab"}, Early: true},
		{Name: WriteMessage, Group: "Messages", Title: "Write a message", Help: "write a message", Modes: viewOrPane, Keys: []Key{"i"}, Early: true},
		{Name: Filter, Group: "Filter", Title: "Filter the conversation", Help: "filter line", Modes: viewOrPane, Keys: []Key{"f"}, Footer: 2, Hint: "filter"},
		{Name: CommandLine, Group: "Filter", Title: "Type a command for the shown messages, such as :star 2", Modes: nil},
		{Name: ExportShown, Group: "Filter", Title: "Export the shown messages to a file", Modes: nil},
		{Name: StarShown, Group: "Filter", Title: "Star the shown messages", Modes: nil},
		{Name: FlagShown, Group: "Filter", Title: "Flag the shown messages", Modes: nil},
		{Name: UnflagShown, Group: "Filter", Title: "Unflag the shown messages", Modes: nil},
		{Name: TopicShown, Group: "Filter", Title: "Move the shown messages to a topic", Modes: nil},
		{Name: DeleteShown, Group: "Filter", Title: "Delete the shown messages", Modes: nil},
		{Name: SaveFilter, Group: "Filter", Title: "Save the filter under a name", Modes: nil},
		{Name: AllPairs, Group: "Filter", Title: "Show the messages of all sessions", Modes: nil},
		{Name: ListFilters, Group: "Filter", Title: "Saved filters: apply or delete one", Modes: nil},
		{Name: Palette, Title: "Command palette", Help: "command palette", Modes: notCommand, Keys: []Key{"ctrl+p"}, Anywhere: true},
		{Name: PaletteColon, Help: "command palette", Modes: walking, Keys: []Key{":"}},
		{Name: Help, Title: "Help", Help: "help", Modes: inAll, Keys: []Key{"f1"}, Anywhere: true, Footer: 20},
		{Name: HelpQuestion, Help: "help", Modes: walking, Keys: []Key{"?"}},
		{Name: Models, Group: "Model and context", Title: "Select a model", Help: "models", Modes: notCommand, Keys: []Key{"ctrl+l"}, Footer: 8, Hint: "model"},
		{Name: Checkpoints, Group: "Rules", Title: "Checkpoints and rollback", Help: "checkpoints", Modes: notCommand, Keys: []Key{"ctrl+g"}},
		{Name: Topics, Group: "Messages", Title: "Select a topic", Help: "topics", Modes: notCommand, Keys: []Key{"ctrl+t"}},
		{Name: NewSession, Group: "Messages", Title: "New session", Help: "new session", Modes: notCommand, Keys: []Key{"ctrl+n"}},
		{Name: Editor, Group: "Messages", Title: "Edit the draft in $EDITOR", Help: "edit in $EDITOR", Modes: notCommand, Keys: []Key{"ctrl+o"}},
		{Name: Save, Group: "Rules", Title: "Save the rules", Help: "save", Modes: inAll, Keys: []Key{"ctrl+s"}, Footer: 3},
		{Name: ContextHUD, Group: "Model and context", Title: "Context HUD", Help: "context HUD", Modes: inAll, Keys: []Key{"f2"}},
		{Name: DockContext, Group: "Model and context", Title: "Dock or undock the context HUD", Help: "dock the HUD, so that it stays while you type", Modes: inAll, Keys: []Key{"f5"}},
		{Name: Mouse, Title: "Mouse on or off", Help: "mouse on or off", Modes: inAll, Keys: []Key{"f3"}},
		{Name: Notices, Title: "Notices", Help: "notices", Modes: inAll, Keys: []Key{"f4"}},
		{Name: Connect, Group: "Model and context", Title: "Connect a model", Help: "connect a model", Modes: inAll, Keys: []Key{"f6"}, Footer: 2},
		{Name: PlacePane, Group: "Rules", Title: "Place the pane: beside the chat, full width or hidden", Help: "place the pane: beside the chat, full width or hidden", Modes: inAll, Keys: []Key{"f7"}},
		{Name: Undo, Group: "Rules", Title: "Undo the newest change to the rules", Help: "undo the newest change to the rules", Modes: walking, Keys: []Key{"ctrl+z"}},
		{Name: Unfilter, Group: "Filter", Title: "End the filter: show the messages of this session", Help: "end the filter: show the messages of this session", Modes: walking, Keys: []Key{"F"}},
		{Name: UndoRollback, Group: "Rules", Title: "Undo the last undo or rollback", Help: "undo the last undo or rollback", Modes: walking, Keys: []Key{"ctrl+y"}},
		{Name: Cancel, Group: "Messages", Title: "Cancel the turn", Help: "cancel or clear; pressed twice: quit", Modes: inAll, Keys: []Key{"ctrl+c"}, Anywhere: true, Early: true},
		{Name: Queued, Group: "Messages", Title: "Queued message: edit, send now or drop", Help: "the queued message: edit, send now or drop", Modes: notCommand, Keys: []Key{"alt+q"}},
		{Name: GoToPane, Group: "Rules", Title: "Go to the rules", Modes: nil},
		{Name: Sessions, Group: "Messages", Title: "Sessions in the history", Modes: nil},
		{Name: NameSession, Group: "Messages", Title: "Name this session", Modes: nil},
		{Name: SessionCost, Group: "Model and context", Title: "Tokens and cost of this session", Modes: nil},
		{Name: KeepCancelled, Group: "Messages", Title: "Keep the partial answer that was cancelled", Modes: nil},
		{Name: AskAgain, Group: "Messages", Title: "Send the cancelled message again", Modes: nil},
		{Name: Settings, Title: "Settings: theme, mouse, confirm, context", Modes: nil},
		{Name: Suspend, Title: "Suspend winnow", Modes: nil},
		{Name: Quit, Title: "Quit", Help: "quit", Modes: inAll, Keys: []Key{"ctrl+q"}, Anywhere: true, Early: true},
	}
}

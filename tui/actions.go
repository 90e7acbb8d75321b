package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/safetext"
	"winnow/tui/chat"
	"winnow/tui/keymap"
	"winnow/tui/markdown"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/status"
)

// do performs an action of package keymap by name; "" does nothing. An action that is not
// in m.actions is passed to the pane. TestEveryActionDoesSomething finds a screen action
// that is missing from m.actions and would therefore go to the pane.
func (m *Model) do(action keymap.Action) tea.Cmd {
	switch do := m.actions[action]; {
	case do != nil:
		return do(m)
	case action != "":
		return m.perform(m.pane.Do(action))
	}
	return nil
}

// allActions returns what each action of package keymap does, by name, except the actions
// of the pane.
func allActions() map[keymap.Action]func(*Model) tea.Cmd {
	all := map[keymap.Action]func(*Model) tea.Cmd{
		keymap.Send:         (*Model).send,
		keymap.Newline:      (*Model).newLine,
		keymap.Escape:       (*Model).escape,
		keymap.OlderMessage: recall(-1),
		keymap.NewerMessage: recall(1),
		keymap.UndoTyping:   onInput((*input).undoTyping),

		keymap.ApplyFilter:        (*Model).applyLine,
		keymap.OlderFilter:        walkLine(-1),
		keymap.NewerFilter:        walkLine(1),
		keymap.CompleteFilter:     completeLine(1),
		keymap.CompleteFilterBack: completeLine(-1),

		keymap.HUDDown:     onHUD(func(p *status.ContextPanel) { p.Move(1) }),
		keymap.HUDUp:       onHUD(func(p *status.ContextPanel) { p.Move(-1) }),
		keymap.HUDFirst:    onHUD(func(p *status.ContextPanel) { p.MoveToEnd(false) }),
		keymap.HUDLast:     onHUD(func(p *status.ContextPanel) { p.MoveToEnd(true) }),
		keymap.HUDPageDown: onHUD(func(p *status.ContextPanel) { p.Page(1) }),
		keymap.HUDPageUp:   onHUD(func(p *status.ContextPanel) { p.Page(-1) }),
		keymap.HUDShow:     (*Model).showFromHUD,
	}
	for n := range 4 {
		all[keymap.Stars(n)] = stars(n)
	}
	for n := range 9 {
		all[keymap.Choose(n+1)] = func(m *Model) tea.Cmd { return m.choose(n) }
	}
	maps.Copy(all, viewActions())
	maps.Copy(all, globalActions())
	return all
}

// viewActions returns the actions that move through the conversation and work on its pairs.
func viewActions() map[keymap.Action]func(*Model) tea.Cmd {
	return map[keymap.Action]func(*Model) tea.Cmd{
		keymap.NextItem:           onChat((*chat.View).NextPart),
		keymap.PreviousItem:       onChat((*chat.View).PrevPart),
		keymap.NextMessage:        onChat((*chat.View).NextPair),
		keymap.PreviousMessage:    onChat((*chat.View).PrevPair),
		keymap.FirstMessage:       onChat((*chat.View).Top),
		keymap.LastMessage:        onChat((*chat.View).Bottom),
		keymap.HalfPageDown:       onChat(func(v *chat.View) { v.HalfPage(1) }),
		keymap.HalfPageUp:         onChat(func(v *chat.View) { v.HalfPage(-1) }),
		keymap.PageDown:           onChat(func(v *chat.View) { v.Page(1) }),
		keymap.PageUp:             onChat(func(v *chat.View) { v.Page(-1) }),
		keymap.JumpToBoundary:     onConversation((*conversation).jumpToBoundary),
		keymap.Search:             func(m *Model) tea.Cmd { m.conv.search.Open(""); return nil },
		keymap.NextHit:            onConversation(func(c *conversation) intent { return c.toHit(markdown.Forward) }),
		keymap.PreviousHit:        onConversation(func(c *conversation) intent { return c.toHit(markdown.Backward) }),
		keymap.PreviousCheckpoint: toCheckpoint(-1),
		keymap.NextCheckpoint:     toCheckpoint(1),
		keymap.Fold:               onFold((*chat.View).ToggleFold, "there is nothing to open or close in this message"),
		keymap.FoldAll:            onFold((*chat.View).ToggleAll, "there is nothing to open or close here"),
		keymap.Enter:              (*Model).viewEnter,
		keymap.PreviousChoice:     moveChoice(-1),
		keymap.NextChoice:         moveChoice(1),
		keymap.WriteMessage:       focus(keymap.Input),
		keymap.Retry:              whenIdle((*Model).retryPair),
		keymap.PreviousAnswer:     whenIdle(chooseAnswer(-1)),
		keymap.NextAnswer:         whenIdle(chooseAnswer(1)),
		keymap.Branch:             whenIdle((*Model).branchPair),
		keymap.ReAsk:              onPair((*Model).reAskPair),
		keymap.DeletePair:         whenIdle((*Model).deletePair),
		keymap.CopyAnswer:         copyFocused("the answer", (*chat.View).Answer),
		keymap.CopyPair:           copyFocused("the message and its answer", (*chat.View).Markdown),
		keymap.CopyCode:           onConversation((*conversation).copyCode),
		keymap.Raw:                onChat((*chat.View).ToggleRaw),
		keymap.ExactRequest:       func(m *Model) tea.Cmd { return m.exactRequest(false) },
		keymap.NextRequest:        func(m *Model) tea.Cmd { return m.exactRequest(true) },
		keymap.Star:               stars(-1),
		keymap.Flag:               onPair((*Model).flagPair),
		keymap.Topic:              (*Model).openPairTopic,
		keymap.UndoPairs:          (*Model).undoCommand,
	}
}

// globalActions returns the actions that are available in nearly every mode, or only in the
// palette.
func globalActions() map[keymap.Action]func(*Model) tea.Cmd {
	return map[keymap.Action]func(*Model) tea.Cmd{
		keymap.NextRegion:     (*Model).nextRegion,
		keymap.PreviousRegion: func(m *Model) tea.Cmd { m.setMode(m.neighbour(-1)); return nil },
		keymap.Filter:         func(m *Model) tea.Cmd { return m.openFilter("") },
		keymap.CommandLine:    commandOnShown(":"),
		keymap.ExportShown:    commandOnShown(":export "),
		keymap.StarShown:      commandOnShown(":star "),
		keymap.FlagShown:      commandOnShown(":flag"),
		keymap.UnflagShown:    commandOnShown(":unflag"),
		keymap.TopicShown:     commandOnShown(":topic "),
		keymap.DeleteShown:    commandOnShown(":delete"),
		keymap.SaveFilter:     commandOnShown(":save "),
		keymap.Unfilter:       func(m *Model) tea.Cmd { return m.runLineHere("x") },
		keymap.AllPairs:       func(m *Model) tea.Cmd { return m.runLineHere("") },
		keymap.ListFilters:    func(m *Model) tea.Cmd { return m.runLine(":filters") },
		keymap.Palette:        (*Model).openPalette,
		keymap.PaletteColon:   (*Model).openPalette,
		keymap.Help:           (*Model).openHelp,
		keymap.HelpQuestion:   (*Model).openHelp,
		keymap.Models:         (*Model).openModels,
		keymap.Checkpoints:    (*Model).openCheckpoints,
		keymap.Topics:         (*Model).openTopics,
		keymap.NewSession:     (*Model).newSession,
		keymap.Editor:         (*Model).openEditor,
		keymap.Save:           (*Model).save,
		keymap.ContextHUD:     (*Model).openHUD,
		keymap.DockContext:    (*Model).dockHUD,
		keymap.PlacePane:      (*Model).cyclePane,
		keymap.Mouse:          func(m *Model) tea.Cmd { return m.toggleMouse() },
		keymap.Notices:        func(m *Model) tea.Cmd { return m.openNotices() },
		keymap.Connect:        (*Model).connect,
		keymap.Undo:           (*Model).undo,
		keymap.UndoRollback:   (*Model).undoRollback,
		keymap.NameSession:    (*Model).nameSession,
		keymap.SessionCost:    func(m *Model) tea.Cmd { return m.commands.ReadCost(m.acts.query()) },
		keymap.KeepCancelled:  (*Model).keepCancelled,
		keymap.AskAgain:       (*Model).askAgain,
		keymap.Cancel:         (*Model).interrupt,
		keymap.Queued:         (*Model).openQueued,
		keymap.GoToPane:       focus(keymap.Pane),
		keymap.Sessions:       (*Model).openSessions,
		keymap.Settings:       (*Model).openSettings,
		keymap.Suspend:        func(*Model) tea.Cmd { return tea.Suspend },
		keymap.Quit:           (*Model).quit,
	}
}

// focus returns the action that moves the focus to a mode.
func focus(to keymap.Mode) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.setMode(to)
		return nil
	}
}

// openHelp lists the keys and selects the first key of the current mode. An action that is
// also in the palette can be run from the list. In COMMAND, openHelp opens the help page
// about the filter language instead, if there is one.
func (m *Model) openHelp() tea.Cmd {
	if topic, ok := m.filterTopic(); ok && m.mode == keymap.Command {
		return m.openTopic(topic)
	}
	entries, start := m.helpEntries()
	at := max(0, slices.IndexFunc(entries, func(e overlay.Entry) bool { return e.Group == m.mode.String() }))
	picker := overlay.NewPicker("Keys", entries, at).WithStart(start).WithColumns(helpColumn).Offer(keymap.List, keymap.To("runs it", keymap.LineAccept))
	return m.open(overlay.Help, picker, func(c overlay.Chosen) tea.Cmd {
		if text, ok := strings.CutPrefix(c.Value, signGroup); ok {
			return m.info(safetext.Clean(text))
		}
		if a := m.keys.Named(keymap.Action(c.Value)); a == nil || a.Title == "" {
			i := slices.IndexFunc(entries, func(e overlay.Entry) bool { return e.Value == c.Value })
			return m.info(safetext.Sprintf("only its key runs it: %s · in %s", strings.Join(strings.Fields(entries[i].Text), " "), entries[i].Group))
		}
		return m.runAction(keymap.Action(c.Value))
	})
}

// helpColumn is the minimum width, in cells, of a column of the help.
const helpColumn = 34

// helpEntries returns the entries of the help: a short list for the current mode, followed
// by all keys and by the signs of the pane. In PANE the short list contains the signs too.
// start is the length of the short list, which is shown until the user types; a search
// covers all entries.
func (m *Model) helpEntries() (entries []overlay.Entry, start int) {
	entries = actionEntries(m.keys.HelpOnScreen(m.mode))
	signs := m.signEntries()
	if m.mode == keymap.Pane { // the keys and signs of the pane come first
		other := func(e overlay.Entry) bool { return e.Group != m.mode.String() }
		inPane := slices.DeleteFunc(slices.Clone(entries), other)
		rest := slices.DeleteFunc(entries, func(e overlay.Entry) bool { return !other(e) })
		entries = slices.Concat(inPane, signs, rest)
	}
	start = len(entries)
	for _, e := range actionEntries(m.keys.Help(m.width)) {
		e.Extra = "" // the heading
		entries = append(entries, e)
	}
	return append(entries, signs...), start
}

// signGroup is the heading of the signs in the help.
const signGroup = "SIGNS"

// signEntries returns the signs of the pane, with what they mean, as entries of the help.
func (m *Model) signEntries() (entries []overlay.Entry) {
	if p, ok := m.pane.(pane.Legender); ok {
		for _, s := range p.Legend() {
			entries = append(entries, overlay.Entry{Value: signGroup + s.Icon + " marks " + s.Means, Text: fmt.Sprintf("%-9s  %s", s.Icon, s.Means), Group: signGroup})
		}
	}
	return entries
}

// actionEntries returns actions as entries of a list, with the name of the action as Value.
func actionEntries(all []keymap.Entry) []overlay.Entry {
	also := map[keymap.Action]string{
		keymap.Quit: "exit close ", keymap.Settings: "options preferences theme colour color dark light ", keymap.NameSession: "rename ",
		keymap.UndoRollback: "redo ", keymap.Connect: "login endpoint key ", keymap.Sessions: "history resume continue ",
	}
	for _, c := range keymap.CommandTable() {
		also[c.Action] += c.Name + " "
	}
	entries := make([]overlay.Entry, len(all))
	for i, e := range all {
		entries[i] = overlay.Entry{Value: string(e.Action), Text: e.Text, Brief: e.Brief, Also: also[e.Action], Extra: e.Extra, Short: e.Short, Group: e.Group}
	}
	return entries
}

// openPalette lists every command.
func (m *Model) openPalette() tea.Cmd {
	entries, start := m.paletteEntries()
	picker := overlay.NewPicker("Commands", entries, 0).WithStart(start).WithNotice(fmt.Sprintf("type to search all %d commands", len(entries)-start)).Offer(keymap.List, keymap.To("runs it", keymap.LineAccept))
	return m.open(overlay.Palette, picker, func(c overlay.Chosen) tea.Cmd {
		m.recent = append([]string{c.Value}, slices.DeleteFunc(m.recent, func(name string) bool { return name == c.Value })...)
		return m.runAction(keymap.Action(c.Value))
	})
}

// paletteEntries returns the commands shown before the user types, followed by all
// commands. start is the number of commands shown before the user types.
func (m *Model) paletteEntries() (entries []overlay.Entry, start int) {
	all := actionEntries(m.keys.Palette(m.plainChat()))
	first := m.firstCommands(all)
	return append(first, grouped(all)...), len(first)
}

// The palette shows at most maxFirst commands before the user types. At most maxRecent of these
// are recently chosen commands.
const maxFirst, maxRecent = 12, 4

// firstCommands returns the commands that the palette shows before the user types: recently
// chosen commands, then the usual commands by group.
func (m *Model) firstCommands(all []overlay.Entry) (first []overlay.Entry) {
	add := func(name, group string) {
		i := slices.IndexFunc(all, func(e overlay.Entry) bool { return e.Value == name })
		listed := slices.ContainsFunc(first, func(e overlay.Entry) bool { return e.Value == name })
		if i >= 0 && !listed && len(first) < maxFirst {
			e := all[i]
			e.Group = cmp.Or(group, e.Group)
			first = append(first, e)
		}
	}
	for _, name := range m.recent[:min(len(m.recent), maxRecent)] {
		add(name, "Recent")
	}
	for _, name := range keymap.UsualActions {
		add(string(name), "")
	}
	return grouped(first)
}

// grouped sorts the entries by group, in the order in which the groups first appear.
func grouped(all []overlay.Entry) []overlay.Entry {
	var order []string
	for _, e := range all {
		if !slices.Contains(order, e.Group) {
			order = append(order, e.Group)
		}
	}
	slices.SortStableFunc(all, func(a, b overlay.Entry) int {
		return slices.Index(order, a.Group) - slices.Index(order, b.Group)
	})
	return all
}

// runAction performs an action by name. If the action belongs only to VIEW or only to PANE,
// runAction first switches to that mode.
func (m *Model) runAction(name keymap.Action) tea.Cmd {
	a := m.keys.Named(name)
	if a == nil {
		return nil
	}
	if len(a.Modes) == 1 && (a.Modes[0] == keymap.View || a.Modes[0] == keymap.Pane) {
		m.setMode(a.Modes[0])
	}
	return m.do(name)
}

// onChat returns an action that moves in the chat, and then loads the pairs that have come
// into view.
func onChat(move func(*chat.View)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		move(m.conv.chat)
		return m.loadMissing()
	}
}

// onFold returns an action that opens or closes parts, or shows a notice if there are none.
func onFold(toggle func(*chat.View) bool, noParts safetext.Text) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if !toggle(m.conv.chat) {
			return m.info(noParts)
		}
		return m.loadMissing()
	}
}

// onConversation returns an action that calls do with the conversation and carries out its intent.
func onConversation(do func(*conversation) intent) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.carryOut(do(&m.conv)) }
}

// toCheckpoint returns the action that goes from the focused pair to the next turn that
// changed the window or, if step is negative, to the previous one.
func toCheckpoint(step int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		focused, _ := m.conv.chat.Focused()
		found := int64(0)
		for _, c := range m.parts.Checkpoints.Of(m.parts.shownSession()) {
			at := c.PairSeq
			if at != 0 && (step < 0 && at < focused.Seq && at > found || step > 0 && at > focused.Seq && (found == 0 || at < found)) {
				found = at
			}
		}
		if found == 0 || !m.conv.chat.JumpTo(found) {
			m.notice.Info("no checkpoint in that direction")
		}
		return m.loadMissing()
	}
}

// moveChoice returns the action that moves the focus along chips and buttons.
func moveChoice(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if !m.conv.chat.MoveChoice(n) && len(m.conv.chat.Choices()) > 0 {
			m.notice.Info("the newest answer has suggestions" + m.hint(" · %s moves towards them", keymap.NextItem) + m.hint(" · %s chooses the first from anywhere", keymap.Choose(1)))
		}
		return nil
	}
}

// copyFocused returns the action that copies a text of the focused pair. The notice refers to
// the text by name, such as "the answer".
func copyFocused(name string, text func(*chat.View) (string, bool)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		copied, _ := text(m.conv.chat)
		return m.copyOut(copyText{what: name, text: copied})
	}
}

// viewEnter chooses the focused suggestion or, if there is none, focuses the input.
func (m *Model) viewEnter() tea.Cmd {
	if i, ok := m.conv.chat.Choice(); ok {
		return m.choose(i)
	}
	m.setMode(keymap.Input)
	return nil
}

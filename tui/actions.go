package tui

import (
	"maps"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/chat"
	"winnow/tui/hud"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
)

// do performs an action of package keymap by its name; one that is not in actions is the
// pane's, and "" is nothing.
func (m *Model) do(action string) tea.Cmd {
	switch do := m.actions[action]; {
	case do != nil:
		return do(m)
	case action != "":
		return m.perform(m.pane.Do(action))
	}
	return nil
}

// allActions is what each action of package keymap does, by its name, but for those of
// the pane.
func allActions() map[string]func(*Model) tea.Cmd {
	all := map[string]func(*Model) tea.Cmd{
		"send":          (*Model).send,
		"newline":       (*Model).newLine,
		"escape":        (*Model).escape,
		"older-message": recall(-1),
		"newer-message": recall(1),
		"undo-typing":   onInput((*input).undoTyping),

		"apply-filter":         (*Model).applyLine,
		"older-filter":         onCommandLine((*commandLine).walk, -1),
		"newer-filter":         onCommandLine((*commandLine).walk, 1),
		"complete-filter":      onCommandLine((*commandLine).complete, 1),
		"complete-filter-back": onCommandLine((*commandLine).complete, -1),

		"hud-down":      onHUD(func(p *hud.Panel) { p.Move(1) }),
		"hud-up":        onHUD(func(p *hud.Panel) { p.Move(-1) }),
		"hud-first":     onHUD(func(p *hud.Panel) { p.MoveToEnd(false) }),
		"hud-last":      onHUD(func(p *hud.Panel) { p.MoveToEnd(true) }),
		"hud-page-down": onHUD(func(p *hud.Panel) { p.Page(1) }),
		"hud-page-up":   onHUD(func(p *hud.Panel) { p.Page(-1) }),
		"hud-show":      (*Model).showFromHUD,
	}
	for n := range 4 {
		all["star-"+strconv.Itoa(n)] = stars(n)
	}
	for n := range 9 {
		all["choose-"+strconv.Itoa(n+1)] = func(m *Model) tea.Cmd { return m.choose(n) }
	}
	maps.Copy(all, viewActions())
	maps.Copy(all, globalActions())
	return all
}

// viewActions walk through the conversation and work on its pairs.
func viewActions() map[string]func(*Model) tea.Cmd {
	return map[string]func(*Model) tea.Cmd{
		"next-item":           onChat((*chat.View).NextPart),
		"previous-item":       onChat((*chat.View).PrevPart),
		"next-message":        onChat((*chat.View).NextPair),
		"previous-message":    onChat((*chat.View).PrevPair),
		"first-message":       onChat((*chat.View).Top),
		"last-message":        onChat((*chat.View).Bottom),
		"half-page-down":      onChat(func(v *chat.View) { v.HalfPage(1) }),
		"half-page-up":        onChat(func(v *chat.View) { v.HalfPage(-1) }),
		"page-down":           onChat(func(v *chat.View) { v.Page(1) }),
		"page-up":             onChat(func(v *chat.View) { v.Page(-1) }),
		"jump-to-boundary":    onConversation((*conversation).jumpToBoundary),
		"search":              func(m *Model) tea.Cmd { m.conv.search.Open(""); return nil },
		"next-hit":            onConversation(func(c *conversation) tea.Cmd { return c.toHit(false) }),
		"previous-hit":        onConversation(func(c *conversation) tea.Cmd { return c.toHit(true) }),
		"previous-checkpoint": toCheckpoint(-1),
		"next-checkpoint":     toCheckpoint(1),
		"fold":                onChat(func(v *chat.View) { v.ToggleFold() }),
		"fold-all":            onChat((*chat.View).ToggleAll),
		"enter":               (*Model).viewEnter,
		"previous-choice":     moveChoice(-1),
		"next-choice":         moveChoice(1),
		"input":               focus(keymap.Input),
		"retry":               whenIdle((*Model).retryPair),
		"previous-answer":     whenIdle(chooseAnswer(-1)),
		"next-answer":         whenIdle(chooseAnswer(1)),
		"re-ask":              onPair((*Model).reAskPair),
		"delete-pair":         whenIdle((*Model).deletePair),
		"copy-answer":         copyFocused("the answer", (*chat.View).Answer),
		"copy-pair":           copyFocused("the pair", (*chat.View).Markdown),
		"copy-code":           onConversation((*conversation).copyCode),
		"raw":                 onChat((*chat.View).ToggleRaw),
		"exact-request":       onPickers(func(p *pickers) tea.Cmd { return p.exactRequest(false) }),
		"next-request":        onPickers(func(p *pickers) tea.Cmd { return p.exactRequest(true) }),
		"star":                stars(-1),
		"flag":                onPair((*Model).flagPair),
		"topic":               onPickers((*pickers).openPairTopic),
		"undo-pairs":          onConversation((*conversation).undoCommand),
	}
}

// globalActions work in nearly every mode, or are in the palette alone.
func globalActions() map[string]func(*Model) tea.Cmd {
	return map[string]func(*Model) tea.Cmd{
		"next-region":     (*Model).nextRegion,
		"previous-region": func(m *Model) tea.Cmd { m.setMode(m.neighbour(-1)); return nil },
		"filter":          func(m *Model) tea.Cmd { return m.openFilter("") },
		"command-line":    commandOnShown(":"),
		"export-shown":    commandOnShown(":export "),
		"star-shown":      commandOnShown(":star "),
		"flag-shown":      commandOnShown(":flag"),
		"unflag-shown":    commandOnShown(":unflag"),
		"topic-shown":     commandOnShown(":topic "),
		"delete-shown":    commandOnShown(":delete"),
		"save-filter":     commandOnShown(":save "),
		"unfilter":        func(m *Model) tea.Cmd { return m.runLineHere("x") },
		"all-pairs":       func(m *Model) tea.Cmd { return m.runLineHere("") },
		"list-filters":    func(m *Model) tea.Cmd { return m.runLine(":filters") },
		"palette":         (*Model).openPalette,
		"palette-colon":   (*Model).openPalette,
		"help":            (*Model).openHelp,
		"help-question":   (*Model).openHelp,
		"models":          onPickers((*pickers).openModels),
		"checkpoints":     onPickers((*pickers).openCheckpoints),
		"topics":          onPickers((*pickers).openTopics),
		"new-session":     (*Model).newSession,
		"editor":          (*Model).openEditor,
		"save":            (*Model).save,
		"hud":             (*Model).openHUD,
		"dock-context":    (*Model).dockHUD,
		"mouse":           func(m *Model) tea.Cmd { return m.toggleMouse() },
		"notices":         func(m *Model) tea.Cmd { return m.openNotices() },
		"connect":         onPickers(func(p *pickers) tea.Cmd { return p.connect(false) }),
		"undo":            onPickers((*pickers).undo),
		"undo-rollback":   onPickers((*pickers).undoRollback),
		"cancel":          (*Model).interrupt,
		"queued":          (*Model).openQueued,
		"pane":            focus(keymap.Pane),
		"sessions":        (*Model).openSessions,
		"settings":        (*Model).openSettings,
		"suspend":         func(*Model) tea.Cmd { return tea.Suspend },
		"quit":            (*Model).quit,
	}
}

// focus is the action that moves the focus to a mode.
func focus(to keymap.Mode) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.setMode(to)
		return nil
	}
}

// openHelp lists the keys, and selects the first of the current mode. An action that the
// palette has as well can be chosen.
func (m *Model) openHelp() tea.Cmd {
	entries := m.keys.Help(m.width)
	at := max(0, slices.IndexFunc(entries, func(e overlay.Entry) bool { return e.Group == m.mode.String() }))
	return m.open(overlay.Help, overlay.NewPicker("Keys", entries, at), func(c overlay.Chosen) tea.Cmd {
		if a := m.keys.Named(c.Value); a == nil || a.Title == "" {
			return nil
		}
		return m.runAction(c.Value)
	})
}

// openPalette lists every command.
func (m *Model) openPalette() tea.Cmd {
	return m.open(overlay.Palette, overlay.NewPicker("Commands", m.keys.Palette(m.plainChat()), 0), func(c overlay.Chosen) tea.Cmd {
		return m.runAction(c.Value)
	})
}

// runAction performs an action by its name, in the mode it belongs to when that is VIEW
// or PANE alone.
func (m *Model) runAction(name string) tea.Cmd {
	a := m.keys.Named(name)
	if a == nil {
		return nil
	}
	if len(a.Modes) == 1 && (a.Modes[0] == keymap.View || a.Modes[0] == keymap.Pane) {
		m.setMode(a.Modes[0])
	}
	return m.do(name)
}

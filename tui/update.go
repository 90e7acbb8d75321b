package tui

import (
	tea "charm.land/bubbletea/v2"
)

// Update routes; it decides nothing else. A message is of the running turn, of
// the store and session, of the pane, or of the terminal. The box may have
// another height then, and what the pane shows may be out of date.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, routed := m.onTurnMsg(msg)
	for _, route := range [...]func(tea.Msg) (tea.Cmd, bool){m.onStorageMsg, m.onHistoryMsg, m.onPaneMsg, m.onTerminalMsg} {
		if !routed {
			cmd, routed = route(msg)
		}
	}
	m.fitInput()
	if read := m.readPane(); read != nil {
		cmd = tea.Batch(cmd, read)
	}
	return m, cmd
}

// onTurnMsg routes what a turn sends. Messages of a turn that is over are
// dropped; its events are read to the end so that it can close.
func (m *Model) onTurnMsg(msg tea.Msg) (tea.Cmd, bool) {
	t, ok := msg.(turnMsg)
	if !ok {
		return nil, false
	}
	var cmd tea.Cmd
	if stream := t.of(); stream.turn == m.turn.n {
		cmd = m.onTurnEvent(msg)
	}
	return tea.Batch(cmd, t.of().wait), true
}

// onTurnEvent routes the events of the running turn.
func (m *Model) onTurnEvent(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case turnStartedMsg:
		return m.onTurnStarted(msg)
	case chunkStreamedMsg:
		m.onChunk(msg)
	case payloadFoundMsg:
		m.conv.chat.Apply(msg.found)
	case toolCalledMsg:
		m.onTool(msg)
	case contextTrimmedMsg:
		m.turn.onTrimmed(msg.trimmed)
		m.conv.onTrimmed(msg.trimmed)
	case requestRetriedMsg:
		m.turn.onRetry(msg.retry)
	case statusChangedMsg:
		m.turn.setStatus(msg.text)
	case checkpointMadeMsg:
		m.turn.wrote = true
	case answerWantedMsg:
		m.askTool(msg.ask)
	case turnEndedMsg:
		return m.onTurnEnd(msg.end)
	}
	return nil
}

// onStorageMsg routes what the session and the store answer.
func (m *Model) onStorageMsg(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case sessionReadyMsg:
		return m.onReady(msg), true
	case startLoadedMsg:
		return m.onStart(msg), true
	case boundaryComputedMsg:
		return m.onBoundary(msg), true
	case pairsLoadedMsg:
		return m.onPairs(msg), true
	case pairsChangedMsg:
		return m.onPairsChanged(msg), true
	case retryPreparedMsg:
		return m.onRetryPrepared(msg), true
	case reAskReadMsg:
		return m.onReAskRead(msg), true
	case messageStoredMsg:
		return m.onMessageStored(msg), true
	case confirmWantedMsg:
		return m.onConfirmWanted(msg), true
	case pairCheckedMsg:
		return m.conv.onPairChecked(msg), true
	case textFoundMsg:
		return m.conv.onFound(msg), true
	case filterAppliedMsg:
		return m.onFilter(msg), true
	case filterCountedMsg:
		return m.command.onCount(msg), true
	case commandPlannedMsg:
		return m.onCommandPlanned(msg), true
	case commandExecutedMsg:
		return m.onCommandExecuted(msg), true
	case commandUndoneMsg:
		return m.onCommandUndone(msg), true
	case viewStaleMsg:
		return m.onStale(msg), true
	}
	return nil, false
}

// onHistoryMsg routes what was looked up, stored or switched beside the pairs.
func (m *Model) onHistoryMsg(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case sessionsLoadedMsg:
		return m.onSessions(msg), true
	case sessionChangedMsg:
		return m.onSessionChanged(msg), true
	case namesLoadedMsg:
		return m.onNames(msg), true
	case topicsChangedMsg:
		return m.onTopics(msg), true
	case rolledBackMsg:
		return m.onRolledBack(msg), true
	case modelsLoadedMsg:
		return m.pickers.onModels(msg), true
	case modelPickedMsg:
		return m.pickers.onModelPicked(msg), true
	case favouritesStoredMsg:
		return m.pickers.onFavourites(msg), true
	case requestsLoadedMsg:
		return m.onRequests(msg), true
	case settingStoredMsg:
		return m.onSettingStored(msg), true
	case draftStoredMsg:
		return m.input.onDraftStored(msg), true
	case filesReadMsg:
		return m.onFilesRead(msg), true
	case filesListedMsg:
		return m.input.onFilesListed(msg), true
	case changeDoneMsg:
		return m.onChangeDone(msg), true
	case failedMsg:
		return m.fail(msg.err), true
	}
	return nil, false
}

// onPaneMsg routes what the window and its pane answer.
func (m *Model) onPaneMsg(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case paneReadMsg:
		return m.onPaneRead(msg), true
	case editedMsg:
		return m.onEdited(msg), true
	case ranMsg:
		return m.onRan(msg), true
	case savePlannedMsg:
		return m.onSavePlanned(msg), true
	case savedMsg:
		return m.onSaved(msg), true
	case savedChangedMsg:
		return m.onSavedChanged(msg), true
	case effectsComputedMsg:
		return m.conv.onEffects(msg), true
	case Noticed:
		return m.onNoticed(msg), true
	}
	return nil, false
}

// onTerminalMsg routes what the terminal and the timers send.
func (m *Model) onTerminalMsg(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m.resize(msg.Width, msg.Height), true
	case tea.KeyPressMsg:
		return m.onKey(msg), true
	case tea.PasteMsg:
		return m.onPaste(msg), true
	case tea.MouseMsg:
		return m.onMouse(msg), true
	case tea.BackgroundColorMsg:
		return m.onBackground(msg), true
	case tea.KeyboardEnhancementsMsg:
		m.kitty = m.kitty || msg.SupportsKeyDisambiguation()
	case tea.FocusMsg:
		m.focused = true
	case tea.BlurMsg:
		m.focused = false
	case pickerSearchedMsg:
		m.overlay.Show(msg.found)
	case copiedMsg:
		return m.onCopied(msg), true
	case editorReadyMsg:
		return m.input.onEditorReady(msg), true
	case editorClosedMsg:
		return m.onEditorClosed(msg), true
	case burstRestedMsg:
		return m.input.onBurstRested(msg), true
	case draftDueMsg:
		return m.input.onDraftDue(), true
	case tickedMsg:
		return m.onTick(), true
	case edgeDueMsg:
		return m.conv.onEdgeDue(), true
	case onceMoreDueMsg:
		return m.onOnceMoreDue(), true
	case idleMsg:
		return m.onIdle(msg), true
	default:
		return nil, false
	}
	return nil, true
}

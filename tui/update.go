package tui

import (
	tea "charm.land/bubbletea/v2"
)

// Update lets the message be served, and the pane be read anew where that made
// it old.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := m.route(msg)
	if read := m.readPane(); read != nil {
		cmd = tea.Batch(cmd, read)
	}
	return m, cmd
}

// route routes; it decides nothing else.
func (m *Model) route(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m, m.resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		return m, m.onKey(msg)
	case tea.PasteMsg:
		return m, m.onPaste(msg.Content)
	case tea.MouseMsg:
		return m, m.onMouse(msg)
	case tea.BackgroundColorMsg:
		return m, m.onBackground(msg)
	case tea.KeyboardEnhancementsMsg:
		return m, m.onEnhancements(msg)
	case tea.FocusMsg:
		m.focused = true
	case tea.BlurMsg:
		m.focused = false
	case Noticed:
		return m, m.onNoticed(msg)
	case pickerSearchedMsg:
		m.overlay.Show(msg.found)
	case turnEventsMsg:
		return m, m.onTurnEvents(msg)
	case boundaryComputedMsg:
		return m, m.onBoundary(msg)
	case startLoadedMsg:
		return m, m.onStart(msg)
	case pairsLoadedMsg:
		return m, m.onPairs(msg)
	case textFoundMsg:
		return m, m.onFound(msg)
	case filterAppliedMsg:
		return m, m.onFilter(msg)
	case filterCountedMsg:
		return m, m.onCount(msg)
	case orderReadyMsg:
		return m, m.onOrder(msg)
	case orderDoneMsg:
		return m, m.onOrderDone(msg)
	case orderUndoneMsg:
		return m, m.onOrderUndone(msg)
	case viewStaleMsg:
		return m, m.onStale(msg)
	case failedMsg:
		return m, m.onFailed(msg)
	case pairShownMsg:
		return m, m.onShown(msg)
	case sessionsLoadedMsg:
		return m, m.onSessions(msg)
	case namesLoadedMsg:
		return m, m.onNames(msg)
	case topicsChangedMsg:
		return m, m.onTopics(msg)
	case paneReadMsg:
		return m, m.onPaneRead(msg)
	case changeDoneMsg:
		return m, m.onChangeDone(msg)
	case editedMsg:
		return m, m.onEdited(msg)
	case ranMsg:
		return m, m.onRan(msg)
	case planMadeMsg:
		return m, m.onPlan(msg)
	case savedMsg:
		return m, m.onSaved(msg)
	case rolledBackMsg:
		return m, m.onRolledBack(msg)
	case renewedMsg:
		return m, m.onRenewed(msg)
	case pairsChangedMsg:
		return m, m.onPairsChanged(msg)
	case modelsLoadedMsg:
		return m, m.onModels(msg)
	case requestsLoadedMsg:
		return m, m.onRequests(msg)
	case copiedMsg:
		return m, m.onCopied(msg)
	case editorReadyMsg:
		return m, m.onEditorReady(msg)
	case filesReadMsg:
		return m, m.onFiles(msg)
	case filesListedMsg:
		return m, m.onFilesListed(msg)
	case editorClosedMsg:
		return m, m.onEditor(msg)
	case settingKeptMsg:
		return m, m.onSettingKept(msg)
	case burstRestedMsg:
		return m, m.onBurstRested(msg)
	case draftDueMsg:
		return m, m.onDraftDue()
	case draftKeptMsg:
		return m, m.onDraftKept(msg)
	case tickedMsg:
		return m, m.onTick()
	case forecastMadeMsg:
		return m, m.onForecast(msg)
	case edgeDueMsg:
		return m, m.onEdgeDue()
	case onceMoreDueMsg:
		return m, m.onOnceMoreDue()
	case idleMsg:
		return m, m.onIdle(msg)
	}
	return m, nil
}

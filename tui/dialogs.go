package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/checkpoint"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// askTool shows what a tool wants to do for good, and waits for the user.
func (m *Model) askTool(ask assistant.ConfirmRequest) {
	verb := oneLine(strings.ReplaceAll(ask.Tool, "_", " "))
	yes, _, _ := strings.Cut(verb, " ")
	lines := append(visibleLines(ask.Diff), "") // what is confirmed is what is shown
	m.question(overlay.Confirm, "The assistant wants to "+verb, lines, []overlay.Answer{{Key: "y", Label: yes}, {Key: "n", Label: "don't " + yes}}, "n", func(answer string) tea.Cmd {
		if err := m.work.Answer(ask.ID, answer == "y"); err != nil {
			m.notice.info("the turn was over already")
		}
		return nil
	})
}

// askOverBudget asks about a message that is estimated not to fit.
func (m *Model) askOverBudget(p assistant.Prompt) tea.Cmd {
	b := m.conv.boundary.at
	n := m.session.Settings().Budget.Estimate(p.Text)
	return m.question(overlay.Confirm, "This message is too long", []string{
		fmt.Sprintf("~%d tokens, with ~%d of the system prompt; the model takes %d.", n, b.SYS, b.ML),
		"This is an estimate: the model may take it all the same.",
		"Kept unsent, it stands in the conversation and can be asked again.",
	}, []overlay.Answer{{Key: "y", Label: "send anyway"}, {Key: "k", Label: "keep it unsent"}, {Key: "n", Label: "go on editing"}}, "n", func(answer string) tea.Cmd {
		switch answer {
		case "y":
			p.Force = true
		case "k":
		default:
			return nil
		}
		return m.startDraft(p)
	})
}

// askRecovery asks what to do with what a crash left behind.
func (m *Model) askRecovery() {
	r := m.opts.Recovery
	m.question(overlay.Confirm, "winnow stopped unexpectedly last time", r.Lines, []overlay.Answer{
		{Key: "r", Label: "recover"}, {Key: "d", Label: "discard the unsaved rules"},
	}, "r", func(answer string) tea.Cmd {
		if answer != "d" {
			return m.info("recovered; nothing is saved yet")
		}
		return m.perform(pane.Edit{Description: "Discard after a crash", Change: r.Discard})
	})
}

// openCheckpoints shows where one can go back to; it opens on "current".
func (p *pickers) openCheckpoints() tea.Cmd {
	list := p.session.Checkpoints()
	entries := []overlay.Entry{{Text: "current state", Mark: p.styles.Icons.Marked}}
	for _, c := range slices.Backward(list) {
		entries = append(entries, overlay.Entry{
			Value: c.ID, Text: p.clock(c.Time) + "  " + c.Description, More: c.Effect(),
			Mark: p.styles.Icons.Checkpoint, Extra: map[bool]string{true: "undone"}[c.Undone],
		})
	}
	picker := overlay.NewPicker("Checkpoints", entries, 0).WithKeys(
		"enter both · alt+r "+p.state()+" only · alt+c conversation only", "alt+r", "alt+c")
	return p.open(overlay.Checkpoints, picker, func(c overlay.Chosen) tea.Cmd {
		if c.Value == "" {
			return nil
		}
		scope := map[string]checkpoint.Scope{"alt+r": checkpoint.Rules, "alt+c": checkpoint.Conversation}[c.Key]
		return p.rollBack(c.Value, scope, rolledBack)
	})
}

// rolledBack is said of a step that was chosen from a list.
const rolledBack = "rolled back"

func (p *pickers) rollBack(id string, scope checkpoint.Scope, notice string) tea.Cmd {
	if p.session.Busy() {
		return p.fail(assistant.ErrBusy)
	}
	return p.change(rollBack(p.work, id, scope, notice))
}

// undo takes the newest change of the window back, whoever made it. It asks
// when that cuts the conversation.
func (p *pickers) undo() tea.Cmd {
	step, ok := p.work.UndoStep()
	switch {
	case p.session.Busy():
		return p.fail(assistant.ErrBusy)
	case !ok:
		return p.info("there is no change of the " + p.state() + " to undo")
	case !step.ByAssistant:
		return p.rollBack(step.ID, checkpoint.Rules, "undone: "+oneLine(step.Description))
	}
	lines := []string{
		p.clock(step.Time) + "  " + oneLine(step.Description), oneLine(step.Effect()), "",
		"With the conversation, " + map[bool]string{true: "1 pair leaves", false: fmt.Sprint(step.Pairs, " pairs leave")}[step.Pairs == 1] + " the view.",
		"The message that asked for it goes back to the input.",
	}
	if step.OtherSession {
		lines[2] = "It was made in another session."
	}
	return p.question(overlay.Confirm, "Undo the assistant's change?", lines, []overlay.Answer{
		{Key: "y", Label: p.state() + " and conversation"}, {Key: "r", Label: p.state() + " only"}, {Key: "n", Label: "don't undo"},
	}, "n", func(answer string) tea.Cmd {
		switch answer {
		case "y":
			return p.rollBack(step.ID, checkpoint.Both, rolledBack)
		case "r":
			return p.rollBack(step.ID, checkpoint.Rules, rolledBack)
		}
		return nil
	})
}

// newSession starts a new session; it asks when rules are unsaved.
func (m *Model) newSession() tea.Cmd { return switchSession(m.work, "") }

// openPalette lists every command.
func (m *Model) openPalette() tea.Cmd {
	var entries []overlay.Entry
	for _, a := range m.keys.actions {
		if a.title == "" || a.inside || m.plainChat() && (a.name == "save" || slices.Equal(a.modes, inPane)) {
			continue
		}
		var keys []string
		for _, in := range a.modes {
			for _, k := range m.shownKeys(in, a) {
				if !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
		entries = append(entries, overlay.Entry{Value: a.name, Text: a.title, Extra: strings.Join(keys, " ")})
	}
	return m.open(overlay.Palette, overlay.NewPicker("Commands", entries, 0), func(c overlay.Chosen) tea.Cmd {
		return m.runAction(c.Value)
	})
}

// runAction runs an action by its name, from wherever one is.
func (m *Model) runAction(name string) tea.Cmd {
	a := m.keys.named(name)
	switch {
	case a == nil:
		return nil
	case slices.Equal(a.modes, inPane):
		m.setMode(modePane)
	case slices.Equal(a.modes, inView):
		m.setMode(modeView)
	}
	return a.do(m)
}

// openNotices shows the notices, the newest first and whole.
func (p *pickers) openNotices() tea.Cmd {
	if len(p.notice.past) == 0 {
		return p.info("there was no notice yet")
	}
	var lines []string
	for _, n := range slices.Backward(p.notice.past) {
		text := p.styles.Overlay.Text
		if n.bad {
			text = p.styles.Footer.Bad
		}
		lines = append(lines, p.styles.Overlay.Muted.Render(n.at.Local().Format(time.TimeOnly))+"  "+text.Render(n.text))
	}
	return p.open(overlay.Notices, overlay.NewText("Notices", lines), nil)
}

// choose takes suggestion i of the newest answer.
func (m *Model) choose(i int) tea.Cmd {
	choices := m.conv.chat.Choices()
	if m.conv.welcomes() && i < len(m.opts.Examples) {
		m.work.EndReAsk()
		m.input.draft.Set(m.opts.Examples[i])
		m.setMode(modeInput)
		return m.input.draftChanged()
	}
	if i >= len(choices) {
		return m.info(fmt.Sprint("there is no suggestion ", i+1))
	}
	c := choices[i]
	switch {
	case c.Do != "":
		m.conv.chat.FocusLast()
		return m.keys.named(c.Do).do(m)
	case m.session.Busy():
		return m.fail(assistant.ErrBusy)
	case c.Payload != "":
		return m.decide(c.Payload, c.Accept)
	case c.Action == nil:
		return m.startPrompt(assistant.Prompt{Text: c.Value})
	case c.Action.Handler == "server":
		return m.startPrompt(m.work.ActionPrompt(*c.Action))
	}
	return m.clientAction(*c.Action)
}

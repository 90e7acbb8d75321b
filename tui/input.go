package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/composer"
	"winnow/tui/keymap"
	"winnow/tui/usecase"
)

// input is the state of INPUT mode: the message box, its completions, the outbox, and the
// stored draft.
type input struct {
	draft     *composer.Model
	ready     bool                 // startup is complete
	stores    bool                 // there is a history in which the draft is stored
	fitted    string               // the text for which the layout was computed
	list      composer.Completions // completions of word(), shown above the box
	outbox    []*outgoing          // messages waiting for files or the session, in order
	saved     string               // the draft as last stored
	explained bool                 // the user was told which key sends
	pasteTold bool                 // the user was told that a paste never sends
	editing   int64                // the pair whose message is in the box to be edited and asked again; 0 if none
	storing   struct {
		due   bool // a timer is running
		runs  bool // a draft is being stored
		again bool // the draft has changed since this write began
	}
}

// draftPause is the time from the first change to the draft until the draft is stored. The
// pause is well below the four seconds after which a draft is guaranteed to survive a crash.
const draftPause = 1500 * time.Millisecond

// onInput returns an action of the box.
func onInput(do func(*input) intent) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.carryOut(do(&m.input)) }
}

// write passes a key to the box.
func (i *input) write(k tea.KeyPressMsg) intent {
	i.draft.Key(k)
	return several{clearNotice{}, i.draftChanged(), i.offer()}
}

// newLine inserts a line break. If explain is set, a notice may say which key sends; see
// explainEnter.
func (i *input) newLine(explain bool) intent {
	i.draft.NewLine()
	if !explain {
		return i.draftChanged()
	}
	return several{i.draftChanged(), i.explainEnter()}
}

// explainEnter starts a timer if the user pressed enter after a single line. If the user
// then pauses, a notice says once which key sends, because the user may have meant to send
// the line.
func (i *input) explainEnter() intent {
	text := i.draft.Text()
	if line, ok := strings.CutSuffix(text, "\n"); i.explained || !ok || strings.TrimSpace(line) == "" || strings.Contains(line, "\n") {
		return nil
	}
	return run{tick(idlePause, enterDueMsg{text})}
}

func (i *input) onEnterDue(msg enterDueMsg) intent {
	if i.explained || i.draft.Text() != msg.text {
		return nil
	}
	i.explained = true
	return notify{keys: []clause{{"%s starts a new line", keymap.Newline}, {" · %s sends", keymap.Send}, {" · %s, “Settings”, swaps them", keymap.Palette}}}
}

// paste inserts pasted text into the box; line breaks in it never send.
func (i *input) paste(text string) intent {
	var said intent = clearNotice{}
	if hidden := i.draft.Paste(text); hidden > 0 {
		said = notify{text: safetext.Sprintf("removed %s from the pasted text", assistant.Counted(hidden, "invisible character"))}
	} else if !i.pasteTold && strings.HasSuffix(strings.ReplaceAll(text, "\r", "\n"), "\n") { // the user may expect the line break to send
		i.pasteTold = true
		said = notify{text: "pasted text does not send", keys: []clause{{" · %s sends", keymap.Send}}}
	}
	return several{said, i.draftChanged(), i.offer()}
}

// clear empties the box. Undo restores the text.
func (i *input) clear() intent {
	i.draft.Clear()
	var done safetext.Text = "cleared"
	if i.editing != 0 {
		done = "edit discarded, the message is unchanged"
	}
	return several{endReAsk{}, notify{text: done, keys: []clause{{" · %s brings the text back", keymap.UndoTyping}}}, i.storeDraft()}
}

func (i *input) undoTyping() intent {
	var said intent
	if !i.draft.Undo() {
		said = notify{text: "nothing to undo"}
	}
	return several{said, endReAsk{}, i.draftChanged()}
}

// recall returns the action that moves in the open list or, at the first or last line of
// the text, through sent messages; elsewhere in the text it moves the cursor.
func recall(step int) func(*Model) tea.Cmd {
	return onInput(func(i *input) intent {
		edge, walk := i.draft.AtFirstLine(), i.draft.Older
		if step > 0 {
			edge, walk = i.draft.AtLastLine(), i.draft.Newer
		}
		switch {
		case i.completing():
			i.list.Move(step)
		case edge && walk():
			return endReAsk{}
		default:
			i.draft.Move(step)
		}
		return nil
	})
}

// giveBack returns the text of a sent message to the box if the box is empty, and reports
// whether it was. Otherwise, the text can be recalled from the sent messages.
func (i *input) giveBack(text string) (wasEmpty bool) {
	if wasEmpty = i.draft.Empty(); wasEmpty {
		i.draft.Set(text)
	}
	return wasEmpty
}

// giveBackUnsent is giveBack for a text that was never sent: if the box is not empty, the
// text goes to the stash, from which it can be recalled.
func (i *input) giveBackUnsent(text string) (wasEmpty bool) {
	if wasEmpty = i.giveBack(text); !wasEmpty {
		i.draft.AddToStash(text)
	}
	return wasEmpty
}

// restoreDraft puts the stored draft into an empty box. If something has been typed, the
// draft goes to the stash, from which it can be recalled.
func (i *input) restoreDraft(stored string) {
	if stored != "" && i.giveBackUnsent(stored) {
		i.saved = stored
	}
}

// draftChanged stores the draft once draftPause has passed since the first change not yet
// stored, even if the user is still typing. An emptied draft no longer replaces a failed
// message.
func (i *input) draftChanged() intent {
	var todo several
	if i.draft.Empty() {
		todo = append(todo, endReAsk{})
	}
	if !i.storing.due && (i.stores || !i.ready) {
		i.storing.due = true
		todo = append(todo, run{tick(draftPause, draftDueMsg{})})
	}
	return todo
}

func (i *input) onDraftDue() intent {
	i.storing.due = false
	if i.draft.Text() == i.saved {
		return nil
	}
	return i.storeDraft()
}

// waitingTexts returns the messages in the outbox.
func (i *input) waitingTexts() (texts []string) {
	for _, o := range i.outbox {
		texts = append(texts, o.typed)
	}
	return texts
}

// drafted returns the draft to store: box, stash and outbox.
func (i *input) drafted() history.Draft {
	return history.Draft{Text: i.draft.Text(), Stash: append(slices.Clone(i.draft.Stash()), i.waitingTexts()...)}
}

// storeDraft stores the draft. Only one write runs at a time, so that an older draft never
// overwrites a newer one.
func (i *input) storeDraft() intent {
	if i.storing.runs || !i.stores {
		i.storing.again = i.storing.runs
		return nil
	}
	i.storing.runs = true
	return storeDraft{i.drafted()}
}

// onDraftStored stores the draft again if it has changed since.
func (i *input) onDraftStored(o usecase.DraftStored) intent {
	if !i.storing.runs {
		return nil
	}
	again := i.storing.again
	i.storing.runs, i.storing.again = false, false
	if o.Err != nil {
		return showError{fmt.Errorf("the draft could not be stored: %w", o.Err)}
	}
	if i.saved = o.Draft.Text; again {
		return i.storeDraft()
	}
	return nil
}

// word returns what the list above the box completes: a command being typed, or else the
// @word before the cursor; "" if there is neither.
func (i *input) word() string {
	if text := i.draft.Shown(); strings.HasPrefix(text, "/") && i.draft.Before() == text {
		return text
	}
	if word := i.draft.Word(); strings.HasPrefix(word, "@") {
		return word
	}
	return ""
}

// completing reports whether the list above the box is visible.
func (i *input) completing() bool { return i.draft.Focused() && i.list.Open(i.word()) }

// listing reports whether the entries of the list are still being read.
func (i *input) listing() bool { return i.draft.Focused() && i.list.Reading(i.word()) }

// offer opens the list for the current word: after a slash, commands and their arguments;
// after an @, files and names from the pane, such as rules and models.
func (i *input) offer() intent {
	word := i.word()
	stem, _ := composer.SplitMention(word)
	if strings.HasPrefix(word, "/") {
		stem = composer.CommandStem(word)
	}
	if !i.list.Typed(word, stem) {
		return nil
	}
	return completeWord{word}
}

// onSuggested shows the completions of a word, or inserts the first one if the user has already
// accepted it. It does nothing if a different word is now before the cursor.
func (i *input) onSuggested(msg suggestedMsg) intent {
	if i.list.Show(msg.word, msg.entries, 0) {
		return i.acceptEntry()
	}
	return nil
}

// acceptEntry inserts the selected entry into the box, and then lists what can follow the
// entry: the contents of a folder, or the arguments of a command.
func (i *input) acceptEntry() intent {
	if !i.completing() {
		return nil
	}
	word, text := i.word(), i.list.Accept()
	if strings.HasPrefix(word, "@") && !strings.HasSuffix(text, "/") {
		text += " "
	}
	i.draft.ReplaceBefore(utf8.RuneCountInString(word), text)
	return several{i.draftChanged(), i.offer()}
}

// acceptsCommand reports whether enter accepts an entry of the list of commands.
func (i *input) acceptsCommand() bool {
	return i.completing() && i.list.At >= 0 && strings.HasPrefix(i.word(), "/")
}

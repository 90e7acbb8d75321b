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
	"winnow/tui/composer"
	"winnow/tui/keymap"
	"winnow/tui/slash"
	"winnow/tui/usecase"
)

// input is INPUT: the box in which a message is written, the list of what completes it, the
// outbox, and the stored draft.
type input struct {
	draft     *composer.Model
	ready     bool                 // the start is over
	stores    bool                 // there is a history, which keeps the draft
	fitted    string               // the text that the layout was made for
	list      composer.Completions // above the box, for what word is
	outbox    []*outgoing          // messages that wait for files or for the session, in order
	saved     string               // the draft as stored last
	explained bool                 // which key sends has been said
	storing   struct {
		due   bool // a timer runs
		runs  bool // a draft is being stored
		again bool // it is out of date already
	}
}

// draftPause is how long after a change the draft is stored: well under the four
// seconds after which a draft is promised to survive a crash.
const draftPause = 1500 * time.Millisecond

// onInput is an action of the box.
func onInput(do func(*input) intent) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.carryOut(do(&m.input)) }
}

// write gives the box a key.
func (i *input) write(k tea.KeyPressMsg) intent {
	i.draft.Key(k)
	return several{clearNotice{}, i.draftChanged(), i.offer()}
}

// newLine breaks the line; enterSends says that another key is meant to do so.
func (i *input) newLine(enterSends bool) intent {
	i.draft.NewLine()
	if enterSends {
		return i.draftChanged()
	}
	return several{i.draftChanged(), i.explainEnter()}
}

// explainEnter says once which key sends, when a draft of one line rests on enter: the
// user may have meant to send it.
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
	return notify{keys: []clause{{"%s breaks the line", keymap.Newline}, {" · %s sends", keymap.Send}, {" · %s, “Settings”, swaps them", keymap.Palette}}}
}

// paste puts pasted text into the box; line breaks in it never send.
func (i *input) paste(text string) intent {
	var said intent = clearNotice{}
	if hidden := i.draft.Paste(text); hidden > 0 {
		said = notify{text: assistant.Counted(hidden, "invisible character") + " left out of the paste"}
	}
	return several{said, i.draftChanged(), i.offer()}
}

// clear empties the box; the key that undoes typing brings the text back.
func (i *input) clear() intent {
	i.draft.Clear()
	return several{endReAsk{}, notify{text: "cleared", keys: []clause{{" · %s brings it back", keymap.UndoTyping}}}, i.storeDraft()}
}

func (i *input) undoTyping() intent {
	var said intent
	if !i.draft.Undo() {
		said = notify{text: "nothing to undo"}
	}
	return several{said, endReAsk{}, i.draftChanged()}
}

// recall is the action that moves in the open list, else, at the edge of the text,
// through sent messages, else moves the cursor.
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

// giveBack returns text to an empty box; the sent history has it in any case.
func (i *input) giveBack(text string) {
	if i.draft.Empty() {
		i.draft.Set(text)
	}
}

// restoreDraft puts the stored draft into an empty box. When something was typed
// already it goes to the stash, from which it can be recalled.
func (i *input) restoreDraft(stored string) {
	switch {
	case stored == "":
	case i.draft.Empty():
		i.draft.Set(stored)
		i.saved = stored
	default:
		i.draft.SetStash(append(i.draft.Stash(), stored))
	}
}

// draftChanged stores the draft draftPause after its first change, even if the user
// still types. A draft that was emptied no longer replaces a failed message.
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

// waitingTexts are the messages in the outbox.
func (i *input) waitingTexts() (texts []string) {
	for _, o := range i.outbox {
		texts = append(texts, o.typed)
	}
	return texts
}

// drafted is the draft to store: box, stash and outbox.
func (i *input) drafted() history.Draft {
	return history.Draft{Text: i.draft.Text(), Stash: append(slices.Clone(i.draft.Stash()), i.waitingTexts()...)}
}

// storeDraft stores the draft, one write at a time: an older one must not be written
// last.
func (i *input) storeDraft() intent {
	if i.storing.runs || !i.stores {
		i.storing.again = i.storing.runs
		return nil
	}
	i.storing.runs = true
	return storeDraft{i.drafted()}
}

// onDraftStored stores what was written since.
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

// word is what the list above the box completes: a command that is being typed, else the
// @word before the cursor; "" for none.
func (i *input) word() string {
	if text := i.draft.Shown(); strings.HasPrefix(text, "/") && i.draft.Before() == text {
		return text
	}
	if word := i.draft.Word(); strings.HasPrefix(word, "@") {
		return word
	}
	return ""
}

// completing reports whether the list is on the screen.
func (i *input) completing() bool { return i.draft.Focused() && i.list.Open(i.word()) }

// listing reports whether the list is being read.
func (i *input) listing() bool { return i.draft.Focused() && i.list.Reading(i.word()) }

// offer opens the list for what is typed: commands and their arguments after a slash,
// files and names of the pane, such as rules and models, after an @.
func (i *input) offer() intent {
	word := i.word()
	stem, _ := composer.SplitMention(word)
	if strings.HasPrefix(word, "/") {
		stem = slash.Stem(word)
	}
	if !i.list.Typed(word, stem) {
		return nil
	}
	return completeWord{word}
}

// onSuggested shows what completes a word, if it is still the word before the cursor.
func (i *input) onSuggested(msg suggestedMsg) intent {
	if i.list.Show(msg.word, msg.entries, 0) {
		return i.acceptEntry()
	}
	return nil
}

// acceptEntry puts the selected entry into the box, and then lists what can follow it: of
// a folder what is inside, of a command its arguments.
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

package overlay_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/chat"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// bindable is an overlay whose keys can be bound: how it is opened and brought to a place
// where each of its actions does something.
type bindable struct {
	modes  []string // of its keys
	open   func() overlay.Overlay
	before []keymap.Key
	hinted []keymap.Action // that its hints name
	idle   []keymap.Action // that do nothing here
}

// lists are the actions that the hints of a list name.
var lists = []keymap.Action{keymap.LineUp, keymap.LineDown, keymap.LineAccept, keymap.LineClose}

func list(mode keymap.Mode, name string, offers ...keymap.Action) bindable {
	hints := []keymap.Hint{keymap.To("selects", keymap.LineAccept)}
	for _, a := range offers {
		hints = append(hints, keymap.To("does "+string(a), a))
	}
	return bindable{modes: []string{"line", "list", name}, before: []keymap.Key{"down", "down", "down"}, hinted: append(slices.Clone(lists), offers...), open: func() overlay.Overlay {
		entries := make([]overlay.Entry, 60)
		for i := range entries {
			entries[i] = overlay.Entry{Value: fmt.Sprint(i), Text: fmt.Sprint("entry ", i)}
		}
		return overlay.NewPicker("list", entries, 20).Offer(mode, hints...)
	}}
}

func question(mode string, answers ...keymap.Action) bindable {
	all := make([]overlay.Answer, len(answers))
	for i, a := range answers {
		all[i] = overlay.Answer{Action: a, Label: "says " + string(a)}
	}
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	others := []keymap.Action{keymap.AnswerYes, keymap.AnswerNo, keymap.AnswerSave, keymap.AnswerKeep, keymap.AnswerDiscard, keymap.AnswerTheirs, keymap.AnswerEdit}
	return bindable{modes: []string{"question", mode}, hinted: append([]keymap.Action{keymap.AnswerMarked, keymap.AnswerCancel}, answers...), idle: slices.DeleteFunc(others, func(a keymap.Action) bool { return slices.Contains(answers, a) }), open: func() overlay.Overlay {
		return overlay.NewQuestion("Well?", []string{"line"}, all, answers[0], func() time.Time { at = at.Add(time.Second); return at })
	}}
}

func text() []string {
	lines := make([]string, 200)
	for i := range lines {
		lines[i] = fmt.Sprint("line ", i)
	}
	return lines
}

var bindables = map[string]bindable{
	"list":        list(keymap.List, "list"),
	"models":      list(keymap.ModelList, "models", keymap.FavouriteModel),
	"sessions":    list(keymap.SessionList, "sessions", keymap.ShowSession),
	"checkpoints": list(keymap.CheckpointList, "checkpoints", keymap.RollBackState, keymap.RollBackConversation),
	"topics":      list(keymap.TopicList, "topics", keymap.NewTopic, keymap.RenameTopic, keymap.DeleteTopic),
	"settings":    list(keymap.SettingList, "settings", keymap.PreviousValue, keymap.NextValue),
	"filters":     list(keymap.FilterList, "filters", keymap.ForgetFilter),
	"line": {
		modes: []string{"line", "editing"}, before: []keymap.Key{"left", "left", "left"}, hinted: []keymap.Action{keymap.LineAccept, keymap.LineClose},
		idle: []keymap.Action{keymap.LineUp, keymap.LineDown, keymap.LinePageUp, keymap.LinePageDown, keymap.EditUp, keymap.EditDown},
		open: func() overlay.Overlay { return overlay.NewLine("Name", "two or more words", "a hint") },
	},
	"text": {
		modes: []string{"text"}, before: []keymap.Key{"pgdown", "pgdown"}, hinted: []keymap.Action{keymap.TextUp, keymap.TextDown, keymap.TextClose},
		open: func() overlay.Overlay { return overlay.NewText("Text", text()) },
	},
	"request": {
		modes: []string{"text", "request"}, before: []keymap.Key{"g", "enter", "/", "w", "o", "r", "d", "enter", "n", "n"},
		hinted: []keymap.Action{keymap.TextUp, keymap.TextDown, keymap.TextClose, keymap.FoldSection, keymap.FoldSections, keymap.SearchRequest, keymap.ShowBytes, keymap.CopyRequest, keymap.OlderRequest, keymap.NewerRequest},
		open: func() overlay.Overlay {
			long := strings.Repeat(`a word\n`, 100)
			return chat.NewRequestView("Request", []byte(`{"model":"m","messages":[{"role":"system","content":"`+long+`"},{"role":"user","content":"`+long+`"}]}`), func(s string) int { return len(s) }, true)
		},
	},
	"question":      question("question", keymap.AnswerYes, keymap.AnswerSave, keymap.AnswerKeep, keymap.AnswerDiscard, keymap.AnswerTheirs, keymap.AnswerEdit, keymap.AnswerNo),
	"of the queue":  question("queue", keymap.AnswerEdit, keymap.AnswerSend, keymap.AnswerDiscard),
	"of an undo":    question("undo", keymap.AnswerYes, keymap.AnswerStateOnly, keymap.AnswerNo),
	"of a recovery": question("recovery", keymap.AnswerRecover, keymap.AnswerDiscard),
}

// shown is what an overlay shows, with its hints.
func shown(o overlay.Overlay) string {
	x, y, _ := o.Cursor()
	return ansi.Strip(strings.Join(o.Body(120, 20, style.New(style.Options{Unicode: true})), "\n")) + fmt.Sprint("\n", o.Position(), " ", x, y, " ", o.Hints())
}

// opened is an overlay with a row bound to other keys, brought to its place.
func (b bindable) opened(t *testing.T, rebind ...keymap.Rebind) overlay.Overlay {
	t.Helper()
	o := b.open()
	shown(o)
	for _, k := range b.before {
		name := ""
		if len(k) == 1 {
			name = string(k)
		}
		o.Key(k, name)
		shown(o)
	}
	keys, err := keymap.New(false, rebind)
	if err != nil {
		t.Fatal(err)
	}
	var s overlay.Stack
	s.SetKeys(keys)
	s.Push(overlay.Help, o)
	return o
}

// Each action of each overlay does by another key what it does by its own, no longer by its
// own, and the hints name the other key.
func TestTheKeysOfOverlaysCanBeBound(t *testing.T) {
	uses, err := keymap.Uses(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range bindables {
		var hinted []keymap.Action
		for _, u := range uses {
			a := keymap.Action(u.Action)
			if !slices.Contains(b.modes, strings.ToLower(u.Mode)) || slices.Contains(b.idle, a) {
				continue
			}
			own := (*keymap.Map)(nil).Key(0, a) // as hints write it
			other := keymap.Key(strings.Repeat("¤", ansi.StringWidth(own)))
			bind := func(keys ...string) keymap.Rebind {
				return keymap.Rebind{Mode: u.Mode, Action: u.Action, Keys: keys}
			}
			before, byOwn, byOther, unbound := shown(b.opened(t)), b.opened(t), b.opened(t, bind(string(other))), b.opened(t, bind())
			if isHinted := shown(unbound) != before; isHinted {
				hinted = append(hinted, a)
				if !strings.Contains(shown(byOther), string(other)) {
					t.Errorf("%s: the hints do not name the key of %s:\n%s", name, a, shown(byOther))
				}
			}
			want, got := byOwn.Key(keymap.Key(u.Keys[0]), ""), byOther.Key(other, "")
			after := shown(byOwn)
			if before == after && reflect.DeepEqual(want, overlay.Stay{}) {
				t.Errorf("%s: %s does nothing", name, a)
			}
			if shownAfter := strings.ReplaceAll(shown(byOther), string(other), own); shownAfter != after || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: by another key %s is %#v, want %#v; it shows\n%s\nwant\n%s", name, a, got, want, shownAfter, after)
			}
			if out := unbound.Key(keymap.Key(u.Keys[0]), ""); !reflect.DeepEqual(want, overlay.Stay{}) && reflect.DeepEqual(out, want) {
				t.Errorf("%s: %s is still done by %s", name, a, u.Keys[0])
			}
		}
		slices.Sort(hinted)
		if slices.Sort(b.hinted); !slices.Equal(slices.Compact(hinted), b.hinted) {
			t.Errorf("%s: the hints name %q, want %q", name, hinted, b.hinted)
		}
	}
}

// An overlay that covers the footer, where the hints are, has the way out in its border.
func TestTheBorderHasTheWayOutWhereTheFooterIsCovered(t *testing.T) {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	lines := strings.Split(strings.Repeat("line\n", 40), "\n")
	for name, o := range map[string]overlay.Overlay{
		"a text":     overlay.NewText("Text", lines),
		"a list":     overlay.NewPicker("List", []overlay.Entry{{Text: "one"}}, 0).WithColumns(10),
		"a question": overlay.NewQuestion("Sure?", lines, []overlay.Answer{{Action: keymap.AnswerYes, Label: "go on"}, {Action: keymap.AnswerNo, Label: "stay"}}, keymap.AnswerNo, time.Now),
	} {
		var s overlay.Stack
		s.Push(overlay.Help, o)
		for _, h := range []int{12, 24, 60} {
			view, _, y := s.View(40, h, st)
			rows := strings.Split(ansi.Strip(view), "\n")
			last := rows[len(rows)-1]
			covered, way := y+len(rows) == h, overlay.FitHints(s.Hints(), 0)
			if has := strings.Contains(last, "╰─ "+way+" ─"); has != covered || !strings.Contains(way, "esc") {
				t.Errorf("%s on %d lines ends with %q; the way out is %q, the footer covered %v", name, h, last, way, covered)
			}
			if ansi.StringWidth(last) != ansi.StringWidth(rows[0]) {
				t.Errorf("%s on %d lines has a crooked border:\n%s", name, h, ansi.Strip(view))
			}
		}
	}
}

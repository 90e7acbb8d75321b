// Package servetest provides a hub for tests of servers.
//
// A Rig is a hub whose window is the word list of package assistanttest, with a real journal and history in a temporary
// folder. The hub is closed at the end of the test, after all cleanups that the test registers later, such as closing a
// server.
package servetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/checkpoint"
)

// closeTimeout limits how long closing a hub may take.
const closeTimeout = 10 * time.Second

// Options configures Start. Only Model is required.
type Options struct {
	Dir    string // the folder of the journal and the history; "" means a temporary folder
	Name   string // name of the model of provider test; "" means script. The model test/other always exists as well
	Model  llm.Model
	Change func(*serve.Options) // changes the options of the hub, including window and history; may be nil
	Clock  func() time.Time     // nil means time.Now
}

// Rig is a hub and its parts.
type Rig struct {
	*serve.Hub
	Words   *Words // the window, unless Options.Change replaced it
	History history.Store
	Path    string // the path of the journal
}

// Start returns a hub without sessions.
func Start(t testing.TB, o Options) *Rig {
	t.Helper()
	dir := o.Dir
	if dir == "" {
		dir = t.TempDir()
	}
	r := &Rig{Words: &Words{Window: at.NewWindow("one")}, Path: filepath.Join(dir, "journal", "log")}
	r.Words.Slow = at.NewGate()
	journal, err := checkpoint.Open(r.Path, checkpoint.Options{Now: o.Clock, Author: func() (user, session string) {
		if r.Hub == nil {
			return "", ""
		}
		return r.Author()
	}})
	must(t, err)
	file, err := sqlite.Open(context.Background(), filepath.Join(dir, "data", "history.db"), sqlite.Options{Now: o.Clock})
	must(t, err)
	registry, name := &llm.Registry{}, "test/"+cmp.Or(o.Name, "script")
	must(t, registry.Add(llm.Provider{Name: "test", Model: o.Model, Known: []llm.ModelInfo{
		{ID: name, Context: 100_000, Known: true, Tools: true}, {ID: "test/other", Context: 100_000, Known: true, Tools: true},
	}}))
	options := serve.Options{
		Registry: registry, History: file, Folder: dir, Window: "words",
		Session: assistant.Options{Window: r.Words, Journal: journal, Model: name, Now: o.Clock},
	}
	if o.Change != nil {
		o.Change(&options)
	}
	r.History, r.Hub = options.History, serve.NewHub(options)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := errors.Join(r.Close(ctx), file.Close(), journal.Close(), r.Words.Fault()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// savedPath stands for the file of the word list in digests and in the results of saves.
const savedPath = "words"

// Words is the word list with a saved state, so that changes to it can be saved and discarded.
type Words struct {
	*at.Window
	Conflict *assistant.Conflict // the conflict that the next save returns; nil means no conflict
	Warning  safetext.Text       // the warning that each save returns
}

// Dirty implements assistant.Saver.
func (w *Words) Dirty() bool { return !slices.Equal(w.Words(), w.Saved()) }

// PlanSave implements assistant.Saver. The plan contains the changes of all users.
func (w *Words) PlanSave(context.Context, string) (assistant.SavePlan, error) {
	return w.PlanDiscard(""), nil
}

// PlanDiscard implements assistant.Saver.
func (w *Words) PlanDiscard(string) assistant.SavePlan {
	p := assistant.SavePlan{Changes: []assistant.Change{}}
	for _, word := range w.Words() {
		if !slices.Contains(w.Saved(), word) {
			p.Changes = append(p.Changes, assistant.Change{Title: "word", After: word})
		}
	}
	p.Digest = assistant.Digest(savedPath, p.Changes)
	return p
}

// Mark implements assistant.Proposer.
func (w *Words) Mark() (restore func() error) {
	was, err := w.State()
	return func() error { return errors.Join(err, w.Apply(was)) }
}

// Proposals implements assistant.Proposer: it returns a word_proposal for each new word.
func (w *Words) Proposals(before, after json.RawMessage) (out []assistant.Payload, err error) {
	var was, is struct{ Words []string }
	if err := errors.Join(json.Unmarshal(before, &was), json.Unmarshal(after, &is)); err != nil {
		return nil, err
	}
	for _, word := range is.Words {
		if !slices.Contains(was.Words, word) {
			raw, err := json.Marshal(map[string]string{"word": word})
			if err != nil {
				return nil, err
			}
			out = append(out, assistant.Payload{Type: "word_proposal", Data: raw, Summary: "add " + word})
		}
	}
	return out, nil
}

// Save implements assistant.Saver.
func (w *Words) Save(ctx context.Context, basis assistant.Basis) (assistant.Saved, error) {
	if w.Conflict != nil {
		return assistant.Saved{}, w.Conflict
	}
	plan := w.PlanDiscard("")
	if basis.Digest != "" && basis.Digest != plan.Digest {
		return assistant.Saved{}, &assistant.PlanChanged{Plan: plan}
	}
	for _, tool := range w.Tools() {
		if tool.Name == "save_words" {
			tool.Run(ctx, json.RawMessage("{}"))
		}
	}
	return assistant.Saved{Path: savedPath, Written: true, Changes: plan.Changes, Warning: w.Warning}, nil
}

// Discard implements assistant.Saver.
func (w *Words) Discard(basis assistant.Basis) (lost []assistant.Change, err error) {
	plan := w.PlanDiscard("")
	if basis.Digest != "" && basis.Digest != plan.Digest {
		return nil, &assistant.PlanChanged{Plan: plan}
	}
	state, err := json.Marshal(map[string]any{"words": w.Saved()})
	if err != nil {
		return nil, err
	}
	return plan.Changes, w.Apply(state)
}

// Obedient is a model that does what the last message requests: "call TOOL WORD; TOOL; …" calls tools; the model
// repeats any other message. After tool results it answers "done".
type Obedient struct{}

// Stream implements llm.Model.
func (Obedient) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	last := req.Messages[len(req.Messages)-1]
	return func(yield func(llm.Part, error) bool) {
		text, end := last.Content, llm.End{Finish: "stop"}
		calls, asks := strings.CutPrefix(text, "call ")
		switch {
		case last.Role == llm.RoleTool:
			text = "done"
		case asks:
			text, end.Finish = "", "tool_calls"
			for i, call := range strings.Split(calls, "; ") {
				tool, word, hasWord := strings.Cut(call, " ")
				args := "{}"
				if hasWord {
					args = fmt.Sprintf(`{"word":%q}`, word)
				}
				end.Calls = append(end.Calls, llm.Call{ID: fmt.Sprint("c", i), Name: tool, Arguments: args})
			}
		}
		if yield(llm.Text{Text: safetext.Clean(text)}, nil) {
			yield(end, nil)
		}
	}
}

// Encode implements llm.Model.
func (Obedient) Encode(req llm.Request) (json.RawMessage, error) { return json.Marshal(req) }

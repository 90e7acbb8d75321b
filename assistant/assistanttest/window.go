package assistanttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// Window is an assistant.Window for tests, a list of words. Its tools are
//
//	list_words, count_words      read
//	add_word                     write, {"word": "…"}; fails if the word exists
//	save_words                   write, lasting: saves the words
//	fail, panic                  write, fail or panic and change nothing
//	slow                         read, waits until Slow is opened or the call ends
//	progress                     read, reports progress twice
//
// Set the exported fields before use. The zero value is an empty window.
type Window struct {
	Instructions string // returned by Describe
	Slow         *Gate  // where the tool slow waits; nil waits until the call ends
	BreakContext error  // returned by Context; nil for success
	BreakState   error  // returned by State
	BreakApply   error  // returned by Apply

	mu      sync.Mutex
	words   []string
	saved   []string
	locked  bool
	locks   int
	fault   error
	changes []assistant.Entry
	runs    []string
}

var (
	_ assistant.Window = (*Window)(nil)
	_ sync.Locker      = (*Window)(nil)
	_ assistant.Log    = (*Window)(nil)
)

// NewWindow returns a window with these words, saved.
func NewWindow(words ...string) *Window {
	return &Window{words: slices.Clone(words), saved: slices.Clone(words)}
}

// Words returns the words.
func (w *Window) Words() []string { return w.read(func() []string { return w.words }) }

// Saved returns the last saved words.
func (w *Window) Saved() []string { return w.read(func() []string { return w.saved }) }

// Runs returns the tools that have run, in order, with their word: "add_word cat".
func (w *Window) Runs() []string { return w.read(func() []string { return w.runs }) }

func (w *Window) read(list func() []string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(list())
}

// Locked reports whether the window is locked.
func (w *Window) Locked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.locked
}

// Locks counts how often the window was locked.
func (w *Window) Locks() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.locks
}

// Fault returns how Lock and Unlock were misused, or nil if they were paired.
func (w *Window) Fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}

// Type adds a word as the user would. It fails while the window is locked.
func (w *Window) Type(word string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locked {
		return errors.New("assistant is working")
	}
	w.words = append(w.words, word)
	w.changes = append(w.changes, assistant.NewEntry("word_added", time.Now(), map[string]any{"word": word}))
	return nil
}

// Context returns the words, and whether they have unsaved changes.
func (w *Window) Context() (any, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.BreakContext != nil {
		return nil, w.BreakContext
	}
	return map[string]any{"words": slices.Concat([]string{}, w.words), "unsaved": !slices.Equal(w.words, w.saved)}, nil
}

// Describe returns Instructions, or a default sentence.
func (w *Window) Describe() string {
	if w.Instructions != "" {
		return w.Instructions
	}
	return "You keep a list of words."
}

// State returns the words.
func (w *Window) State() (json.RawMessage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.BreakState != nil {
		return nil, w.BreakState
	}
	return json.Marshal(windowState{slices.Concat([]string{}, w.words)})
}

type windowState struct {
	Words []string `json:"words"`
}

// Apply restores the words.
func (w *Window) Apply(state json.RawMessage) error {
	var s windowState
	if err := json.Unmarshal(state, &s); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.BreakApply != nil {
		return w.BreakApply
	}
	w.words = s.Words
	return nil
}

// Lock locks the window; see Fault.
func (w *Window) Lock() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locked {
		w.fault = errors.New("locked twice")
	}
	w.locked = true
	w.locks++
}

// Unlock unlocks the window; see Fault.
func (w *Window) Unlock() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.locked {
		w.fault = errors.New("unlocked while not locked")
	}
	w.locked = false
}

// Changes returns what Type has done.
func (w *Window) Changes(mark int64) ([]assistant.Entry, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := int64(len(w.changes))
	return slices.Clone(w.changes[min(max(mark, 0), n):]), n
}

// record stores a run of a tool and makes its change, if any, under the lock.
func (w *Window) record(run string, change func() assistant.ToolResult) (r assistant.ToolResult) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, run)
	if change != nil {
		r = change()
	}
	return r
}

type wordArgs struct {
	Word string `json:"word" jsonschema:"one word"`
}

type noArgs struct{}

// Tools returns the tools listed in the comment of Window, all global.
func (w *Window) Tools() []assistant.Tool {
	tools := []assistant.Tool{
		assistant.NewTool("list_words", "List the words.", w.list),
		assistant.NewTool("count_words", "Count the words.", w.count),
		writes(assistant.NewTool("add_word", "Add a word.", w.add)),
		w.save(),
		writes(assistant.NewTool("fail", "Fails.", w.fail)),
		writes(assistant.NewTool("panic", "Panics.", w.panic)),
		assistant.NewTool("slow", "Takes its time.", w.slow),
		assistant.NewTool("progress", "Reports progress.", w.progress),
	}
	for i := range tools {
		tools[i].Global = true
	}
	return tools
}

func writes(t assistant.Tool) assistant.Tool {
	t.Write = true
	return t
}

func (w *Window) list(context.Context, noArgs) (assistant.ToolResult, error) {
	return w.record("list_words", func() assistant.ToolResult {
		return assistant.OK(fmt.Sprintf("%d words", len(w.words)), map[string]any{"words": slices.Concat([]string{}, w.words)})
	}), nil
}

func (w *Window) count(context.Context, noArgs) (string, error) {
	r := w.record("count_words", func() assistant.ToolResult { return assistant.OK(fmt.Sprint(len(w.words)), nil) })
	return r.Message, nil
}

func (w *Window) add(_ context.Context, a wordArgs) (assistant.ToolResult, error) {
	return w.record("add_word "+a.Word, func() assistant.ToolResult {
		if slices.Contains(w.words, a.Word) {
			return assistant.Fail(assistant.CodeFailed, "%q already exists", a.Word)
		}
		w.words = append(w.words, a.Word)
		return assistant.OK("added "+a.Word, map[string]any{"words": len(w.words)})
	}), nil
}

func (w *Window) save() assistant.Tool {
	t := writes(assistant.NewTool("save_words", "Save the words.", func(context.Context, noArgs) (assistant.ToolResult, error) {
		return w.record("save_words", func() assistant.ToolResult {
			w.saved = slices.Clone(w.words)
			return assistant.OK("saved", nil)
		}), nil
	}))
	t.Lasting = true
	t.Preview = func(context.Context, json.RawMessage) (assistant.Preview, error) {
		words, saved := w.Words(), w.Saved()
		return assistant.Preview{
			Text: safetext.Sprintf("-%s\n+%s", strings.Join(saved, " "), strings.Join(words, " ")), Ask: !slices.Equal(words, saved),
		}, nil
	}
	return t
}

func (w *Window) fail(context.Context, noArgs) (string, error) {
	w.record("fail", nil)
	return "", errors.New("this tool always fails")
}

func (w *Window) panic(context.Context, noArgs) (string, error) {
	w.record("panic", nil)
	panic("this tool always panics")
}

func (w *Window) slow(ctx context.Context, _ noArgs) (string, error) {
	w.record("slow", nil)
	gate := w.Slow
	if gate == nil {
		gate = NewGate()
	}
	return "at last", gate.Pass(ctx)
}

func (w *Window) progress(ctx context.Context, _ noArgs) (string, error) {
	w.record("progress", nil)
	assistant.Report(ctx, assistant.Progress{Stage: "half", Message: "half of it", Done: 0.5})
	assistant.Report(ctx, assistant.Progress{Stage: "done", Message: "all of it", Done: 1})
	return "done", nil
}

package assistant_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/checkpoint"
)

// visit is one run of a program that keeps its history and its journal in a folder: it
// continues the session named id, or begins one if id is "", sends a message and ends.
func visit(ctx context.Context, dir, id, text string, script *at.Script) (session string, err error) {
	store, err := sqlite.Open(ctx, filepath.Join(dir, "history.db"), sqlite.Options{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, store.Close()) }() // after the session and the journal
	journal, err := checkpoint.Open(filepath.Join(dir, "journal", "house"), checkpoint.Options{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()

	h, pages, registry := &house{open: "lamp"}, &assistant.Pages{}, &llm.Registry{}
	if state := journal.Current(); state != nil { // the house stores nothing itself
		if err := h.Apply(state); err != nil {
			return "", err
		}
	}
	if err := errors.Join(h.register(pages), registry.Add(llm.Provider{Name: "house", Model: script})); err != nil {
		return "", err
	}
	s, err := assistant.NewSession(registry, assistant.Options{
		ID: id, Window: h, Pages: pages, Store: store, Journal: journal, Model: "house/butler",
	})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }() // first: it still needs both
	if err := errors.Join(s.Start(ctx), s.LoadView(ctx)); err != nil {
		return "", err
	}
	fmt.Printf("lamp %d %%, messages in view %d\n", h.Lamp, len(s.Visible()))
	after, err := s.Begin(ctx, assistant.Prompt{Text: text})
	if err != nil {
		return "", err
	}
	for e := range s.Events(ctx, after) {
		if failed, ok := e.(assistant.Error); ok {
			return "", errors.New(failed.Message)
		}
	}
	return s.ID(), nil
}

// A second run of a program goes on where the first one ended: the journal has the state of
// the window, the store the messages.
func ExampleSession_Start() {
	dir, err := os.MkdirTemp("", "house")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	dim := at.Answer{at.Call{Name: "dim_lamp", Arguments: `{"percent": 40}`}}
	id, err := visit(ctx, dir, "", "Dim it.", at.NewScript(dim, at.Answer{at.Say("Done.")}))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := visit(ctx, dir, id, "Thanks.", at.NewScript(at.Answer{at.Say("Good night.")})); err != nil {
		log.Fatal(err)
	}
	// Output:
	// lamp 0 %, messages in view 0
	// lamp 40 %, messages in view 1
}

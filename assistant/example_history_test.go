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

// With a Store the messages last, with a Journal the changes can be undone: here in one
// rollback of window and conversation.
func ExampleSession_Rollback() {
	dir, err := os.MkdirTemp("", "house")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "history.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	journal, err := checkpoint.Open(filepath.Join(dir, "journal", "house"), checkpoint.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer journal.Close()

	h, pages, registry := &house{open: "lamp"}, &assistant.Pages{}, &llm.Registry{}
	script := at.NewScript(at.Answer{at.Call{Name: "dim_lamp", Arguments: `{"percent": 40}`}}, at.Answer{at.Say("Done.")})
	if err := errors.Join(h.register(pages), registry.Add(llm.Provider{Name: "house", Model: script})); err != nil {
		log.Fatal(err)
	}
	session, err := assistant.NewSession(registry, assistant.Options{
		Window: h, Pages: pages, Store: store, Journal: journal, Model: "house/butler",
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := session.Start(ctx); err != nil {
		log.Fatal(err)
	}
	after, err := session.Begin(ctx, assistant.Prompt{Text: "Dim it."})
	if err != nil {
		log.Fatal(err)
	}
	for range session.Events(ctx, after) { // the turn ends with the last event
	}
	show := func() { fmt.Printf("lamp %d %%, messages in view %d\n", h.Lamp, len(session.Visible())) }
	show()
	step, _ := session.LastStep()
	fmt.Println("undo:", step.Description)
	text, err := session.Rollback(ctx, step.ID, checkpoint.ScopeBoth, step.ID)
	fmt.Println("to edit and send again:", text, err)
	show()
	plan, err := session.PlanUndoRollback()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.UndoRollback(ctx, plan.Digest), session.Close(ctx))
	show()
	// Output:
	// lamp 40 %, messages in view 1
	// undo: the lamp is at 40 %
	// to edit and send again: Dim it. <nil>
	// lamp 0 %, messages in view 0
	// <nil> <nil>
	// lamp 40 %, messages in view 1
}

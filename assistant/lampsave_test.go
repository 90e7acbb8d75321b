package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/checkpoint"
)

// What is saved in the socket. There is no file, so plans have changes and no lines.

func (l *deskLamp) Dirty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.level != l.preset
}

// plan is a change of the socket's preset from one value to another. mu is locked.
func (l *deskLamp) plan(from, to int, only string) (p assistant.SavePlan) {
	if from != to && (only == "" || only == l.by.User) {
		p.Changes = []assistant.Change{{Title: "preset", Before: fmt.Sprintf("%d %%", from), After: fmt.Sprintf("%d %%", to), By: l.by}}
	}
	p.Digest = assistant.Digest("socket", p.Changes)
	return p
}

// planSave is the plan with the preset that the socket has now. mu is locked.
func (l *deskLamp) planSave(only string) assistant.SavePlan {
	now, _ := l.socket.read()
	p := l.plan(now, l.level, only)
	if len(p.Changes) > 0 {
		p.Effects = []assistant.Effect{{Kind: assistant.EffectAsks, Sentence: "switch the lamp off and on to see it"}}
		if now != l.preset {
			p.Conflict = &assistant.Conflict{Path: "the socket", Theirs: l.plan(l.preset, now, "").Changes, Both: p.Changes}
		}
	}
	return p
}

func (l *deskLamp) PlanSave(_ context.Context, only string) (assistant.SavePlan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.planSave(only), nil
}

func (l *deskLamp) Save(_ context.Context, basis assistant.Basis) (assistant.Saved, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.planSave(basis.Only)
	switch {
	case basis.Digest != "" && basis.Digest != p.Digest:
		return assistant.Saved{}, &assistant.PlanChanged{Plan: p, By: []string{assistant.OtherProgram}}
	case p.Conflict != nil:
		return assistant.Saved{}, p.Conflict
	case p.Empty():
		return assistant.Saved{Path: "the socket", Message: "nothing to save"}, nil
	}
	l.socket.write(l.level)
	l.preset = l.level
	l.publish()
	return assistant.Saved{Path: "the socket", Written: true, Changes: p.Changes, Message: "Saved in the socket."}, nil
}

func (l *deskLamp) PlanDiscard(only string) assistant.SavePlan {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.plan(l.preset, l.level, only)
}

func (l *deskLamp) Discard(basis assistant.Basis) ([]assistant.Change, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.plan(l.preset, l.level, basis.Only)
	if basis.Digest != "" && basis.Digest != p.Digest {
		return nil, &assistant.PlanChanged{Plan: p}
	}
	if !p.Empty() {
		l.dimTo(l.preset, assistant.Author{})
	}
	return p.Changes, nil
}

func (l *deskLamp) RefreshSaved(_ context.Context, dropUnsaved bool) (assistant.Refreshed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, _ := l.socket.read()
	r := assistant.Refreshed{Path: "the socket", Changed: now != l.preset, Changes: l.plan(l.preset, now, "").Changes}
	unsaved := l.level != l.preset
	if unsaved && dropUnsaved {
		r.Dropped = l.plan(l.preset, l.level, "").Changes
	}
	if l.preset = now; !unsaved || dropUnsaved {
		l.level = now
	}
	l.publish()
	return r, nil
}

// Rebase takes over a preset that another program has set, unless the lamp was dimmed.
func (l *deskLamp) Rebase(state, before, after json.RawMessage) (json.RawMessage, error) {
	if string(state) == string(before) {
		return after, nil
	}
	return state, nil
}

func (l *deskLamp) Watch(ctx context.Context) (<-chan assistant.SavedChange, error) {
	out := make(chan assistant.SavedChange)
	_, set := l.socket.read()
	go func() {
		defer close(out)
		for {
			select {
			case <-ctx.Done():
				return
			case <-set:
			}
			_, set = l.socket.read()
			r, err := l.RefreshSaved(ctx, false)
			if err != nil || !r.Changed {
				continue
			}
			select {
			case out <- assistant.SavedChange{Refreshed: r}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// dimmer plays the model: it dims to 40 %.
func dimmer(_ context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		if req.Messages[len(req.Messages)-1].Role != llm.RoleTool {
			yield(llm.End{Calls: []llm.Call{{Name: "dim_lamp", Arguments: `{"percent": 40}`}}, Finish: llm.FinishCalls}, nil)
		} else if yield(llm.Text{Text: "Good night."}, nil) {
			yield(llm.End{Finish: "stop"}, nil)
		}
	}
}

// A window of any kind has checkpoints, an undo, and saves that another program cannot
// change unseen.
func Example_window() {
	registry := &llm.Registry{}
	must(registry.Add(llm.Provider{Name: "house", Model: llm.ModelFunc(dimmer)}))
	dir, err := os.MkdirTemp("", "lamp")
	must(err)
	defer os.RemoveAll(dir)
	journal, err := checkpoint.Open(filepath.Join(dir, "journal"), checkpoint.Options{})
	must(err)
	defer journal.Close()
	outlet := newSocket(80)
	lamp := newDeskLamp(outlet)
	session, err := assistant.NewSession(registry, assistant.Options{Window: lamp, Journal: journal, Model: "house/dimmer", Author: "anna"})
	must(err)

	ctx := context.Background()
	after, err := session.Begin(ctx, assistant.Prompt{Text: "I want to sleep."})
	must(err)
	for e := range session.Events(ctx, after) {
		if made, ok := e.(assistant.CheckpointCreated); ok {
			fmt.Println("checkpoint:", made.Description)
		}
	}

	plan, err := session.PlanSave(ctx, "")
	must(err)
	outlet.write(60) // another program, while the user reads the plan
	_, err = session.Save(ctx, assistant.Basis{Digest: plan.Digest})
	fmt.Println("first try:", err)
	_, err = session.RefreshSaved(ctx, "load the preset", nil)
	must(err)
	plan, err = session.PlanSave(ctx, "")
	must(err)
	for _, line := range plan.Lines("anna") {
		fmt.Println(strings.TrimRight("  "+string(line), " "))
	}
	saved, err := session.Save(ctx, assistant.Basis{Digest: plan.Digest})
	must(err)
	fmt.Println("second try:", saved.Message)

	step, _ := session.LastStep()
	_, err = session.Rollback(ctx, step.ID, checkpoint.ScopeWindow, step.ID)
	must(err)
	fmt.Println("undone:", step.Description)
	for _, line := range lamp.PlanDiscard("").Lines("anna") {
		fmt.Println(strings.TrimRight("  "+string(line), " "))
	}
	// Output:
	// checkpoint: dimmed to 40 %
	// first try: another program changed this after it was shown: nothing was done
	//   preset: 60 % → 40 %
	//
	//   ! switch the lamp off and on to see it
	// second try: Saved in the socket.
	// undone: dimmed to 40 %
	//   preset: 40 % → 80 %
	//
	//   changed by an unknown user:
	//   preset: 40 % → 80 %
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// The lamp implements every interface that a window may implement.
func TestTheLampImplementsEveryInterface(t *testing.T) {
	lamp, err := os.ReadFile("lamp_test.go")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	ofWindow := regexp.MustCompile(`^\w+ is (a Window|a Saver|something that a user does in a window|what the assistant works on)\b`)
	found := 0
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			types, ok := decl.(*ast.GenDecl)
			if !ok || types.Tok != token.TYPE || strings.HasSuffix(path, "_test.go") || !ofWindow.MatchString(types.Doc.Text()) {
				continue
			}
			found++
			if name := types.Specs[0].(*ast.TypeSpec).Name.Name; !regexp.MustCompile(`_ assistant\.` + name + ` +=`).Match(lamp) {
				t.Errorf("the lamp does not implement %s", name)
			}
		}
	}
	const all = 15
	if found < all {
		t.Errorf("found %d interfaces, want %d", found, all)
	}
}

func TestTheLampIsUsedByOthers(t *testing.T) {
	outlet := newSocket(80)
	lamp := newDeskLamp(outlet)
	watched, err := lamp.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, revision := lamp.Snapshot()
	if done, err := lamp.Act(t.Context(), dim{30}, revision); err != nil || done != "Dimmed to 30 %." {
		t.Fatal(done, err)
	}
	if _, err := lamp.Act(t.Context(), dim{20}, revision); !errors.Is(err, assistant.ErrMoved) {
		t.Errorf("an act on what was shown before: %v", err)
	}
	lamp.Lock()
	if _, err := lamp.Act(t.Context(), dim{20}, lamp.Revision()); !errors.Is(err, assistant.ErrBusy) {
		t.Errorf("an act while the assistant works: %v", err)
	}
	lamp.Unlock()
	outlet.write(50)
	if change := <-watched; len(change.Changes) != 1 || change.Changes[0].Line() != "preset: 80 % → 50 %" {
		t.Errorf("watched %+v", change)
	}
	if entries, _ := lamp.Changes(0); len(entries) != 1 || entries[0]["percent"] != 30 {
		t.Errorf("the log is %v", entries)
	}
	if err := lamp.SetPosition(json.RawMessage(`"timer"`)); err != nil {
		t.Error(err)
	}
	if position, _ := lamp.Position(); string(position) != `"timer"` {
		t.Errorf("the position is %v", position)
	}
}

// Place implements assistant.Placer: a lamp has no position to move.
func (l *deskLamp) Place() assistant.Window { return l }

// Applied implements assistant.Applier: nothing applies what the lamp saves.
func (l *deskLamp) Applied() assistant.Applied { return assistant.Applied{} }

// CancelApplied implements assistant.Applier.
func (l *deskLamp) CancelApplied() {}

// WaitApplied implements assistant.Applier.
func (l *deskLamp) WaitApplied(context.Context) assistant.Applied { return l.Applied() }

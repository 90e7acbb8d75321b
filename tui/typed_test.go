package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"winnow/tui/keymap"
)

// typedChecks is how many runs are tried, each a program with a database.
const typedChecks = 40

// moves are what may happen around a text that is being typed, but for keys
// that delete it on purpose.
var moves = map[string]func(*bench){
	"alt+q":     func(b *bench) { b.press(tea.KeyPressMsg{Code: 'q', Mod: tea.ModAlt}) },
	"esc":       func(b *bench) { b.event(0x00) },
	"enter":     func(b *bench) { b.event(0x01) },
	"tab":       func(b *bench) { b.event(0x02) },
	"up":        func(b *bench) { b.event(0x03) },
	"down":      func(b *bench) { b.event(0x04) },
	"shift+tab": func(b *bench) { b.event(0x0d) },
	"send":      func(b *bench) { b.event(0x0e) },
	"ctrl+c":    func(b *bench) { b.event(0x82) },
	"ctrl+g":    func(b *bench) { b.event(0x86) },
	"ctrl+n":    func(b *bench) { b.event(0x8d) },
	"ctrl+z": func(b *bench) {
		if b.mode != keymap.Input { // there it takes typed text away on purpose
			b.event(0x99)
		}
	},
	"alt+1":      func(b *bench) { b.event(0xb1) },
	"yes":        func(b *bench) { time.Sleep(time.Second); b.event('y') }, // past the guard of a question
	"edit":       func(b *bench) { b.event('e') },
	"again":      func(b *bench) { b.event('r') },
	"paste":      func(b *bench) { b.event(0xd0) },
	"wait":       func(b *bench) { b.event(0xf0) },
	"wait long":  func(b *bench) { time.Sleep(3 * time.Second); b.settle() },
	"to INPUT":   toInput,
	"to INPUT 2": toInput,
}

// toInput leads to the box from anywhere.
func toInput(b *bench) {
	for range 6 {
		if b.overlay.Open() || b.mode == keymap.Command || b.conv.search.Active || b.pane.Typing() {
			b.event(0x00)
		}
	}
	for range 3 {
		if b.mode != keymap.Input {
			b.event(0x01)
		}
	}
}

// TestTypedTextIsNeverLost types words between everything else that can be
// done, and finds each of them again: in a pair, in the queue, in the box, or
// by ctrl+z or the arrow keys.
func TestTypedTextIsNeverLost(t *testing.T) {
	fewerChecks(t, typedChecks)
	rapid.Check(t, func(rt *rapid.T) {
		names := append(slices.Sorted(maps.Keys(moves)), "type", "type")
		steps := rapid.SliceOfN(rapid.SampledFrom(names), 1, 40).Draw(rt, "steps")
		var lost []string
		var frame string
		synctest.Test(t, func(t *testing.T) { lost, frame = typeBetween(t, steps) })
		if len(lost) > 0 {
			rt.Fatalf("lost: %q\n%s", lost, frame)
		}
	})
}

// typeBetween does the steps and returns the words that are not found again.
func typeBetween(t *testing.T, steps []string) (lost []string, frame string) {
	t.Helper()
	b, d := steadyFixture(t)
	var words []string
	for _, step := range steps {
		if step != "type" {
			moves[step](b)
			continue
		}
		if b.mode != keymap.Input || b.overlay.Open() {
			continue
		}
		word := fmt.Sprintf("word%03d", len(words))
		for _, c := range []byte(word + " ") {
			b.event(c)
		}
		words = append(words, word)
	}
	b.leave()
	toInput(b)
	b.leave() // enter on the button of a failed pair has started a turn
	frame = plainFrame(b.View().Content)
	found := everything(t, b, d)
	for _, w := range words {
		if !strings.Contains(found, w) {
			lost = append(lost, w)
		}
	}
	return lost, frame
}

// everything is all text that the user can get at.
func everything(t *testing.T, b *bench, d *fixture) string {
	t.Helper()
	var all strings.Builder
	seqs := make([]int64, 200)
	for i := range seqs {
		seqs[i] = int64(i + 1)
	}
	pairs, err := d.store.Load(context.Background(), seqs)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		all.WriteString(p.UserText + "\n")
	}
	if p, ok := b.opts.Work.Session().Queued(); ok {
		all.WriteString(p.Text + "\n")
	}
	all.WriteString(b.input.draft.Text() + "\n")
	n := 0
	for b.input.draft.Older() {
		n++
		all.WriteString(b.input.draft.Text() + "\n")
	}
	for range n {
		b.input.draft.Newer()
	}
	for b.input.draft.Undo() {
		all.WriteString(b.input.draft.Text() + "\n")
	}
	return all.String()
}

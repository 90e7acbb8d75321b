package tui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"winnow/adapters/modelfilter"
	"winnow/tui/overlay"
	"winnow/tui/tuitest"
)

// hurry gives keys faster than anything that they start can end.
func (b *bench) hurry(keys ...tuitest.Key) {
	time.Sleep(time.Second) // no paste: the first key comes after a while
	for _, k := range keys {
		time.Sleep(tuitest.KeyGap)
		b.take(tuitest.Press(k))
	}
	b.settle()
}

// TestKeysInAHurry that change something do what they would do one by one: each
// on what the one before it has left.
func TestKeysInAHurry(t *testing.T) {
	rules := func(d *fixture) string {
		var all []string
		for _, r := range d.window.Rules(modelfilter.Ignore) {
			all = append(all, r.Pattern)
		}
		return strings.Join(all, " ")
	}
	stars := func(b *bench, d *fixture) (n int, flag bool) {
		refs := b.opts.Work.Session().Visible()
		pairs, err := d.store.Load(context.Background(), []int64{refs[len(refs)-1].Seq})
		if err != nil || len(pairs) == 0 {
			t.Fatalf("the pair is not in the store: %v", err)
		}
		return pairs[0].Star, pairs[0].Flag
	}
	for name, c := range map[string]struct {
		keys []tuitest.Key // from INPUT
		ok   func(b *bench, d *fixture) bool
	}{
		"stars go round": {
			[]tuitest.Key{"tab", "*", "*", "*"},
			func(b *bench, d *fixture) bool { n, _ := stars(b, d); return n == 3 },
		},
		"the last number of stars counts": {
			[]tuitest.Key{"tab", "3", "1", "2", "3", "1", "2"},
			func(b *bench, d *fixture) bool { n, _ := stars(b, d); return n == 2 },
		},
		"a flag there and back": {
			[]tuitest.Key{"tab", "a", "a", "a", "a"},
			func(b *bench, d *fixture) bool { _, flag := stars(b, d); return flag },
		},
		"two rules are deleted": {
			[]tuitest.Key{"shift+tab", "x", "x"},
			func(_ *bench, d *fixture) bool { return rules(d) == "" },
		},
		"and come back": {
			[]tuitest.Key{"shift+tab", "x", "x", "ctrl+z", "ctrl+z"},
			func(_ *bench, d *fixture) bool { return rules(d) == "gpt-3.5* o3*" },
		},
		"a save shows what was done before it": {
			[]tuitest.Key{"shift+tab", "x", "x", "ctrl+s"},
			func(b *bench, _ *fixture) bool {
				return b.top() == overlay.SaveSheet && strings.Contains(plainFrame(b.View().Content), "openai: 2 models become shown")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, d := steadyFixture(t)
				b.hurry(c.keys...)
				if !c.ok(b, d) {
					n, flag := stars(b, d)
					t.Errorf("after %q: rules %q, stars %d, flag %v\n%s", slices.Clone(c.keys), rules(d), n, flag, plainFrame(b.View().Content))
				}
				b.leave()
			})
		})
	}
}

package tui

import (
	"context"
	"fmt"
	"image"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/tui/overlay"
	"winnow/tui/rules"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// freshChecks is how many runs are tried, each a program with a database, some 100 ms.
var freshChecks = at.Rounds(10, 300)

// TestTheScreenShowsWhatAFreshStartShows presses keys at random while answers arrive and the
// terminal changes its size. Each request contains what the screen showed as included, an undo
// removes as many messages as its question says, and in the end the screen shows the same as
// a program that has just been started on the session.
func TestTheScreenShowsWhatAFreshStartShows(t *testing.T) {
	fewerChecks(t, freshChecks)
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom(freshSteps), 1, 60).Draw(rt, "steps")
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = runFresh(t, steps) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// freshSteps are keys in the alphabet of event, and other things that happen.
var freshSteps = append([]string{"send", "send", "send", "view", "view", "input", "filter", "yes", "undo", "small", "cut", "other"}, strings.Split(
	"\x00 \x01 \x02 \x03 \x04 \x0d \x8d \x99 \x98 \x86 \xf0 \xf0 \xf0 \xe0 \xe1 \xe3 \xe5 d d e r r B < > * 0 2 a t x h g G o F j k y e s", " ")...)

// observed is a model that records, for each request, what the screen showed as included.
type observed struct {
	steady
	mu      sync.Mutex
	shown   assistant.Shown // as last drawn
	session *assistant.Session
	clock   *tuitest.Clock
	cut     bool // the next response breaks off
	wrong   string
}

func (o *observed) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	o.mu.Lock()
	defer o.mu.Unlock()
	if req.Messages[len(req.Messages)-1].Role == llm.RoleUser {
		o.compare(ctx, req)
	}
	parts := o.steady.Stream(ctx, req)
	if o.cut {
		o.cut = false
		parts = func(yield func(llm.Part, error) bool) {
			if yield(llm.Text{Text: "half"}, nil) {
				yield(nil, &llm.RequestError{Kind: llm.KindNet, Message: "cut"})
			}
		}
	}
	return func(yield func(llm.Part, error) bool) {
		for p, err := range parts {
			if o.clock.Advance(40 * time.Millisecond); !yield(p, err) {
				return
			}
		}
	}
}

// compare compares a request with the pairs that were shown as included.
func (o *observed) compare(ctx context.Context, req llm.Request) {
	var sent, want []string
	for _, m := range req.Messages {
		if m.Role == llm.RoleUser {
			sent = append(sent, m.Content)
		}
	}
	prompt := o.session.Turn().Prompt
	for _, r := range o.shown.Refs[o.shown.Boundary.First:] {
		again := slices.Contains([]int64{prompt.Retry, prompt.Regenerate, prompt.Replaces}, r.Seq)
		if pairs, err := o.session.Pairs(ctx, []int64{r.Seq}); err == nil && len(pairs) == 1 && r.Contributes && !again {
			want = append(want, string(pairs[0].UserText))
		}
	}
	if sent = sent[:len(sent)-1]; !slices.Equal(sent, want) {
		o.wrong = fmt.Sprintf("sent were %q, shown as included %q", sent, want)
	}
}

// drawn notes what the next frame shows.
func (o *observed) drawn(b *bench) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shown = b.conv.boundary
}

// runFresh does the steps, and says what was wrong; "" is nothing.
func runFresh(t *testing.T, steps []string) string {
	t.Helper()
	model := &observed{}
	m, d := newProgram(t, setup{
		model: model, pairs: []assistant.Pair{told("question", "an answer with a needle"), failed("another"), told("more", strings.Repeat("words ", 60))},
		change: func(o *Options) { o.Now = nil },
	})
	model.session, model.clock = d.session, d.clock
	b := &bench{Model: m, msgs: make(chan tea.Msg, 4096)}
	b.updated = func() { model.drawn(b) }
	b.start(m.Init())
	b.start(m.resize(120, 32))
	b.settle()
	defer b.leave()
	for i, step := range steps {
		if wrong := freshStep(b, d, model, step, i); wrong != "" {
			return fmt.Sprintf("step %d, %q: %s\n%s", i, step, wrong, plainFrame(b.View().Content))
		}
		if model.wrong != "" {
			return fmt.Sprintf("step %d, %q: %s", i, step, model.wrong)
		}
	}
	b.leave()
	toInput(b)
	b.leave()
	d.session.Registry().LearnLimit("test/script", 64_000, time.Now()) // the sizes of the two system prompts differ by the changes in them
	b.settle()
	return compareFresh(t, b, d, model)
}

// freshStep does a step.
func freshStep(b *bench, d *fixture, model *observed, step string, n int) string {
	switch step {
	case "send":
		toInput(b)
		for _, c := range []byte(fmt.Sprintf("word%d\x89", n)) {
			b.event(c)
		}
	case "view":
		toInput(b)
		b.event(0x02)
	case "input":
		toInput(b)
	case "filter":
		toInput(b)
		for _, c := range []byte("\x02f\x94" + []string{"x", "", "c'word'", "s>=1"}[n%4] + "\x01") {
			b.event(c)
		}
	case "yes":
		time.Sleep(time.Second) // past the guard of a question
		b.event('y')
	case "small":
		budgets := d.session.Boundary()
		d.session.Registry().LearnLimit("test/script", budgets.SYS+budget.DefaultUserRequestAllowance+60+n, time.Now())
		b.settle()
	case "cut":
		model.mu.Lock()
		model.cut = true
		model.mu.Unlock()
	case "undo":
		return undoAsked(b, d)
	default:
		b.event(step[0])
	}
	return ""
}

// undoAsked undoes the newest change. If the screen asks first, it compares the number of
// messages in the question with the number that goes.
func undoAsked(b *bench, d *fixture) string {
	toInput(b)
	b.event(0x02)
	b.event(0x99)
	frame := plainFrame(b.View().Content)
	_, after, asked := strings.Cut(frame, "Undo the assistant's change?")
	if !asked || b.turn.running {
		return ""
	}
	var want int
	for line := range strings.Lines(after) {
		if i := strings.Index(line, " message"); i > 0 && strings.Contains(line, "will be removed") {
			_, _ = fmt.Sscan(line[strings.LastIndexAny(line[:i], " │")+1:], &want)
		}
	}
	before, err := d.store.Refs(context.Background(), "", 3.5)
	time.Sleep(time.Second)
	b.event('y')
	after2, err2 := d.store.Refs(context.Background(), "", 3.5)
	if err != nil || err2 != nil || len(before)-len(after2) != want {
		return fmt.Sprintf("the undo removed %d messages: %v %v\n%s", len(before)-len(after2), err, err2, frame)
	}
	return ""
}

// compareFresh compares the screen with a program that has just been started.
func compareFresh(t *testing.T, b *bench, d *fixture, model *observed) string {
	t.Helper()
	pages := &assistant.Pages{}
	if err := modelfilter.Register(pages, d.window); err != nil {
		t.Fatal(err)
	}
	session, err := assistant.NewSession(d.session.Registry(), assistant.Options{
		ID: d.session.ID(), Window: d.window, Pages: pages, Store: d.store, Journal: d.session.Journal(), Model: d.session.Model(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := session.LoadView(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{
		Context: t.Context(), Parts: partsOf(session, d.store, rules.New(rules.Options{Home: filepath.Dir(d.file)}), nil),
		ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Dark: true, Unicode: true}}, Clipboard: func(string) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	fresh := &bench{Model: m, msgs: make(chan tea.Msg, 4096)}
	fresh.wasUnsaved = b.wasUnsaved
	fresh.start(m.Init())
	fresh.settle()
	defer fresh.leave()
	var frames [2][]string
	for i, x := range []*bench{b, fresh} {
		x.start(x.resize(120, 60))
		x.settle()
		x.event(0x02)
		for _, c := range []byte("f\x94x\x01g") {
			x.event(c)
		}
		x.notice.Clear()
		frames[i] = regions(x)
		x.event('G')
		frames[i] = append(frames[i], regions(x)...)
	}
	for i, line := range frames[0] {
		if line != frames[1][i] {
			return fmt.Sprintf("the screen shows\n%s\na fresh start\n%s\nin\n%s", line, frames[1][i], strings.Join(frames[0], "\n"))
		}
	}
	return ""
}

// share is the size of the context in the header.
var share = regexp.MustCompile(`\d+ % of`)

// regions returns what the screen shows in header and chat.
func regions(b *bench) (out []string) {
	lines := strings.Split(plainFrame(b.View().Content), "\n")
	for _, r := range []image.Rectangle{b.layout.Header, b.layout.Chat} {
		for _, line := range lines[r.Min.Y:r.Max.Y] {
			out = append(out, share.ReplaceAllString(strings.TrimRight(style.Truncate(line, r.Dx(), ""), " "), ""))
		}
	}
	return out
}

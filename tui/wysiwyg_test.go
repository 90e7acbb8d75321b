package tui

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/budget"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
	"winnow/tui/keymap"

	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// TestWhatIsSeenIsWhatIsSent holds the one promise that everything else serves:
// over random histories, filter lines, models and screens, the frame, the
// header's counter, the boundary, the exact request that is shown, the
// telemetry and the request that goes out all tell of the same pairs.
func TestWhatIsSeenIsWhatIsSent(t *testing.T) {
	fewerChecks(t, wysiwygChecks)
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawPlan(rt)
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = plan.carryOut(t) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// seeing is a program in a bubble, with an oracle beside it: what must be
// visible, worked out by hand from the plan.
type seeing struct {
	bench
	store    history.Store
	script   *at.Script
	clock    *tuitest.Clock
	registry *llm.Registry
	options  assistant.Options // of the session
	end      func()            // ends the program
	records  []budget.Record
	all      []madePair // of the history, in order
	visible  []int      // indices in all
	sends    int        // in a row
}

// carryOut does the plan and says what was wrong; "" is nothing.
func (p plan) carryOut(t *testing.T) string {
	t.Helper()
	s := p.start(t)
	defer s.rest()
	if err := s.check(); err != nil {
		return fmt.Sprintf("after the start: %v\n%s", err, plainFrame(s.View().Content))
	}
	for i, step := range p.steps {
		before := s.firstFitting()
		err := s.do(step)
		if s.sends++; step.message == "" {
			s.sends = 0
		}
		if err == nil {
			err = s.check()
		}
		// The second message in a row has no changes of the window in its prompt.
		if now := s.firstFitting(); err == nil && s.sends > 2 && now < before {
			err = fmt.Errorf("with this message pairs came back: the first included was %d and is %d", before, now)
		}
		if err != nil {
			return fmt.Sprintf("step %d, %+v: %v\n%s", i, step, err, plainFrame(s.View().Content))
		}
	}
	return ""
}

// start fills a history and opens the program on it.
func (p plan) start(t *testing.T) *seeing {
	t.Helper()
	clock := tuitest.NewClock()
	s := &seeing{script: at.NewScript(say("fine")), clock: clock, registry: &llm.Registry{}, end: func() {}, all: slices.Clone(p.pairs)}
	dir := t.TempDir()
	var err error
	if s.store, err = sqlite.Open(t.Context(), filepath.Join(dir, "data", "history.db"), sqlite.Options{Now: clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.store.Close() })
	if p.wrap != nil {
		s.store = p.wrap(s.store)
	}
	journal, err := checkpoint.Open(filepath.Join(dir, "journal", "log"), checkpoint.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = journal.Close() })
	s.fill(t)
	var known []llm.ModelInfo
	for name, context := range p.contexts {
		known = append(known, llm.ModelInfo{ID: "test/" + name, Context: context, Known: context > 0, Tools: true})
	}
	if err := s.registry.Add(llm.Provider{Name: "test", Model: s.script, Known: known}); err != nil {
		t.Fatal(err)
	}
	s.options = assistant.Options{
		ID: "here", Window: at.NewWindow("one"), Store: s.store, Journal: journal, Model: "test/small", Now: clock.Now,
		TelemetryMessages: true,
		Telemetry:         func(r budget.Record) { s.records = append(s.records, r) },
	}
	s.bench = bench{msgs: make(chan tea.Msg, 4096)}
	if err := s.open(p.width, p.height, p.opening); err != nil {
		t.Fatal(err)
	}
	return s
}

// programStart is what happens while the program starts.
type programStart struct {
	noticed bool   // the endpoints are heard of before the start is over
	late    bool   // what that asked for comes after it
	model   string // an endpoint names a limit of this model just before the end of the start
	limit   int
}

// open starts the program on the session, as --continue does.
func (s *seeing) open(w, h int, o programStart) error {
	s.end()
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	if s.Model != nil {
		s.options.Model = s.opts.Work.Session().Model()
	}
	m, err := New(Options{
		Context: ctx,
		Start: func() (Parts, error) {
			session, err := assistant.NewSession(s.registry, s.options)
			if err != nil {
				return Parts{}, err
			}
			return partsOf(session, s.store, nil, s.clock.Now), session.Start(context.Background())
		},
		Now: s.clock.Now, ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Unicode: true, Profile: style.NoColor}}, Clipboard: func(string) error { return nil },
	})
	if err != nil {
		return err
	}
	s.bench.Model = m
	s.start(m.resize(w, h))
	var late tea.Msg
	if o.noticed {
		if _, cmd := m.Update(Noticed{}); cmd != nil {
			late = cmd()
		}
		if !o.late {
			s.take(late)
		}
	}
	started := openParts(m.opts.Start)()
	if o.limit > 0 {
		s.registry.LearnLimit("test/"+o.model, o.limit, s.clock.Now())
	}
	s.take(started)
	if o.noticed && o.late {
		s.take(late)
	}
	s.settle()
	s.choosePairs(func(_ int, p madePair) bool { return p.session == "here" })
	return nil
}

// fill stores the pairs, each a minute after the one before, so that the time
// on the screen names the pair.
func (s *seeing) fill(t *testing.T) {
	t.Helper()
	for i := range s.all {
		p := s.all[i].stored(i)
		if err := s.store.Commit(context.Background(), &assistant.Batch{Put: []*assistant.Pair{&p}}); err != nil {
			t.Fatal(err)
		}
		s.all[i].seq = p.Seq
	}
}

// minute is when pair i was made: on the day of the clock, before its time.
func minute(i int) time.Time {
	return tuitest.NewClock().Now().Truncate(24 * time.Hour).Add(time.Duration(i) * time.Minute)
}

// rest lets every timer of the bubble fire, also those of drawing: nothing may
// be drawn after it.
func (s *seeing) rest() {
	s.end()
	s.settle()
	time.Sleep(time.Minute) // in the bubble
}

// press gives the program a key as a hand would, not a paste.
func (s *seeing) press(k tea.KeyPressMsg) {
	s.clock.Advance(tuitest.KeyGap)
	s.bench.press(k)
}

// choosePairs makes the pairs for which keep holds what must be visible.
func (s *seeing) choosePairs(keep func(i int, p madePair) bool) {
	s.visible = s.visible[:0]
	for i, p := range s.all {
		if !p.gone && keep(i, p) {
			s.visible = append(s.visible, i)
		}
	}
}

// do carries out one step, by the keys that a user would press.
func (s *seeing) do(step step) error {
	switch {
	case step.filter != nil:
		return s.filter(step.filter)
	case step.model != "":
		s.start(s.commands.PickModel(s.acts.query(), "test/"+step.model))
		s.settle()
	case step.remove:
		return s.removeFirst()
	case step.limit > 0:
		s.registry.LearnLimit("test/"+step.of, step.limit, s.clock.Now())
		s.settle()
	case step.reopens != nil:
		return s.open(s.width, s.height, *step.reopens)
	case step.others:
		return s.others()
	case step.word != "":
		err := s.opts.Work.Session().Edit("add a word", func() error { return s.options.Window.(*at.Window).Type(step.word) })
		s.take(Noticed{})
		s.settle()
		return err
	default:
		return s.send(step.message)
	}
	return nil
}

// filter applies a line.
func (s *seeing) filter(f *madeFilter) error {
	s.goTo(keymap.Command)
	s.press(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl})
	s.typeKeys(f.line)
	s.press(tea.KeyPressMsg{Code: tea.KeyEnter})
	if s.mode != keymap.View {
		return fmt.Errorf("the line %q was not taken: %s", f.line, s.command.line.Hint)
	}
	s.choosePairs(func(i int, p madePair) bool { return f.keeps(s, i, p) })
	if f.included {
		s.visible = s.visible[s.firstFitting():]
	}
	return nil
}

// others is another program that deletes the newest pair of the session, and adds one.
func (s *seeing) others() error {
	b := &assistant.Batch{}
	for i := range slices.Backward(s.all) {
		if p := &s.all[i]; p.session == "here" && !p.gone {
			p.gone, b.Delete = true, []int64{p.seq}
			break
		}
	}
	made := madePair{name: fmt.Sprint("theirs", len(s.all)), session: "here", model: "test/small", flag: true, user: "by another program", final: "an apple", payload: true}
	p := made.stored(len(s.all))
	p.CreatedAt = s.clock.Now()
	s.clock.Advance(time.Minute)
	b.Put = []*assistant.Pair{&p}
	if err := s.store.Commit(context.Background(), b); err != nil {
		return err
	}
	made.seq = p.Seq
	s.all = append(s.all, made)
	s.take(Noticed{Pairs: true})
	s.settle()
	return s.filter(&atoms[0]) // what stays of a line with o or r is not of interest here
}

// removeFirst deletes the first visible pair, as d and y do.
func (s *seeing) removeFirst() error {
	if len(s.visible) == 0 {
		return nil
	}
	s.goTo(keymap.View)
	s.typeKeys("gd")
	if s.overlay.Open() {
		s.start(s.onOutcome(overlay.Chosen{Kind: overlay.Confirm, Action: keymap.AnswerYes}))
		s.overlay.Pop()
		s.settle()
	}
	s.all[s.visible[0]].gone = true
	s.visible = s.visible[1:]
	return nil
}

// send looks at the exact request, sends the message and compares.
func (s *seeing) send(message string) error {
	s.goTo(keymap.Input)
	s.input.draft.Set(message)
	want := s.included()
	shown, err := s.request(true)
	if err != nil {
		return err
	}
	s.goTo(keymap.Input)
	before := len(s.script.Requests())
	s.records = nil
	s.press(tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl})
	for s.turn.running {
		time.Sleep(time.Second) // in the bubble
		s.settle()
	}
	requests := s.script.Requests()
	if len(requests) != before+1 {
		return fmt.Errorf("%d requests went out, want 1", len(requests)-before)
	}
	sent := requests[before]
	s.all = append(s.all, madePair{session: "here", model: s.opts.Work.Session().Model(), flag: true, user: message, final: "fine", seq: s.last()})
	s.clock.Advance(time.Minute)
	s.visible = append(s.visible, len(s.all)-1)
	kept, err := s.request(false)
	return errors.Join(err, s.compareMessages(sent, want, message), compareShown(shown, sent), compareShown(kept, sent), s.compareRecord(sent, want, message))
}

// request is what the overlay shows for the newest pair: the request that would
// be sent now, or what was sent for it.
func (s *seeing) request(now bool) (string, error) {
	s.goTo(keymap.View)
	s.conv.chat.FocusLast()
	s.typeKeys("x")
	box, kind, open := s.overlay.Top()
	for open && now && strings.HasPrefix(box.Title(), "sent") { // the last one is that of now
		s.press(tea.KeyPressMsg{Code: tea.KeyRight})
		box, kind, open = s.overlay.Top()
	}
	if !open || kind != overlay.Request || strings.HasPrefix(box.Title(), "sent") == now {
		return "", errors.New("x does not show the request")
	}
	s.typeKeys("r") // the bytes
	body := box.Body(1<<16, 1<<16, s.styles)
	s.press(tea.KeyPressMsg{Code: tea.KeyEscape})
	return strings.Join(body[:len(body)-1], "\n"), nil // the last line names the keys
}

// last is the newest pair of the store.
func (s *seeing) last() int64 {
	refs, _ := s.store.Refs(context.Background(), "", 3.5)
	return refs[len(refs)-1].Seq
}

// goTo walks to a mode by keys that leave the draft alone.
func (s *seeing) goTo(to keymap.Mode) {
	for range 4 {
		switch {
		case s.mode == to:
			return
		case s.mode == keymap.View && to == keymap.Command:
			s.press(tea.KeyPressMsg{Code: 'f', Text: "f"})
		case s.mode == keymap.View && to == keymap.Input:
			s.press(tea.KeyPressMsg{Code: 'i', Text: "i"})
		default:
			s.press(tea.KeyPressMsg{Code: tea.KeyTab})
		}
	}
}

func (s *seeing) typeKeys(text string) {
	for _, r := range text {
		s.press(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// firstFitting is where the boundary belongs: the spec's walk, newest first,
// until the next pair would not leave room for the allowance.
func (s *seeing) firstFitting() int {
	b := s.opts.Work.Session().Boundary()
	room := b.ML - b.SYS - budget.DefaultUserRequestAllowance
	for i := len(s.visible) - 1; i >= 0; i-- {
		if room -= s.all[s.visible[i]].cost(); room < 0 {
			return i + 1
		}
	}
	if room < 0 {
		return len(s.visible)
	}
	return 0
}

// included are the visible pairs that the next request holds.
func (s *seeing) included() []madePair {
	var out []madePair
	for _, i := range s.visible[s.firstFitting():] {
		if s.all[i].sends() {
			out = append(out, s.all[i])
		}
	}
	return out
}

// check compares everything that can be seen with the oracle.
func (s *seeing) check() error {
	b := s.opts.Work.Session().Boundary()
	first, want := s.firstFitting(), s.included()
	if b.First != first || b.X != len(want) || b.Y != len(s.visible) {
		return fmt.Errorf("the boundary is First %d, X %d, Y %d; want %d, %d, %d (ML %d, SYS %d)",
			b.First, b.X, b.Y, first, len(want), len(s.visible), b.ML, b.SYS)
	}
	if counter := fmt.Sprintf("%d/%d", len(want), len(s.visible)); s.width >= 60 && !s.conv.welcomes(s.parts.filterLine()) && !strings.Contains(firstLine(s.View().Content)+" ", " "+counter+" ") {
		return fmt.Errorf("the header shows %q, want %s", firstLine(s.View().Content), counter)
	}
	return s.checkFrame(first)
}

func firstLine(frame string) string { return strings.SplitN(plainFrame(frame), "\n", 2)[0] }

// metaLine is the first line of a pair in the frame, with the badge at its left, of which a
// narrow screen shows the first word, and its time at its right.
var metaLine = regexp.MustCompile(`^..(off |sent )?.* (\d\d:\d\d) *(│|┃|$)`)

// checkFrame scrolls from the first pair to the last and reads each badge.
func (s *seeing) checkFrame(first int) error {
	s.goTo(keymap.View)
	s.typeKeys("g")
	seen := map[string]string{}
	for n := 0; ; n++ {
		if n == 2000 {
			return errors.New("ctrl+d does not come to the end")
		}
		frame := plainFrame(s.View().Content)
		for _, line := range strings.Split(frame, "\n") {
			if m := metaLine.FindStringSubmatch(line); m != nil {
				seen[m[2]] = strings.TrimSpace(m[1])
			}
		}
		if s.conv.chat.AtEnd() || len(s.visible) == 0 {
			break
		}
		s.press(tea.KeyPressMsg{Code: 'd', Mod: tea.ModCtrl})
	}
	want := map[string]string{}
	for n, i := range s.visible {
		badge := ""
		switch {
		case n < first:
			badge = "off"
		case n == first && first > 0:
			badge = "sent"
		}
		want[s.clockOf(i)] = badge
	}
	if len(want) == 0 {
		return nil
	}
	if !reflect.DeepEqual(seen, want) {
		return fmt.Errorf("the frame shows the badges %v, want %v", seen, want)
	}
	return nil
}

// clockOf is the time that pair i shows.
func (s *seeing) clockOf(i int) string { return s.load(s.all[i]).CreatedAt.Local().Format("15:04") }

// load is a pair as it is stored; the zero pair when it is not.
func (s *seeing) load(p madePair) assistant.Pair {
	pairs, err := s.store.Load(context.Background(), []int64{p.seq})
	if err != nil || len(pairs) != 1 {
		return assistant.Pair{}
	}
	return pairs[0]
}

// compareMessages holds a request to the pairs it must hold.
func (s *seeing) compareMessages(sent llm.Request, want []madePair, message string) error {
	var messages []llm.Message
	for _, p := range want {
		messages = append(messages, p.messages()...)
	}
	messages = append(messages, llm.Message{Role: llm.RoleUser, Content: message})
	if len(sent.Messages) == 0 || sent.Messages[0].Role != llm.RoleSystem {
		return errors.New("the request does not begin with a system prompt")
	}
	if got := sent.Messages[1:]; !reflect.DeepEqual(got, messages) {
		return fmt.Errorf("the request holds\n%s\nwant\n%s", list(got), list(messages))
	}
	return nil
}

func list(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "  %s %.60q calls %v for %q\n", m.Role, m.Content, m.Calls, m.CallID)
	}
	return b.String()
}

// compareShown holds the overlay to the request that went out after it.
func compareShown(shown string, sent llm.Request) error {
	var was llm.Request
	if err := json.Unmarshal([]byte(shown), &was); err != nil {
		return fmt.Errorf("the request that was shown is no JSON: %w", err)
	}
	raw, _ := json.Marshal(sent)
	again, _ := json.Marshal(was)
	if string(raw) != string(again) {
		return fmt.Errorf("shown was\n%s\nsent was\n%s", again, raw)
	}
	return nil
}

// compareRecord holds the telemetry to what went out.
func (s *seeing) compareRecord(sent llm.Request, want []madePair, message string) error {
	if len(s.records) != 1 {
		return fmt.Errorf("%d attempts are told, want 1", len(s.records))
	}
	r := s.records[0]
	var ids, wantIDs []string
	tokens := 0
	for _, sel := range r.Selection {
		ids = append(ids, sel.ID)
		tokens += sel.Tokens
	}
	wantTokens := 0
	for _, p := range want {
		wantIDs = append(wantIDs, s.load(p).ID)
		wantTokens += p.cost()
	}
	aut := budget.Estimate(message)
	switch {
	case !slices.Equal(ids, wantIDs):
		return fmt.Errorf("the telemetry selects %v, want %v", ids, wantIDs)
	case r.Model != s.opts.Work.Session().Model() || r.Stage != budget.StageComplete || r.TrimmedCount != 0:
		return fmt.Errorf("the telemetry tells of %s, %s, %d trimmed", r.Model, r.Stage, r.TrimmedCount)
	case r.PredictedMessageCount != len(want) || (r.PredictedMessageCount-r.TrimmedCount) != len(want) || r.AttemptHistoryTokens != wantTokens || tokens != wantTokens:
		return fmt.Errorf("the telemetry counts %d pairs of %d tokens, selection %d; want %d of %d",
			r.PredictedMessageCount, r.AttemptHistoryTokens, tokens, len(want), wantTokens)
	case r.AUT != aut || r.AttemptTotalTokens != wantTokens+aut || r.RemainingReserve != r.Budget.MaxUsableRaw-wantTokens-aut:
		return fmt.Errorf("the telemetry counts AUT %d, total %d, reserve %d", r.AUT, r.AttemptTotalTokens, r.RemainingReserve)
	case len(r.Messages) != len(sent.Messages):
		return fmt.Errorf("the telemetry holds %d messages, %d were sent", len(r.Messages), len(sent.Messages))
	}
	for i, m := range r.Messages {
		if m.Role != string(sent.Messages[i].Role) || m.Content != sent.Messages[i].Content {
			return fmt.Errorf("message %d of the telemetry is not the one that was sent", i)
		}
	}
	return nil
}

// wysiwygChecks is how many histories the property is tried on: each is a whole
// program with a database, some 30 ms.
var wysiwygChecks = at.Rounds(30, 200)

// fewerChecks lets rapid try n cases unless the command line says otherwise.
func fewerChecks(t *testing.T, n int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f == nil || f.Value.String() != f.DefValue {
		return
	}
	old := f.Value.String()
	if err := f.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(old) })
}

// plan is a random history and what is done with it.
type plan struct {
	width, height int
	contexts      map[string]int // of the models; 0 is unknown
	pairs         []madePair
	steps         []step
	opening       programStart
	wrap          func(history.Store) history.Store // nil leaves the store
}

// step is one thing that happens: the user applies a line, selects a model, deletes the
// first pair, edits the window or continues the session in a new program; an endpoint
// names the limit of a model; another program changes pairs; or the user sends a message.
type step struct {
	filter  *madeFilter
	model   string
	remove  bool
	word    string
	reopens *programStart
	limit   int
	of      string // the model of limit
	others  bool
	message string
}

// madePair is a pair as the test thinks of it: what was said in which round.
type madePair struct {
	name, session, topic, model string
	star                        int
	flag, failed                bool
	user, final                 string
	rounds                      []madeRound
	payload                     bool

	seq  int64
	gone bool
}

// madeRound is one response with calls.
type madeRound struct {
	text  string
	calls []madeCall
}

type madeCall struct {
	result string
	ran    bool // false: the turn broke off before
	silent bool // it was invalid, and the user saw no card
}

func (c madeCall) stored(id string, response int) assistant.ToolCall {
	out := assistant.ToolCall{ID: id, Name: "list_words", Arguments: json.RawMessage(`{"n":1}`), Response: response, Silent: c.silent}
	if c.ran {
		out.Result = &assistant.ToolResult{Success: !c.silent, Message: c.result}
	}
	return out
}

// stored is the pair in the form of the store.
func (p madePair) stored(i int) assistant.Pair {
	out := assistant.Pair{
		ID: fmt.Sprintf("pair-%d", i), Session: p.session, Topic: p.topic, Model: p.model, Star: p.star, Flag: p.flag,
		UserText: safetext.Text(p.user), State: assistant.PairComplete, CreatedAt: minute(i),
	}
	if p.failed {
		out.State, out.ErrorCode, out.ErrorMessage = assistant.PairError, "net", "it broke"
	}
	if p.payload {
		out.Payloads = []assistant.Payload{{ID: "payload-" + p.name, Type: "note", Data: json.RawMessage(`{}`), Summary: strings.Repeat("a long note of "+p.name+" ", 12)}}
	}
	var text []string
	cards := 0
	for r, round := range p.rounds {
		text = append(text, round.text)
		for c, call := range round.calls {
			out.ToolCalls = append(out.ToolCalls, call.stored(fmt.Sprintf("call-%s-%d-%d", p.name, r, c), r))
			if !call.silent {
				text = append(text, fmt.Sprintf("[[tool:%d]]", cards))
				cards++
			}
		}
	}
	out.AssistantText = safetext.Text(strings.TrimSpace(strings.Join(append(text, p.final), "\n\n")))
	return out
}

// messages is what the spec says a pair gives: the user's message, the tool
// exchange, the assistant's text; empty parts give none, and a pair that failed
// gives only what was whole.
func (p madePair) messages() []llm.Message {
	if p.failed && len(p.rounds) == 0 {
		return nil
	}
	var out []llm.Message
	if p.user != "" {
		out = append(out, llm.Message{Role: llm.RoleUser, Content: p.user})
	}
	for r, round := range p.rounds {
		head := llm.Message{Role: llm.RoleAssistant, Content: round.text}
		var results []llm.Message
		for c, call := range round.calls {
			if !call.ran {
				continue
			}
			made := call.stored(fmt.Sprintf("call-%s-%d-%d", p.name, r, c), r)
			raw, _ := json.Marshal(made.Result)
			head.Calls = append(head.Calls, llm.Call{ID: made.ID, Name: made.Name, Arguments: string(made.Arguments)})
			results = append(results, llm.Message{Role: llm.RoleTool, CallID: made.ID, Content: string(raw)})
		}
		if len(results) > 0 {
			out = append(append(out, head), results...)
		}
	}
	if p.final != "" && !p.failed {
		out = append(out, llm.Message{Role: llm.RoleAssistant, Content: p.final})
	}
	return out
}

func (p madePair) sends() bool { return len(p.messages()) > 0 }

// cost is the estimate of everything that the pair gives.
func (p madePair) cost() int {
	sum := 0
	for _, m := range p.messages() {
		sum += budget.Estimate(m.Content)
		for _, c := range m.Calls {
			sum += budget.Estimate(c.Arguments)
		}
	}
	return sum
}

// madeFilter is a line with its meaning, written twice: for the program and as
// a function of the test.
type madeFilter struct {
	line     string
	included bool // "& o" stands at the end
	keeps    func(s *seeing, i int, p madePair) bool
}

// atoms are the terms that random lines are made of.
var atoms = []madeFilter{
	{line: "x", keeps: func(_ *seeing, _ int, p madePair) bool { return p.session == "here" }},
	{line: "s2", keeps: func(_ *seeing, _ int, p madePair) bool { return p.star == 2 }},
	{line: "s>=1", keeps: func(_ *seeing, _ int, p madePair) bool { return p.star >= 1 }},
	{line: "b", keeps: func(_ *seeing, _ int, p madePair) bool { return p.flag }},
	{line: "g", keeps: func(_ *seeing, _ int, p madePair) bool { return !p.flag }},
	{line: "e", keeps: func(_ *seeing, _ int, p madePair) bool { return p.failed }},
	{line: "m'*small*'", keeps: func(_ *seeing, _ int, p madePair) bool { return p.model == "test/small" }},
	{line: "t'work'", keeps: func(_ *seeing, _ int, p madePair) bool { return p.topic == "work" || p.topic == "home > work" }},
	{line: "t'home...'", keeps: func(_ *seeing, _ int, p madePair) bool { return strings.HasPrefix(p.topic, "home") }},
	{line: "c'apple'", keeps: func(_ *seeing, _ int, p madePair) bool { return strings.Contains(p.user+" / "+p.final, "apple") }},
	{line: "r5", keeps: func(s *seeing, i int, _ madePair) bool {
		newer := 0
		for _, p := range s.all[i+1:] {
			if !p.gone {
				newer++
			}
		}
		return newer < 5
	}},
}

func drawFilter(t *rapid.T) *madeFilter {
	atom := func() madeFilter {
		a := rapid.SampledFrom(atoms).Draw(t, "term")
		if rapid.Bool().Draw(t, "not") {
			return madeFilter{line: "!" + a.line, keeps: func(s *seeing, i int, p madePair) bool { return !a.keeps(s, i, p) }}
		}
		return a
	}
	f := atom()
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0:
		f = madeFilter{keeps: func(*seeing, int, madePair) bool { return true }}
	case 1:
		a, b := f, atom()
		f = madeFilter{line: a.line + " & " + b.line, keeps: func(s *seeing, i int, p madePair) bool { return a.keeps(s, i, p) && b.keeps(s, i, p) }}
	case 2:
		a, b := f, atom()
		f = madeFilter{line: "(" + a.line + " | " + b.line + ")", keeps: func(s *seeing, i int, p madePair) bool { return a.keeps(s, i, p) || b.keeps(s, i, p) }}
	}
	if f.line != "" && rapid.IntRange(0, 3).Draw(t, "o") == 0 {
		f.line, f.included = f.line+" & o", true
	}
	return &f
}

// drawText is nothing, a few words, or many.
func drawText(t *rapid.T, name string) string {
	switch rapid.IntRange(0, 7).Draw(t, name) {
	case 0:
		return ""
	case 1:
		return strings.TrimSpace(strings.Repeat("word ", rapid.IntRange(50, 160).Draw(t, "words")))
	case 2:
		return "an apple a day"
	}
	return "some words"
}

func drawPair(t *rapid.T, name string) madePair {
	p := madePair{
		name:    name,
		session: rapid.SampledFrom([]string{"here", "here", "elsewhere"}).Draw(t, "session"),
		topic:   rapid.SampledFrom([]string{"", "work", "home", "home > work"}).Draw(t, "topic"),
		model:   rapid.SampledFrom([]string{"test/small", "test/large"}).Draw(t, "model"),
		star:    rapid.IntRange(0, 3).Draw(t, "star"), flag: rapid.Bool().Draw(t, "flag"),
		user: drawText(t, "user"), final: drawText(t, "final"),
		failed:  rapid.IntRange(0, 4).Draw(t, "failed") == 0,
		payload: rapid.IntRange(0, 2).Draw(t, "payload") == 0,
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "rounds") {
		p.rounds = append(p.rounds, drawRound(t))
	}
	if p.failed && len(p.rounds) > 0 && rapid.Bool().Draw(t, "broken off") {
		last := p.rounds[len(p.rounds)-1].calls
		last[len(last)-1].ran = false
	}
	return p
}

func drawRound(t *rapid.T) madeRound {
	if rapid.IntRange(0, 5).Draw(t, "invalid") == 0 {
		return madeRound{calls: []madeCall{{result: "no such word", ran: true, silent: true}}}
	}
	r := madeRound{text: rapid.SampledFrom([]string{"", "Looking."}).Draw(t, "said")}
	for range rapid.IntRange(1, 2).Draw(t, "calls") {
		r.calls = append(r.calls, madeCall{result: drawText(t, "result"), ran: true})
	}
	return r
}

func drawPlan(t *rapid.T) plan {
	p := plan{
		width: rapid.IntRange(minWidth, 140).Draw(t, "width"), height: rapid.IntRange(minHeight, 50).Draw(t, "height"),
		contexts: map[string]int{
			"small": rapid.IntRange(systemTokens+150, systemTokens+900).Draw(t, "small"),
			"large": rapid.SampledFrom([]int{0, systemTokens + 2000, 100_000}).Draw(t, "large"),
		},
	}
	for range rapid.IntRange(0, 24).Draw(t, "pairs") {
		p.pairs = append(p.pairs, drawPair(t, fmt.Sprint(len(p.pairs))))
	}
	p.opening = drawOpening(t)
	for range rapid.IntRange(2, 6).Draw(t, "steps") {
		var next step
		switch rapid.IntRange(0, 8).Draw(t, "step") {
		case 0, 1:
			next.filter = drawFilter(t)
		case 2:
			next.model = drawModel(t)
		case 3:
			next.remove = true
		case 4:
			next.of, next.limit = drawModel(t), drawLimit(t)
		case 5:
			next.reopens = new(drawOpening(t))
		case 6:
			next.others = true
		case 7:
			next.word = "word" + fmt.Sprint(len(p.steps))
		default:
			next.message = "what about this apple?"
		}
		p.steps = append(p.steps, next)
	}
	return p.endingWith("and now?", "and then?", "and what else?")
}

func drawModel(t *rapid.T) string {
	return rapid.SampledFrom([]string{"small", "large"}).Draw(t, "model")
}

// drawLimit is a limit that some of the pairs fit into, or all of them.
func drawLimit(t *rapid.T) int {
	return rapid.IntRange(systemTokens+150, systemTokens+3000).Draw(t, "limit")
}

func drawOpening(t *rapid.T) programStart {
	o := programStart{noticed: rapid.Bool().Draw(t, "noticed"), late: rapid.Bool().Draw(t, "late")}
	if rapid.Bool().Draw(t, "names a limit") {
		o.model, o.limit = drawModel(t), drawLimit(t)
	}
	return o
}

// endingWith sends messages at the end, so that every plan has requests.
func (p plan) endingWith(messages ...string) plan {
	for _, m := range messages {
		p.steps = append(p.steps, step{message: m})
	}
	return p
}

// systemTokens is about what the system prompt and the tools of the test's
// window take: the models of a plan are drawn around it.
const systemTokens = 1400

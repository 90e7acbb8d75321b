package assistant_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/message"
)

func TestWhatTheWireSaysBesideTheAnswer(t *testing.T) {
	now := startTime
	usage := &llm.Usage{Prompt: 10, Completion: 5, Reasoning: 2, Cached: 1}
	r := newRig(t, at.NewScript(
		at.Answer{
			at.Emit{Part: llm.Retry{Attempt: 1, Reason: "busy", After: time.Second}},
			at.Emit{Part: llm.Wait{For: 20 * time.Second}},
			at.Think("one"), call("list_words", "{}"),
			at.Finish{Usage: usage},
		},
		at.Answer{
			at.Think("two"), at.Say("text"),
			at.Emit{Part: llm.Unreadable{Reason: "odd"}},
			at.Emit{Part: llm.Unreadable{Reason: "odd"}},
			at.Finish{Usage: usage},
		},
	), func(o *assistant.Options) {
		o.Now = func() time.Time { now = now.Add(time.Second); return now }
	})
	events := r.send("hi")
	complete := end[assistant.Complete](t, events)
	if retries := at.Only[assistant.Retrying](events); len(retries) != 1 || retries[0] != (assistant.Retrying{Attempt: 1, Reason: "busy", AfterMS: 1000}) {
		t.Errorf("retries = %+v", retries)
	}
	statuses := ""
	for _, s := range at.Only[assistant.Status](events) {
		statuses += s.Message + "\n"
	}
	wantIn(t, statuses, "Thinking…", "No answer for 20s", "Running list_words…", "could not be read: odd")
	wantEqual(t, "notice, once", complete.Payload.Notice, "Part of the answer could not be read: odd")
	p := r.last()
	wantEqual(t, "reasoning", p.Reasoning, "one\n\ntwo")
	wantEqual(t, "usage", *p.Usage, llm.Usage{Prompt: 20, Completion: 10, Reasoning: 4, Cached: 2})
	if p.ReasoningFor <= 0 || p.Took <= p.ReasoningFor {
		t.Errorf("reasoned for %s of %s", p.ReasoningFor, p.Took)
	}
}

// The price is that of all responses, at what is known when they come, and stays when the
// model has another price, or none, later.
func TestThePriceOfAnAnswerIsStored(t *testing.T) {
	usage, priced := &llm.Usage{Prompt: 1000, Completion: 100, Cached: 400}, llm.Facts{PriceIn: llm.PriceOf(2), PriceOut: llm.PriceOf(10), PriceCached: llm.PriceOf(1)}
	answers := []at.Answer{
		{at.Say("text"), at.Finish{Usage: usage}},
		{call("list_words", "{}"), at.Finish{Usage: usage}},
		{at.Say("text"), at.Finish{Usage: usage}},
		{at.Say("text")},
	}
	r := newRig(t, at.NewScript(answers...))
	r.send("no price is known")
	if p := r.last(); p.Price != nil || p.Usage == nil {
		t.Errorf("without a price: %v of %v", p.Price, p.Usage)
	}
	r.session.Registry().Learn(llm.ModelInfo{ID: r.session.Model(), Facts: priced})
	r.send("two responses")
	const once = (600*2 + 400*1 + 100*10) / 1e6
	stored := r.last()
	if stored.Price == nil || math.Abs(*stored.Price-2*once) > 1e-12 {
		t.Fatalf("the price is %v, want %v", stored.Price, 2*once)
	}
	r.send("no usage")
	if p := r.last(); p.Price != nil || p.Usage != nil {
		t.Errorf("without usage: %v of %v", p.Price, p.Usage)
	}
	answer := stored.Answer()
	var again assistant.Pair
	if err := (assistant.PairAnswer{ID: "x", Add: &answer, Choose: true}).Apply(&again); err != nil || again.Price == nil || *again.Price != *stored.Price {
		t.Errorf("as a variant: %v, %v", again.Price, err)
	}
}

func TestProgressIsTold(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("progress", "{}")}, at.Answer{at.Say("ok")}))
	got := at.Only[assistant.ToolProgress](r.send("go"))
	if len(got) != 2 || got[0].Progress != 0.5 || got[0].Stage != "half" || got[1].Progress != 1 || got[1].ToolUseID == "" {
		t.Errorf("progress = %+v", got)
	}
	assistant.Report(t.Context(), assistant.Progress{}) // outside of a tool it does nothing
}

func TestAnEmptyAnswerSaysSo(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say(" \n")}, at.Answer{at.Say("ok")}))
	wantEqual(t, "notice", end[assistant.Complete](t, r.send("a")).Payload.Notice, "The model returned an empty answer.")
	r.send("b")
	for _, m := range r.script.Requests()[1].Messages {
		if m.Content == "" {
			t.Errorf("an empty message is sent: %+v", m)
		}
	}
}

func TestAnOverflowAfterContentIsNoReasonToSendAgain(t *testing.T) {
	re := &llm.RequestError{Kind: llm.KindOverflow, Message: "too long after all"}
	r := trimRig(t, 3, at.NewScript(at.Answer{at.Say("some"), at.Fail{Err: re}}), assistant.Settings{})
	wantError(t, r.send("a"), "overflow")
	wantEqual(t, "requests", len(r.script.Requests()), 1)
}

func TestAStreamThatJustStopsIsInterrupted(t *testing.T) {
	r := newRig(t, at.NewScript())
	s, err := assistant.NewSession(registryOf(t, silent()), r.options)
	r.must(err)
	r.session = s
	wantError(t, r.send("a"), assistant.CodeInterrupted)
}

func TestSendRefuses(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Model = "" })
	if _, err := at.Send(t.Context(), r.session, assistant.Prompt{Text: "a"}); !errors.Is(err, assistant.ErrNoModel) {
		t.Errorf("without model: %v", err)
	}
	if _, err := at.Send(t.Context(), r.session, assistant.Prompt{Text: " \n"}); !errors.Is(err, assistant.ErrEmpty) {
		t.Errorf("nothing: %v", err)
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[string]error{
		"config: model: gone":          &llm.ConfigError{Field: "model", Reason: "gone"},
		"delta tools: cause":           &assistant.DeltaError{Delta: "tools", Err: cause},
		"net: unreachable":             &assistant.TurnError{Code: "net", Message: "unreachable", Err: cause},
		"message list: not JSON":       &message.Error{Index: -1, Reason: "not JSON"},
		"message list: message 3: bad": &message.Error{Index: 3, Reason: "bad"},
		"quota: 429 slow":              &llm.RequestError{Kind: llm.KindQuota, Status: 429, Message: "slow"},
		"net: x answered 502":          &llm.RequestError{Kind: llm.KindNet, Status: 502, Message: "x answered 502"},
		"net: cause":                   &llm.RequestError{Kind: llm.KindNet, Err: cause},
	} {
		wantEqual(t, "error", err.Error(), want)
	}
	wantEqual(t, "kind", llm.KindOf(fmt.Errorf("x: %w", &llm.RequestError{Kind: llm.KindNet})), llm.KindNet)
	wantEqual(t, "kind of another error", llm.KindOf(cause), llm.KindUnknown)
	wantEqual(t, "kind of none", llm.KindOf(nil), llm.Kind(""))
}

func TestSentencesOfFailedRequests(t *testing.T) {
	for want, err := range map[string]*llm.RequestError{
		"slow (status 429)":          {Status: 429, Message: "slow."},
		"x answered 502 Bad Gateway": {Status: 502, Message: "x answered 502 Bad Gateway"},
		"cause":                      {Err: errors.New("cause")},
		"who are you? (status 401)":  {Status: 401, Message: "who are you?"},
	} {
		wantEqual(t, "sentence", err.Sentence(), want)
	}
}

// savable is a window that knows what is saved.
type savable struct{ *at.Window }

func (w savable) Dirty() bool { return fmt.Sprint(w.Words()) != fmt.Sprint(w.Saved()) }

// wroteNothing is a change for Session.Write that leaves the file as it is.
func wroteNothing() (assistant.Saved, error) { return assistant.Saved{}, nil }

func TestTheJournalKnowsWhatIsSaved(t *testing.T) {
	w := at.NewWindow("one")
	r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Say("ok")}, at.Answer{call("save_words", "{}")}, at.Answer{at.Say("ok")}),
		func(o *assistant.Options) { o.Window, o.Settings.Confirm = savable{w}, assistant.ConfirmNever })
	wantEqual(t, "clean at first", r.journal.Clean(), true)
	r.send("add")
	wantEqual(t, "clean after a change", r.journal.Clean(), false)
	_, err := r.session.Write(t.Context(), "save", wroteNothing)
	r.must(err)
	wantEqual(t, "clean by mere words", r.journal.Clean(), false)
	r.send("save")
	wantEqual(t, "clean after saving", r.journal.Clean(), true)
	r.must(r.session.Edit("type", func() error { return w.Type("three") }))
	wantEqual(t, "clean after an edit", r.journal.Clean(), false)
}

package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"

	"github.com/google/jsonschema-go/jsonschema"
)

func noop(context.Context, struct{}) (string, error) { return "ok", nil }

// note is a payload that the model writes; accepting it adds a word.
var note = assistant.PayloadType{
	Name: "note", Source: assistant.FromLLM, Marker: "NOTE:", Description: "a note", Instructions: "NOTE - write it.",
	Schema: &jsonschema.Schema{Type: "object", Required: []string{"text"}, Properties: map[string]*jsonschema.Schema{"text": {Type: "string"}}},
	Calls: func(data json.RawMessage) ([]llm.Call, error) {
		var n struct{ Text string }
		err := json.Unmarshal(data, &n)
		return []llm.Call{{Name: "add_word", Arguments: fmt.Sprintf(`{"word":%q}`, n.Text)}}, err
	},
}

// notes are pages with the note everywhere, and an action so that buttons are offered.
func notes(t testing.TB) (*assistant.Pages, assistant.Window) {
	t.Helper()
	pages := &assistant.Pages{}
	global := note
	global.Global = true
	if err := pages.AddPayload(global); err != nil {
		t.Fatal(err)
	}
	err := pages.AddPage(assistant.Page{Name: "p", ClientActions: []assistant.ClientAction{{Action: "show", Description: "Shows."}}})
	if err != nil {
		t.Fatal(err)
	}
	return pages, &paged{Window: at.NewWindow("one"), at: assistant.Location{Page: "p"}}
}

func noteRig(t testing.TB, script *at.Script, change ...func(*assistant.Options)) *rig {
	t.Helper()
	pages, window := notes(t)
	r := newRig(t, script, append(change, func(o *assistant.Options) { o.Pages, o.Window = pages, window })...)
	r.window = window.(*paged).Window
	return r
}

func TestAPayloadBecomesACardAndLeavesTheText(t *testing.T) {
	r := noteRig(t, at.NewScript(at.Answer{at.Say(`Look: NOTE: {"text":"}\"{"} and more.`)}))
	events := r.send("a")
	found := at.Only[assistant.PayloadFound](events)
	if len(found) != 1 || string(found[0].Payload.Data) != `{"text":"}\"{"}` || found[0].Payload.ID == "" || found[0].Payload.Summary != "a note" {
		t.Fatalf("found = %+v", found)
	}
	wantEqual(t, "text", r.last().AssistantText, "Look:  and more.")
	wantEqual(t, "stored", len(r.last().Payloads), 1)
}

func TestWhatIsNoPayloadStaysVisible(t *testing.T) {
	for text, notice := range map[string]string{
		`NOTE: {"text": oops}`:     "could not be read",
		`NOTE: {"wrong": 1} after`: "could not be read",
		`NOTE: {"text": "x`:        "not finished",
		"NOTE: {\"text\": \"x\ny":  "could not be read",
		`NOTE: `:                   "not finished",
		`a NOTE: to you`:           "",
		`NOTE: {"text": "` + strings.Repeat("x", 300<<10) + `"}`:            "too long",
		`SUGGESTED_ACTIONS: {"actions":[{"label":"x","action":"nothing"}]}`: "no client action",
	} {
		r := noteRig(t, at.NewScript(at.Answer{at.Say(text)}))
		complete := end[assistant.Complete](t, r.send("a"))
		wantEqual(t, "text", r.last().AssistantText, safetext.Text(strings.TrimSpace(text)))
		wantEqual(t, "cards", len(r.last().Payloads), 0)
		if notice == "" && complete.Payload.Notice != "" || !strings.Contains(string(complete.Payload.Notice), notice) {
			t.Errorf("%.30q: notice %q, want %q", text, complete.Payload.Notice, notice)
		}
	}
}

func TestSuggestions(t *testing.T) {
	r := noteRig(t, at.NewScript(at.Answer{at.Say(`Save?
SUGGESTED_VALUES: {"values":[{"label":"Yes","value":"yes, save"}]}
SUGGESTED_ACTIONS: {"actions":[{"label":"Show","action":"show"},{"label":"Go","action":"go","handler":"server","style":"warning","data":{"n":1}}]}`)}))
	p := end[assistant.Complete](t, r.send("a")).Payload
	wantEqual(t, "text", p.Message, "Save?")
	if len(p.Values) != 1 || p.Values[0] != (assistant.SuggestedValue{Label: "Yes", Value: "yes, save"}) {
		t.Errorf("values = %+v", p.Values)
	}
	if len(p.Actions) != 2 || p.Actions[0].Handler != "client" || p.Actions[0].Style != "secondary" || p.Actions[1].Handler != "server" || p.Actions[1].Style != "warning" {
		t.Errorf("actions = %+v", p.Actions)
	}
	wantEqual(t, "server action", p.Actions[1].Message(), `Go`+"\n\n"+`{"action":"go","data":{"n":1}}`)
	if s := r.last().Suggested; s == nil || len(s.Values) != 1 || len(s.Actions) != 2 {
		t.Errorf("stored = %+v", s)
	}
}

// outcome is what a turn made of an answer, without ids.
type outcome struct{ text, streamed, notice, payloads, suggested string }

func outcomeOf(t *rapid.T, chunks []string) outcome {
	answer := at.Answer{}
	for _, c := range chunks {
		answer = append(answer, at.Say(c))
	}
	pages := &assistant.Pages{}
	global := note
	global.Global = true
	if err := pages.AddPayload(global); err != nil {
		t.Fatal(err)
	}
	s, err := assistant.NewSession(registryOf(t, at.NewScript(answer)), assistant.Options{Model: "test/script", Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	events, err := at.Send(context.Background(), s, assistant.Prompt{Text: "a"})
	if err != nil {
		t.Fatal(err)
	}
	var all []assistant.Event
	for e := range events {
		all = append(all, e)
	}
	pairs, err := s.Pairs(context.Background(), []int64{1})
	if err != nil || len(pairs) != 1 {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	p := pairs[0]
	for i := range p.Payloads {
		p.Payloads[i].ID = ""
	}
	payloads, _ := json.Marshal(p.Payloads)
	suggested, _ := json.Marshal(p.Suggested)
	return outcome{string(p.AssistantText), at.EventText(all), string(p.Notice), string(payloads), string(suggested)}
}

func TestAnyChunkingGivesTheSame(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"NOTE:", "NOT", "NO", "E:", " ", "\n", "{", "}", `"`, `\`, `{"text":"x"}`, `{"text":"{"}`, `NOTE: {"text":"y"}`, "é漢",
		"[[tool:0]]", "[[tool:", "[[", `\`, "9]]", `SUGGESTED_VALUES: {"values":[{"label":"a","value":"b"}]}`, "SUGGESTED_", "text",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, "pieces"), "")
		var chunks []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 9)).Draw(t, "n")
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		if whole, cut := outcomeOf(t, []string{text}), outcomeOf(t, chunks); whole != cut {
			t.Fatalf("%q as one:\n%+v\nas %q:\n%+v", text, whole, chunks, cut)
		}
	})
}

func TestTheManifestAndGetPayload(t *testing.T) {
	r := noteRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"find me"}`)}))
	r.send("a")
	id := r.last().Payloads[0].ID
	r.open() // a restart forgets nothing
	r.script.Then(at.Answer{call("get_payload", `{"payload_id":"`+id+`"}`), call("get_payload", `{"payload_id":"x`+id[1:]+`"}`)}, at.Answer{at.Say("ok")})
	r.send("b")
	wantIn(t, r.systemOf(1), "AVAILABLE PAYLOADS", "- ["+id+"] a note")
	got := results(t, r.script.Requests()[2])
	raw, _ := json.Marshal(got[0].Data)
	wantEqual(t, "data", string(raw), `{"text":"find me"}`)
	wantIn(t, got[1].Message, "Did you mean '"+id+"'?")
	r.session.SetView(r.session.Visible()[1:], "filtered")
	r.send("c")
	if strings.Contains(r.systemOf(3), id) {
		t.Error("the payload of a pair that is filtered away is told")
	}
}

// The payloads of all visible pairs are listed and fetched, also of those that are left
// out of the request; those of hidden pairs are neither. So the system prompt, and with it
// the boundary, does not depend on the boundary.
func TestPayloadsOfPairsThatAreLeftOutAreListed(t *testing.T) {
	r := noteRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"find me"}`)}))
	r.send("a")
	id := r.last().Payloads[0].ID
	r.script.Then(at.Answer{at.Say(words(200))})
	r.send("b")
	whole := r.session.Boundary()
	r.session.Registry().Learn(llm.ModelInfo{ID: "test/narrow", Context: whole.SYS + whole.HistoryTokens + whole.URA - 1, Known: true, Tools: true})
	r.must(r.session.SetModel("test/narrow"))
	if b := r.session.Boundary(); b.First != 1 || b.SYS != whole.SYS {
		t.Fatalf("the boundary is %+v, want the first pair left out and the same SYS as %+v", b, whole)
	}
	r.script.Then(at.Answer{call("get_payload", `{"payload_id":"`+id+`"}`)}, at.Answer{at.Say("ok")})
	r.send("c")
	wantIn(t, r.systemOf(2), "- ["+id+"] a note")
	raw, _ := json.Marshal(results(t, r.script.Requests()[3])[0].Data)
	wantEqual(t, "data", string(raw), `{"text":"find me"}`)
}

// With sends alone the first included pair only moves towards the newer ones, wherever
// pairs with payloads lie: an older one that came back would leave again with the next send.
func TestTheBoundaryDoesNotFlipAtPayloads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := noteRig(t, at.NewScript())
		for range rapid.IntRange(1, 5).Draw(rt, "pairs") {
			text := words(rapid.IntRange(1, 40).Draw(rt, "words"))
			if rapid.Bool().Draw(rt, "payload") {
				text += ` NOTE: {"text":"` + text + `"}`
			}
			r.script.Then(at.Answer{at.Say(text)})
			r.send("a")
		}
		b := r.session.Boundary()
		r.session.Registry().Learn(llm.ModelInfo{
			ID: "test/narrow", Known: true, Tools: true,
			Context: b.SYS + b.URA + rapid.IntRange(0, b.HistoryTokens+20).Draw(rt, "room"),
		})
		r.must(r.session.SetModel("test/narrow"))
		if rapid.Bool().Draw(rt, "restart") {
			registry := r.session.Registry()
			session, err := assistant.NewSession(registry, r.options)
			r.must(err)
			r.session = session
			r.must(session.SetModel("test/narrow"))
			r.must(session.Start(t.Context()))
			r.must(session.LoadView(t.Context()))
		}
		at0, before := r.session.Visible(), r.session.Boundary()
		firsts := []int{before.First}
		for range 3 {
			r.script.Then(at.Answer{at.Say("o")})
			r.send("b")
			now := r.session.Boundary()
			if now.First < firsts[len(firsts)-1] {
				rt.Fatalf("of %d pairs, the first included ones were %v and then %d", len(at0), firsts, now.First)
			}
			firsts = append(firsts, now.First)
		}
	})
}

func TestAToolsPayloadIsSummarisedByItsType(t *testing.T) {
	pages := &assistant.Pages{}
	kind := assistant.PayloadType{Name: "list", Source: assistant.FromTool, Global: true, Summarize: func(d json.RawMessage) string { return "a list of " + string(d) }}
	if err := pages.AddPayload(kind); err != nil {
		t.Fatal(err)
	}
	tool := assistant.NewTool("make", "Makes.", func(context.Context, struct{}) (assistant.ToolResult, error) {
		r := assistant.OK("made", nil)
		r.Payload = &assistant.Payload{Type: "list", Data: json.RawMessage(`3`)}
		return r, nil
	})
	tool.Global = true
	if err := pages.AddTool(tool); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, at.NewScript(at.Answer{call("make", "{}")}, at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Pages = pages })
	events := r.send("a")
	wantEqual(t, "card", at.Only[assistant.ToolComplete](events)[0].Payload.Summary, "a list of 3")
	wantIn(t, r.script.Requests()[1].Messages[3].Content, "a list of 3")
	wantEqual(t, "stored", len(r.last().Payloads), 1)
}

func TestDecide(t *testing.T) {
	ctx := context.Background()
	propose := func(t *testing.T, word string) *rig {
		t.Helper()
		r := noteRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"` + word + `"}`)}, at.Answer{at.Say("ok")}))
		r.send("a")
		return r
	}
	t.Run("accept", func(t *testing.T) {
		r := propose(t, "two")
		p := r.last()
		var puts []int
		r.store.onCommit(func(b *assistant.Batch) error { puts = append(puts, len(b.Put)); return nil })
		after, err := r.session.Decide(ctx, p.Seq, []string{p.Payloads[0].ID}, true)
		r.must(err)
		all := r.checked(at.Events(t, at.Read(r.session, after)))
		wantIn(t, end[assistant.Complete](t, all).Payload.Message, "Carried out")
		wantEqual(t, "decision and new pair in one commit", puts[0], 2)
		wantList(t, "words", r.window.Words(), "one", "two")
		wantEqual(t, "checkpoints", len(r.session.Checkpoints()), 2)
		wantEqual(t, "decision", r.pair(p.Seq).Payloads[0].Decision, "accepted")
		wantEqual(t, "requests", len(r.script.Requests()), 1)
		if _, err := r.session.Decide(ctx, p.Seq, []string{p.Payloads[0].ID}, false); err == nil {
			t.Error("decided twice")
		}
		r.send("b")
		wantIn(t, r.systemOf(1), "(accepted by the user)")
	})
	t.Run("reject", func(t *testing.T) {
		r := propose(t, "two")
		p := r.last()
		before := r.session.Turn()
		if _, err := r.session.Decide(ctx, p.Seq, []string{p.Payloads[0].ID}, false); err != nil || r.session.Turn() != before {
			t.Fatalf("Decide starts %v, %v", r.session.Turn(), err)
		}
		wantList(t, "words", r.window.Words(), "one")
		r.send("b")
		wantIn(t, r.systemOf(1), "(rejected by the user)")
	})
	t.Run("what fails is not called carried out", func(t *testing.T) {
		r := propose(t, "one")
		p := r.last()
		after, err := r.session.Decide(ctx, p.Seq, []string{p.Payloads[0].ID}, true)
		r.must(err)
		wantIn(t, end[assistant.Complete](t, at.Events(t, at.Read(r.session, after))).Payload.Message, "1 of 1 steps failed", "already exists")
	})
	t.Run("all of an answer", func(t *testing.T) {
		r := noteRig(t, at.NewScript(at.Answer{at.Say(`Two. NOTE: {"text":"two"} NOTE: {"text":"three"}`)}, at.Answer{at.Say("ok")}))
		r.send("a")
		p := r.last()
		ids := []string{p.Payloads[0].ID, p.Payloads[1].ID}
		if _, err := r.session.Decide(ctx, p.Seq, append(ids, "nothing"), true); !errors.Is(err, assistant.ErrNoPair) || r.pair(p.Seq).Payloads[0].Decision != "" {
			t.Errorf("with one that there is not: %v, and the first is %q", err, r.pair(p.Seq).Payloads[0].Decision)
		}
		after, err := r.session.Decide(ctx, p.Seq, ids, true)
		r.must(err)
		end[assistant.Complete](t, r.checked(at.Events(t, at.Read(r.session, after))))
		wantList(t, "words", r.window.Words(), "one", "two", "three")
		wantEqual(t, "checkpoints", len(r.session.Checkpoints()), 2)
		for _, decided := range r.pair(p.Seq).Payloads {
			wantEqual(t, "decision", decided.Decision, "accepted")
		}
	})
	t.Run("unknown", func(t *testing.T) {
		r := propose(t, "two")
		if _, err := r.session.Decide(ctx, r.last().Seq, []string{"nothing"}, true); !errors.Is(err, assistant.ErrNoPair) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("not stored, not done", func(t *testing.T) {
		r := propose(t, "two")
		p := r.last()
		r.store.onCommit(func(*assistant.Batch) error { return fmt.Errorf("disk full") })
		after, err := r.session.Decide(ctx, p.Seq, []string{p.Payloads[0].ID}, true)
		r.must(err)
		end[assistant.Error](t, at.Events(t, at.Read(r.session, after)))
		wantEqual(t, "decision", r.pair(p.Seq).Payloads[0].Decision, "")
		wantList(t, "words", r.window.Words(), "one")
	})
}

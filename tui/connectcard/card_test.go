package connectcard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/endpoints"
	"winnow/assistant/llm"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

const secret = "sk-pasted-0123456789abcdef"

// fake is a connector that answers as it is told, and notes what it was asked.
type fake struct {
	check, try, save []error // of each call, in order; nil once they are used up
	storages         []endpoints.Storage
	found            []endpoints.Candidate // nil: see Search
	asked            []string
}

func next(all *[]error) error {
	if len(*all) == 0 {
		return nil
	}
	err := (*all)[0]
	*all = (*all)[1:]
	return err
}

func (f *fake) Search(context.Context) []endpoints.Candidate {
	if f.found != nil {
		return f.found
	}
	return []endpoints.Candidate{
		{Kind: endpoints.KindResponds, Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", From: "its usual port", Models: 3},
		{Kind: endpoints.KindHasKey, Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", From: "OPENROUTER_API_KEY"},
		{Kind: endpoints.KindFails, Name: "proxy", BaseURL: "http://127.0.0.1:8000/v1", Err: &endpoints.Problem{Code: endpoints.WantsKey}},
		{Kind: endpoints.KindVendor, Name: "openai", BaseURL: "https://api.openai.com/v1"},
		{Kind: endpoints.KindVendor, Name: "anthropic", BaseURL: "https://api.anthropic.com/v1"},
		{Kind: endpoints.KindCustom},
	}
}

func (f *fake) Check(_ context.Context, c endpoints.Candidate, address, key string) (*endpoints.Checked, error) {
	f.asked = append(f.asked, strings.TrimSpace("check "+c.Name+" "+address+" "+key))
	if err := next(&f.check); err != nil {
		return nil, err
	}
	pasted := key != "" && !strings.Contains(key, ":")
	return &endpoints.Checked{Name: "here", Pasted: pasted, HasKey: key != "", Models: []llm.ModelInfo{{ID: "here/large", Context: 131072}, {ID: "here/small"}}}, nil
}

func (f *fake) Try(_ context.Context, _ *endpoints.Checked, id string) error {
	f.asked = append(f.asked, "try "+id)
	return next(&f.try)
}

func (f *fake) Storages() []endpoints.Storage {
	if f.storages == nil {
		return []endpoints.Storage{endpoints.Keyring, endpoints.Variable, endpoints.Plain}
	}
	return f.storages
}

func (f *fake) Save(_ context.Context, ch *endpoints.Checked, id string, to endpoints.Storage) (endpoints.Saved, error) {
	f.asked = append(f.asked, fmt.Sprintf("save %s to %d", id, to))
	saved := endpoints.Saved{Model: id, Path: f.SettingsPath(), Provider: true}
	if to == endpoints.Variable && ch.Pasted {
		saved.Variable = "KEY_FOR_HERE"
	}
	return saved, next(&f.save)
}

func (f *fake) Connected() bool     { return false }
func (f *fake) Offline(string) bool { return true }

func (f *fake) Host(string) string { return "" }

func (f *fake) SettingsPath() string { return "/home/me/.config/winnow/config.toml" }

// bench is a card on a stack, whose work is done at once.
type bench struct {
	t     *testing.T
	fake  *fake
	card  *Card
	stack overlay.Stack
	out   overlay.Outcome
}

// open opens a card that has searched.
func open(t *testing.T, f *fake) *bench {
	t.Helper()
	b := &bench{t: t, fake: f, card: New(f)}
	b.stack.Push(overlay.Connect, b.card)
	b.run(b.card.Start())
	return b
}

func (b *bench) run(out overlay.Outcome) {
	if work, ok := out.(overlay.Work); ok {
		work.Run()()
		out = overlay.Stay{}
	}
	b.out = out
}

// press presses keys. A text in quotes is pasted.
func (b *bench) press(keys ...string) *bench {
	for _, key := range keys {
		if pasted, ok := strings.CutPrefix(key, "paste:"); ok {
			b.run(b.stack.Key("", pasted))
			continue
		}
		text := key
		if len(key) > 1 {
			text = ""
		}
		b.run(b.stack.Key(keymap.Key(key), text))
	}
	return b
}

func (b *bench) frame(w, h int, o style.Options) string {
	view, _, _ := b.stack.View(w, h, style.New(o))
	return view
}

func (b *bench) shows(all ...string) {
	b.t.Helper()
	frame := strings.Join(strings.Fields(strings.ReplaceAll(ansi.Strip(b.frame(100, 30, style.Options{Unicode: true})), "│", " ")), " ")
	for _, want := range all {
		if !strings.Contains(frame, want) {
			b.t.Errorf("%q is missing in\n%s", want, ansi.Strip(b.frame(100, 30, style.Options{Unicode: true})))
		}
	}
}

func wants(code endpoints.Code) error {
	return &endpoints.Problem{Code: code, Endpoint: "here", At: "http://127.0.0.1:8000/v1", Err: errors.New("401 no such key")}
}

// states are the steps of the card, with the keys that lead there.
var states = map[string]struct {
	fake fake
	keys []string
}{
	"found":      {},
	"address":    {keys: []string{"end", "enter", "paste:localhost:9000/v1"}},
	"key":        {keys: []string{"down", "down", "down", "enter", "paste:" + secret}},
	"key-named":  {keys: []string{"down", "down", "down", "enter", "paste:env:MY_KEY"}},
	"refused":    {fake: fake{check: []error{wants(endpoints.RefusedKey)}}, keys: []string{"down", "enter"}},
	"no-answer":  {fake: fake{check: []error{wants(endpoints.NoAnswer)}}, keys: []string{"enter"}},
	"storage":    {keys: []string{"down", "down", "down", "enter", "paste:" + secret, "enter"}},
	"no-keyring": {fake: fake{storages: []endpoints.Storage{endpoints.Variable, endpoints.Plain}}, keys: []string{"down", "down", "down", "enter", "paste:" + secret, "enter"}},
	"consent":    {keys: []string{"down", "down", "down", "enter", "paste:" + secret, "enter", "down", "down", "enter"}},
	"models":     {keys: []string{"enter"}},
	"done":       {keys: []string{"down", "down", "down", "enter", "paste:" + secret, "enter", "down", "enter", "enter"}},
}

func TestFrames(t *testing.T) {
	for name, s := range states {
		f := s.fake
		b := open(t, &f).press(s.keys...)
		var all strings.Builder
		for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 50}} {
			w, h := size[0], size[1]
			dark := b.frame(w, h, style.Options{Dark: true, Unicode: true})
			for _, o := range []style.Options{{Unicode: true}, {Unicode: true, Profile: style.NoColor}, {Dark: true, Unicode: true, Profile: style.ANSI16}} {
				if got := b.frame(w, h, o); ansi.Strip(got) != ansi.Strip(dark) {
					t.Errorf("%s at %dx%d has another text with %+v:\n%s", name, w, h, o, ansi.Strip(got))
				}
			}
			for _, frame := range []string{dark, b.frame(w, h, style.Options{})} {
				if strings.Contains(frame, "pasted") || strings.Contains(frame, secret[3:12]) {
					t.Errorf("%s at %dx%d shows the key:\n%s", name, w, h, ansi.Strip(frame))
				}
				if lines := strings.Split(frame, "\n"); len(lines) > h {
					t.Errorf("%s at %dx%d has %d lines", name, w, h, len(lines))
				}
			}
			fmt.Fprintf(&all, "%dx%d\n%s\n", w, h, ansi.Strip(dark))
		}
		tuitest.Golden(t, name, all.String())
	}
}

// The cursor begins on what can be connected, and again when the user comes back.
func TestTheFirstChoiceCanBeConnected(t *testing.T) {
	dead := endpoints.Candidate{Kind: endpoints.KindFails, Name: "proxy", BaseURL: "http://127.0.0.1:1/v1", Err: &endpoints.Problem{Code: endpoints.NoAnswer}}
	locked := endpoints.Candidate{Kind: endpoints.KindFails, Name: "locked", BaseURL: "http://127.0.0.1:2/v1", Err: &endpoints.Problem{Code: endpoints.WantsKey}}
	ollama := endpoints.Candidate{Kind: endpoints.KindResponds, Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Models: 3}
	openai := endpoints.Candidate{Kind: endpoints.KindVendor, Name: "openai", BaseURL: "https://api.openai.com/v1"}
	groq := endpoints.Candidate{Kind: endpoints.KindVendor, Name: "groq", BaseURL: "https://api.groq.com/v1"}
	for want, found := range map[string][]endpoints.Candidate{
		"openai": {dead, openai, groq},
		"locked": {dead, locked, openai},
		"ollama": {ollama, dead, openai},
		"proxy":  {dead},
	} {
		b := open(t, &fake{found: found})
		b.shows("› " + want)
		if want == "openai" {
			b.press("enter", "esc").shows("› openai")
			b.press("down").shows("› groq")
		}
	}
}

func TestConnectWhatRuns(t *testing.T) {
	b := open(t, &fake{}).press("enter")
	b.shows("Which model from here", "large", "131k tokens")
	b.press("down", "enter").shows("here/small is now in use", "/home/me/.config/winnow/config.toml")
	if b.press("enter"); b.out != (overlay.Chosen{Kind: overlay.Connect, Value: "here/small"}) || b.stack.Open() {
		t.Errorf("the end is %#v", b.out)
	}
	if got := strings.Join(b.fake.asked, ", "); got != "check ollama, save here/small to 0" {
		t.Errorf("asked: %s", got)
	}
}

// A wrong key stays on the card, with the reason; then the right one is asked where it
// goes, and is tried with the model.
func TestAPastedKey(t *testing.T) {
	f := &fake{check: []error{wants(endpoints.WantsKey), wants(endpoints.RefusedKey)}, try: []error{wants(endpoints.Refused)}}
	b := open(t, f).press("down", "down", "enter")
	b.shows("127.0.0.1:8000 needs an API key", "Paste it")
	if b.card.problem != "" {
		t.Errorf("an error is shown before a key was entered: %q", b.card.problem)
	}
	b.press("enter").shows("a key is needed")
	b.press("paste:wrong", "enter").shows("Key rejected")
	b.press("paste:"+secret, "enter").shows("Where do you want to store the key?", "keyring:here", "you set KEY_FOR_HERE before each start")
	b.press("end", "enter").shows("as plain text in /home/me", "y store it there")
	b.press("x", "enter").shows("as plain text in /home/me")
	b.press("n").shows("Where do you want")
	b.press("end", "enter", "y").shows("Which model")
	b.press("enter").shows("here returned an error: 401 no such key", "Which model")
	b.press("enter").shows("is now in use")
	want := "check proxy, check proxy  wrong, check proxy  " + secret + ", try here/large, save here/large to 2"
	if got := strings.Join(f.asked, ", "); got != want {
		t.Errorf("asked: %s\nwant: %s", got, want)
	}
	if b.press("esc"); b.out != (overlay.Chosen{Kind: overlay.Connect, Value: "here/large"}) {
		t.Errorf("the end is %#v", b.out)
	}
}

// A key that only the model refuses is asked for again, and the new one is tried as well.
func TestAnotherKeyIsTriedAgain(t *testing.T) {
	f := &fake{try: []error{wants(endpoints.RefusedKey), wants(endpoints.RefusedKey)}}
	b := open(t, f).press("down", "down", "down", "enter", "paste:wrong", "enter", "down", "enter", "enter")
	b.shows("Key rejected", "Paste it")
	b.press("paste:wrong2", "enter", "down", "enter", "enter").shows("Key rejected", "Paste it")
	b.press("paste:"+secret, "enter", "down", "enter", "enter").shows("is now in use")
	want := "check openai  wrong, try here/large, check openai  wrong2, try here/large, check openai  " + secret + ", try here/large, save here/large to 1"
	if got := strings.Join(f.asked, ", "); got != want {
		t.Errorf("asked: %s\nwant: %s", got, want)
	}
}

// Esc goes back one step, and what was entered before stays.
func TestEscGoesBackOneStep(t *testing.T) {
	f := &fake{check: []error{wants(endpoints.WantsKey)}}
	b := open(t, f).press("end", "enter", "paste:localhost:9", "enter")
	b.shows("Paste it")
	b.press("paste:"+secret, "enter").shows("Where do you want to store the key?")
	b.press("down", "enter").shows("Which model from here")
	b.press("esc").shows("Where do you want to store the key?")
	b.press("down", "enter").shows("Which model from here")
	b.press("esc", "esc").shows("Paste it")
	b.press("esc").shows("> localhost:9")
	b.press("esc").shows("What would you like to connect?")
}

// An error is about the choice that failed, not about what is searched next.
func TestASearchRemovesTheError(t *testing.T) {
	b := open(t, &fake{check: []error{wants(endpoints.NoAnswer)}}).press("enter")
	b.shows("nothing answers")
	frame := func() string { return b.frame(80, 24, style.Options{Unicode: true}) }
	if b.press("g"); strings.Contains(frame(), "nothing answers") {
		t.Errorf("the error stays:\n%s", frame())
	}
	if b.press("backspace", "k", "e", "y"); !strings.Contains(frame(), "nothing matches") { // "key" stands in a heading and at the right edge
		t.Errorf("headings are searched:\n%s", frame())
	}
}

func TestAnAddressThatIsWrong(t *testing.T) {
	f := &fake{check: []error{wants(endpoints.NotAnEndpoint)}}
	b := open(t, f).press("end", "enter", "paste:localhost:9", "enter")
	b.shows("its address usually ends with /v1", "> localhost:9")
	b.press("esc").shows("Other server (URL)")
	if b.press("esc"); b.out != (overlay.Chosen{Kind: overlay.Connect}) || b.stack.Open() {
		t.Errorf("esc at the first step is %#v", b.out)
	}
}

// An address is typed or pasted on the first page, also before the search has ended.
func TestAnAddressOnTheFirstPage(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"typed":  {strings.Split("myhost:9/v1", ""), "myhost:9/v1"},
		"pasted": {[]string{"paste:http://localhost:9000/v1"}, "http://localhost:9000/v1"},
	} {
		f := &fake{}
		b := open(t, f).press(c.keys...)
		b.shows(c.want, "enter connects")
		b.press("enter").shows("Which model from here")
		if got := strings.Join(f.asked, ", "); got != "check  "+c.want {
			t.Errorf("%s: asked %q", name, got)
		}
	}
	f := &fake{check: []error{wants(endpoints.NoAnswer)}}
	b := open(t, f).press("paste:localhost:9", "enter")
	b.shows("nothing answers", "> localhost:9") // it can be corrected
	b.press("esc").shows("What would you like to connect?")

	b = &bench{t: t, fake: &fake{}}
	b.card = New(b.fake)
	b.stack.Push(overlay.Connect, b.card)
	searching := b.card.Start().(overlay.Work).Run()
	b.press("paste:localhost:9")
	searching()
	b.shows("localhost:9", "enter connects")
	if b.press("enter"); strings.Join(b.fake.asked, ", ") != "check  localhost:9" {
		t.Errorf("what was typed during the search is lost: asked %q", b.fake.asked)
	}
}

// Esc stops what is waited for, and a late answer shows nothing.
func TestEscStopsACheck(t *testing.T) {
	b := open(t, &fake{})
	work, ok := b.stack.Key("enter", "").(overlay.Work)
	if !ok {
		t.Fatal("enter checks nothing")
	}
	b.shows("asking ollama for its models")
	b.press("enter", "esc").shows("What would you like to connect?")
	work.Run()()
	b.shows("What would you like to connect?")
}

// What cannot be stored is said, and another place can be chosen.
func TestAKeyThatCannotBeStored(t *testing.T) {
	f := &fake{save: []error{wants(endpoints.NotStored)}}
	b := open(t, f).press("down", "down", "down", "enter", "paste:"+secret, "enter", "enter", "enter")
	b.shows("nothing was changed", "Where do you want")
	b.press("down", "enter", "enter").shows("Set KEY_FOR_HERE to the key before the next start")
}

func TestSentences(t *testing.T) {
	for _, code := range []endpoints.Code{
		endpoints.BadAddress, endpoints.BadKey, endpoints.KeySource, endpoints.NoAnswer, endpoints.WantsKey, endpoints.RefusedKey,
		endpoints.NotAnEndpoint, endpoints.NoModels, endpoints.Refused, endpoints.NotStored,
	} {
		if text := Sentence(wants(code)); text == "" || strings.Contains(text, string(code)) && strings.Contains(text, "_") {
			t.Errorf("%s is told as %q", code, text)
		}
	}
	if text := Sentence(errors.New("a\x1b[31m\nb")); strings.ContainsAny(text, "\x1b\n") {
		t.Errorf("an error reaches the screen as %q", text)
	}
}

// online is connected to a model that is not the built-in one.
type online struct{ Connector }

func (online) Offline(string) bool { return false }

// A model can be connected in the place of the built-in one, and where there is none,
// such as when the endpoint lists no models.
func TestUseful(t *testing.T) {
	for _, c := range []struct {
		conn  Connector
		model string
		want  bool
	}{{nil, "", false}, {online{}, "openai/gpt-5", false}, {online{}, "", true}, {&fake{}, "offline/rules", true}} {
		if got := Useful(c.conn, c.model); got != c.want {
			t.Errorf("Useful(%T, %q) = %v", c.conn, c.model, got)
		}
	}
}

// A key that is pasted where an address belongs is neither shown nor looked up.
func TestAKeyIsNotTakenForAnAddress(t *testing.T) {
	for name, keys := range map[string][]string{
		"the search":         {"paste:" + secret},
		"another address":    {"end", "enter", "paste:" + secret},
		"another and enter":  {"end", "enter", "paste:" + secret, "enter"},
		"a space around":     {"end", "enter", "paste: " + secret + " ", "enter"},
		"the search, opened": {"down", "paste:" + secret, "enter"},
	} {
		f := &fake{}
		b := open(t, f)
		b.press(keys...)
		if strings.Contains(b.frame(80, 24, style.Options{}), secret) || slices.ContainsFunc(f.asked, func(call string) bool { return strings.Contains(call, secret) }) {
			t.Errorf("%s: asked %q, and shows\n%s", name, f.asked, b.frame(80, 24, style.Options{}))
		}
		if chosen, ok := b.out.(overlay.Chosen); ok && strings.Contains(chosen.Query+chosen.Value, secret) {
			t.Errorf("%s: it becomes %+v", name, chosen)
		}
	}
	open(t, &fake{}).press("end", "enter", "paste:"+secret, "enter").shows("this looks like an API key")
}

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/adapters/endpoints"
	"winnow/assistant/assistanttest"
	"winnow/tui/plain"
)

// The first screen of all is the welcome: it says that no model is connected, and f6 connects one.
func TestTheFirstScreenIsTheWelcome(t *testing.T) {
	t.Parallel()
	for _, s := range endpoints.LocalServers() {
		if (&endpoints.Endpoint{BaseURL: s.URL}).Responds(t.Context()) {
			t.Skipf("%s runs on this machine", s.Name)
		}
	}
	dir := t.TempDir()
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return name == "TMUX" || strings.HasPrefix(name, "WINNOW_") || strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_BASE_URL")
	})
	env = append(env, "WINNOW_HOME="+filepath.Join(dir, "home"))
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("OPENAI_API_KEY=sk-of-the-file-0123456789\nIGNORE_MODELS_OPENAI=gpt-3.5*\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := startVterm(t, dir, env)
	v.wait("built-in rules, no model connected")
	v.wait("1 rule")
	const card = "What would you like to connect?"
	if frame, _ := v.frame(); strings.Contains(frame, card) {
		t.Errorf("the card lies above the welcome\n%s", frame)
	}
	v.press("\x1b[17~") // f6
	v.wait(card)
	v.wait("use OPENAI_API_KEY of .env")
	v.press(escape)
	v.until("the card is closed", func(frame string) bool { return !strings.Contains(frame, card) })
	v.press("\x11") // ctrl+q
	<-v.ended
}

// winnow config connect asks on a terminal for what the flags do not specify, and does not show the key.
func TestConfigConnectAsksOnATerminal(t *testing.T) {
	t.Parallel()
	const key = "sk-typed-0123456789abcdef"
	server := assistanttest.NewServer(t, assistanttest.Text("ok")).Models(func(x *assistanttest.Exchange) {
		if x.Header.Get("Authorization") == "Bearer "+key {
			assistanttest.ModelList("tiny", "large")(x)
			return
		}
		assistanttest.Respond(http.StatusUnauthorized, `{"error":{"message":"no such key"}}`)(x)
	})
	p := startOn(t, "exec winnow config connect")
	for _, step := range [][2]string{
		{"number, name or address (Enter skips): ", server.URL},
		{"needs a key", ""},
		{"(not shown): ", key},
		{"Where do you want to store the key?", ""},
		{"number (Enter skips): ", "in the environment variable"},
		{"Which model?", ""},
		{"number or name (Enter skips): ", "large"},
		{"use local/large from now on? (y/n): ", "y"},
	} {
		if p.wait(step[0]); step[1] != "" {
			p.keys(step[1] + "\n")
		}
	}
	if got := p.status(); got != 0 {
		t.Errorf("exit status %d\n%s", got, p.written())
	}
	p.wait("local/large is now in use")
	p.wait("set the environment variable KEY_FOR_LOCAL to the key")
	if strings.Contains(p.written(), key) {
		t.Errorf("the key is shown: %s", p.written())
	}
	if err := p.cooked(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(p.cmd.Dir, "home", "config", "config.toml"))
	if err != nil || !strings.Contains(string(text), `api_key = "env:KEY_FOR_LOCAL"`) || strings.Contains(string(text), key) {
		t.Errorf("the settings are\n%s\n%v", text, err)
	}

	p = startOn(t, "exec winnow config connect")
	p.wait("(Enter skips): ")
	p.keys("\x03")
	if got := p.status(); got != statusCancelled {
		t.Errorf("ctrl+c ends with %d\n%s", got, p.written())
	}
}

// --plain connects a model by asking questions, and the next message goes to that model.
func TestPlainConnectsAModel(t *testing.T) {
	t.Parallel()
	server := assistanttest.NewServer(t, assistanttest.Text("Hello from the server.")).Models(assistanttest.ModelList("tiny", "large"))
	p := startOn(t, "exec winnow --plain")
	p.wait("You: ")
	for _, step := range [][2]string{
		{"/connect", "name or address (Enter skips): "},
		{server.URL, "number or name (Enter skips): "},
		{"large", "use local/large from now on? (y/n): "},
		{"y", "local/large is now in use"},
		{"a message", "Hello from the server."},
	} {
		<-time.After(plain.ReadingTime) // earlier input does not count as an answer
		p.keys(step[0] + "\n")
		p.wait(step[1])
	}
	p.keys("/quit\n")
	if got := p.status(); got != 0 {
		t.Errorf("exit status %d\n%s", got, p.written())
	}
	if asked := server.Asked(); asked[len(asked)-1].Chat.Model != "large" {
		t.Errorf("the message went to %q", asked[len(asked)-1].Chat.Model)
	}
	text, err := os.ReadFile(filepath.Join(p.cmd.Dir, "home", "config", "config.toml"))
	if err != nil || !strings.Contains(string(text), `model = "local/large"`) || !strings.Contains(string(text), server.URL) {
		t.Errorf("the settings are\n%s\n%v", text, err)
	}
}

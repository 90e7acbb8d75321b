package endpoints

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/adapters/config"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

const pasted = "sk-pasted-0123456789abcdef"

// bench is a Connector over a settings file and a .env file.
type bench struct {
	*Connector
	path   string // the settings
	env    string // the .env file
	picked string
	redact *safetext.Redactor
}

// open makes a Connector. settings is the content of the settings file; "" is none.
func open(t *testing.T, settings, env string, local []Server, environ ...string) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{path: filepath.Join(dir, "config.toml"), env: filepath.Join(dir, ".env"), redact: &safetext.Redactor{}}
	for path, text := range map[string]string{b.path: settings, b.env: env} {
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := config.Load(config.Options{Path: b.path, Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Settings: s, Environ: environ, EnvFile: b.env, Local: local, Redactor: b.redact}
	set, err := Find(o)
	if err != nil {
		t.Fatal(err)
	}
	b.Connector = NewConnector(ConnectOptions{Endpoints: o, Set: set, Pick: func(_ context.Context, id string) error {
		b.picked = id
		return nil
	}})
	return b
}

// candidate is the one of this name; "" is the last, whose address is entered.
func (b *bench) candidate(t *testing.T, name string) Candidate {
	t.Helper()
	all := b.Search(t.Context())
	i := slices.IndexFunc(all, func(c Candidate) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("%q was not found among %+v", name, all)
	}
	return all[i]
}

func (b *bench) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wantsKey answers a list of models to who has the key.
func wantsKey(key string) at.Reply {
	return func(x *at.Exchange) {
		if x.Header.Get("Authorization") == "Bearer "+key {
			at.ModelList("behind-a-key", "text-embedding-3-small")(x)
			return
		}
		at.Respond(http.StatusUnauthorized, `{"error":{"message":"no such key"}}`)(x)
	}
}

// refusesKey is an address of this machine at which nobody listens.
const refusesKey = "http://127.0.0.1:1/v1"

func TestSearchFindsWhatRuns(t *testing.T) {
	ollama := at.NewServer(t).Models(at.Respond(http.StatusOK, `{"object":"list","data":[{"id":"llama3:8b"},{"id":"nomic-embed-text"}]}`))
	studio := at.NewServer(t).Models(at.Respond(http.StatusOK, `{"data":[]}`))
	llama := at.NewServer(t).Models(at.Respond(http.StatusOK, `{"models":[{"name":"gguf"}],"object":"list","data":[{"id":"gguf","meta":{"n_ctx":4096}}]}`))
	proxy := at.NewServer(t).Models(wantsKey("sk-of-the-proxy-000"))
	b := open(t, "", "PROXY_BASE_URL="+proxy.URL+"\n", []Server{{Name: "ollama", URL: ollama.URL}, {Name: "lmstudio", URL: studio.URL}, {Name: "llamacpp", URL: llama.URL}, {Name: "none", URL: refusesKey}},
		"OPENROUTER_API_KEY=sk-or-0123456789abcdef", "UNHEARD_OF_API_KEY=x", "GROQ_API_KEY=")
	var got []string
	for _, c := range b.Search(t.Context()) {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s %d %s", c.Kind, c.Name, c.Models, CodeOf(c.Err))))
	}
	want := []string{"0 ollama 1", "0 llamacpp 1", "1 openrouter 0", "3 proxy 0 wants_key", "3 lmstudio 0 no_models"}
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("found %q, want first %q", got, want)
	}
	if !slices.Contains(got, "4 openai 0") || !slices.Contains(got, "4 groq 0") || slices.Contains(got, "4 openrouter 0") || got[len(got)-1] != "5  0" {
		t.Errorf("found %q, want the vendors without a key, and last an address of one's own", got)
	}
	for _, s := range []*at.Server{ollama, studio, llama, proxy} {
		for _, x := range s.Asked() {
			if strings.Contains(fmt.Sprint(x.Header), "sk-or") {
				t.Errorf("a search sent a key of the environment: %v", x.Header)
			}
		}
	}
}

// A key of the .env file is offered by its name, for its provider's own address alone, and
// used like one that is pasted.
func TestAKeyOfTheEnvFileIsOffered(t *testing.T) {
	const key = "sk-of-the-file-0123456789"
	b := open(t, "", "OPENAI_API_KEY="+key+"\nOPENAI_API_BASE=https://elsewhere.example/v1\nGROQ_API_KEY=\nUNHEARD_OF_API_KEY=x\nMISTRAL_API_KEY=y\nGEMINI_API_KEY_1=first\nGEMINI_API_KEY_2=second\nXAI_API_KEYS=x\n", nil, "MISTRAL_API_KEY=z")
	c := b.candidate(t, "openai")
	if c.Kind != KindHasKey || c.From != "OPENAI_API_KEY of .env" || c.BaseURL != "https://api.openai.com/v1" {
		t.Errorf("%+v", c)
	}
	if c := b.candidate(t, "mistral"); c.From != "MISTRAL_API_KEY" {
		t.Errorf("the environment wins over the file: %+v", c)
	}
	if c := b.candidate(t, "gemini"); c.Kind != KindHasKey || c.From != "GEMINI_API_KEY_1 of .env" {
		t.Errorf("numbered keys: %+v", c)
	}
	if c := b.candidate(t, "xai"); c.Kind != KindVendor {
		t.Errorf("a variable that is no key: %+v", c)
	}
	if c := b.candidate(t, "groq"); c.Kind != KindVendor {
		t.Errorf("a key without a value: %+v", c)
	}
	server := at.NewServer(t).Models(wantsKey(key))
	c.BaseURL, c.provider.BaseURL = server.URL, server.URL
	checked, err := b.Check(t.Context(), c, "", "")
	if err != nil || !checked.Pasted || !checked.HasKey {
		t.Errorf("%+v, %v; want a key that is stored where the user says", checked, err)
	}
	if text := b.redact.Redact(key); strings.Contains(text, key) {
		t.Error("the key is not redacted")
	}
}

func TestTheHostOfAModel(t *testing.T) {
	b := open(t, "[[provider]]\nname = \"acme\"\nbase_url = \"https://llm.acme.example/v1\"\n", "", nil)
	for id, want := range map[string]string{"acme/big": "llm.acme.example", "nobody/x": "", OfflineModel: ""} {
		if got := b.Host(id); got != want {
			t.Errorf("Host(%s) = %q, want %q", id, got, want)
		}
	}
}

// An address on another machine that a file of the folder names is not asked.
func TestSearchAsksNoOtherMachine(t *testing.T) {
	b := open(t, "", "PROXY_BASE_URL=https://elsewhere.example/v1\nPROXY_API_KEY=sk-for-proxy-123\n", nil)
	if c := b.candidate(t, ProxyName); c.Kind != KindSetUp || c.Err != nil {
		t.Errorf("%+v, want one that was not asked", c)
	}
}

func TestAServerThatHangsDelaysNothing(t *testing.T) {
	hangs := at.NewServer(t).Models(at.Unanswered(at.NewGate(), at.ModelList("late")))
	b := open(t, "", "", []Server{{Name: "ollama", URL: hangs.URL}})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	b.Search(ctx) // ends, or the test does not
}

func TestConnectALocalServer(t *testing.T) {
	s := at.NewServer(t).Models(at.ModelList("llama3", "qwen"))
	b := open(t, "# mine\ntheme = \"dark\" # at night\n", "", []Server{{Name: "ollama", URL: s.URL}})
	ch, err := b.Check(t.Context(), b.candidate(t, "ollama"), "", "")
	if err != nil || len(ch.Models) != 2 || ch.Pasted {
		t.Fatalf("%+v, %v", ch, err)
	}
	done, err := b.Save(t.Context(), ch, "ollama/qwen", Plain)
	if err != nil || b.picked != "ollama/qwen" || done.Path != b.path || done.Provider {
		t.Errorf("%+v, %v, picked %q", done, err, b.picked)
	}
	if got, want := b.text(t), "# mine\ntheme = \"dark\" # at night\nmodel = \"ollama/qwen\"\n"; got != want {
		t.Errorf("the settings are\n%s\nwant\n%s", got, want)
	}
}

// What was cancelled before it was stored is not stored.
func TestACancelledSaveWritesNothing(t *testing.T) {
	s := at.NewServer(t).Models(at.ModelList("llama3"))
	b := open(t, "theme = \"dark\"\n", "", []Server{{Name: "ollama", URL: s.URL}})
	ch, err := b.Check(t.Context(), b.candidate(t, "ollama"), "", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Save(ctx, ch, "ollama/llama3", Plain); !errors.Is(err, context.Canceled) {
		t.Errorf("Save = %v; want that it was cancelled", err)
	}
	if got := b.text(t); got != "theme = \"dark\"\n" || b.picked != "" {
		t.Errorf("picked %q, and the settings are\n%s", b.picked, got)
	}
}

// A model of the folder's proxy is remembered for the folder; a key of its own makes it
// an endpoint of the settings.
func TestConnectTheProxy(t *testing.T) {
	s := at.NewServer(t).Models(wantsKey(pasted))
	b := open(t, "", "PROXY_BASE_URL="+s.URL+"\nPROXY_API_KEY="+pasted+"\n", nil)
	ch, err := b.Check(t.Context(), b.candidate(t, ProxyName), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if done, err := b.Save(t.Context(), ch, "proxy/behind-a-key", Plain); err != nil || !done.Folder || b.picked != "proxy/behind-a-key" {
		t.Errorf("%+v, %v, picked %q", done, err, b.picked)
	}
	if !slices.ContainsFunc(b.opts.Set.Registry.Models(), func(m llm.ModelInfo) bool { return m.ID == "proxy/behind-a-key" }) {
		t.Error("the run does not know the model of the proxy")
	}
	if _, err := os.Stat(b.path); err == nil {
		t.Error("there are settings, which would name a proxy in each folder")
	}

	b = open(t, "", "PROXY_BASE_URL="+s.URL+"\n", nil)
	c := b.candidate(t, ProxyName)
	if _, err := b.Check(t.Context(), c, "", ""); CodeOf(err) != WantsKey {
		t.Errorf("without a key: %v", err)
	}
	if _, err := b.Check(t.Context(), c, "", "sk-wrong-0123456789"); CodeOf(err) != RefusedKey || strings.Contains(err.Error(), "sk-wrong") {
		t.Errorf("with a wrong key: %v", err)
	}
	if ch, err = b.Check(t.Context(), c, "", pasted); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(ch.Name, "proxy-") || ch.Models[0].ID != ch.Name+"/behind-a-key" {
		t.Errorf("it is named %q with %v", ch.Name, ch.Models)
	}
}

func TestStorageOfAPastedKey(t *testing.T) {
	s := at.NewServer(t).Models(wantsKey(pasted))
	for to, want := range map[Storage]string{Variable: "env:KEY_FOR_LOCAL", Plain: pasted, Keyring: "keyring:local"} {
		fakeKeyring(t, "")
		b := open(t, "", "", nil, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere", "PATH="+os.Getenv("PATH"))
		if got := b.Storages(); got[0] != Keyring {
			t.Errorf("storages are %v, want the keyring first", got)
		}
		ch, err := b.Check(t.Context(), b.candidate(t, ""), s.URL, " "+pasted+"\n")
		if err != nil || !ch.Pasted {
			t.Fatalf("%+v, %v", ch, err)
		}
		done, err := b.Save(t.Context(), ch, "local/behind-a-key", to)
		if err != nil || !done.Provider || (done.Variable != "") != (to == Variable) {
			t.Errorf("%d: %+v, %v", to, done, err)
		}
		text := b.text(t)
		if !strings.HasPrefix(text, "model = \"local/behind-a-key\"\n\n[[provider]]\nname = \"local\"\n") {
			t.Errorf("%d: the settings are\n%s", to, text)
		}
		if !strings.Contains(text, `api_key = "`+want+`"`) || to != Plain && strings.Contains(text, pasted) {
			t.Errorf("%d: the settings are\n%s\nwant the key as %s", to, text, want)
		}
		if info, err := os.Stat(b.path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the settings have %v, %v", info.Mode(), err)
		}
		model, name, _, err := b.opts.Set.Registry.Open("local/behind-a-key")
		if err != nil || name != "behind-a-key" || model != llm.Model(ch.endpoint) {
			t.Errorf("%d: the run has not got it: %v, %v", to, name, err)
		}
		if b.redact.Redact("x "+pasted) != "x "+b.redact.Redact(pasted) || strings.Contains(b.redact.Redact(pasted), "pasted") {
			t.Error("the key is not redacted")
		}
		// The next run reads the same.
		again := open(t, text, "", nil, "KEY_FOR_LOCAL="+pasted, "PATH="+os.Getenv("PATH"))
		if e := again.opts.Set.Named("local"); e == nil {
			t.Errorf("%d: the next run has no such endpoint", to)
		} else if key, err := e.APIKey(t.Context()); key != pasted || err != nil {
			t.Errorf("%d: the next run reads the key %q, %v", to, key, err)
		}
	}
}

// fakeKeyring puts a secret-tool into PATH that stores in a folder; a fault is run first.
func fakeKeyring(t *testing.T, fault string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\n" + fault + "\nfor name; do :; done\ncase $1 in\nstore) cat > '" + dir + "'/\"$name\" ;;\nlookup) cat '" + dir + "'/\"$name\" ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "secret-tool"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestNoKeyringHere(t *testing.T) {
	s := at.NewServer(t).Models(wantsKey(pasted))
	b := open(t, "", "", nil)
	if got := b.Storages(); got[0] != Variable {
		t.Errorf("storages are %v, want no keyring", got)
	}
	for _, fault := range []string{"exit 1", "[ $1 = lookup ] && echo another && exit"} {
		fakeKeyring(t, fault)
		ch, err := b.Check(t.Context(), b.candidate(t, ""), s.URL, pasted)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Save(t.Context(), ch, ch.Models[0].ID, Keyring)
		if CodeOf(err) != NotStored || strings.Contains(err.Error(), pasted) {
			t.Errorf("%s: Save = %v", fault, err)
		}
		if _, err := os.Stat(b.path); err == nil || b.picked != "" {
			t.Errorf("%s: something was written although the key was not stored", fault)
		}
	}
}

func TestProblems(t *testing.T) {
	page := at.NewServer(t).Models(at.Respond(http.StatusOK, "<html>hello</html>"))
	missing := at.NewServer(t).Models(at.Respond(http.StatusNotFound, "404"))
	embeds := at.NewServer(t).Models(at.ModelList("text-embedding-3-small"))
	busy := at.NewServer(t).Models(at.Respond(http.StatusTooManyRequests, `{"error":"slow down"}`))
	b := open(t, "", "", nil)
	custom := b.candidate(t, "")
	for name, c := range map[string]struct {
		address, key string
		want         Code
	}{
		"no address":       {"", "", BadAddress},
		"another scheme":   {"ftp://example.com", "", BadAddress},
		"unencrypted":      {"http://example.com/v1", "", BadAddress},
		"spaces in a key":  {page.URL, "my key", BadKey},
		"an empty name":    {page.URL, "env:", BadKey},
		"an unset name":    {page.URL, "env:NOT_SET", KeySource},
		"a failed command": {page.URL, "cmd:false", KeySource},
		"nobody there":     {refusesKey, "", NoAnswer},
		"a page":           {page.URL, "", NotAnEndpoint},
		"nothing there":    {missing.URL, "", NotAnEndpoint},
		"no chat model":    {embeds.URL, "", NoModels},
		"a quota":          {busy.URL, "", Refused},
	} {
		_, err := b.Check(t.Context(), custom, c.address, c.key)
		if CodeOf(err) != c.want {
			t.Errorf("%s: %v with the code %q, want %q", name, err, CodeOf(err), c.want)
		}
		if err != nil && (strings.HasPrefix(err.Error(), " ") || strings.Contains(err.Error(), "()")) {
			t.Errorf("%s: %q names an endpoint or an address that it does not know", name, err)
		}
	}
}

func TestIsAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"http://localhost:8000/v1": true, "localhost:8000": true, "myhost:9/v1": true, "[::1]:8000": true, "localhost": true,
		"api.example.com/v1": true, "127.0.0.1": true,
		"": false, "openai": false, "api.openai": false, "a model": false, "qwen:8b": false, "http://": false, "a b:80": false,
	} {
		if got := IsAddress(text); got != want {
			t.Errorf("IsAddress(%q) = %v", text, got)
		}
	}
}

// Without a scheme an address of this machine is not encrypted, another one is.
func TestTheSchemeOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"localhost:8000": "http://localhost:8000", "127.0.0.1/v1": "http://127.0.0.1/v1", "[::1]:8000/v1": "http://[::1]:8000/v1",
		"api.example.com/v1": "https://api.example.com/v1", "[2001:db8::1]:8000": "https://[2001:db8::1]:8000",
	} {
		if p, err := customProvider(address); err != nil || p.BaseURL != want {
			t.Errorf("%q is %q, %v, want %q", address, p.BaseURL, err, want)
		}
	}
}

// The address of an endpoint of the run means that endpoint: its key, its name.
func TestTheAddressOfAnEndpointOfTheRun(t *testing.T) {
	s := at.NewServer(t).Models(wantsKey(pasted))
	b := open(t, "", "PROXY_BASE_URL="+s.URL+"\nPROXY_API_KEY="+pasted+"\n", nil)
	ch, err := b.Check(t.Context(), b.candidate(t, ""), strings.TrimSuffix(s.URL, "/v1")+"/", "")
	if err != nil || ch.Name != ProxyName || ch.write {
		t.Errorf("%+v, %v", ch, err)
	}
}

// The usual path is added to an address that has none.
func TestAddressWithoutAPath(t *testing.T) {
	s := at.NewServer(t).Models(func(x *at.Exchange) {
		if x.Path == "/v1/models" {
			at.ModelList("m")(x)
			return
		}
		at.Respond(http.StatusNotFound, "404")(x)
	})
	b := open(t, "", "", nil)
	host := strings.TrimPrefix(strings.TrimSuffix(s.URL, "/v1"), "http://")
	ch, err := b.Check(t.Context(), b.candidate(t, ""), host, "")
	if err != nil || ch.BaseURL != s.URL || ch.Models[0].ID != "local/m" {
		t.Fatalf("%+v, %v", ch, err)
	}
}

func TestTryFindsAKeyThatOnlyTheListAccepts(t *testing.T) {
	s := at.NewServer(t, at.Respond(http.StatusUnauthorized, `{"error":"no such key"}`), at.Text("ok"))
	b := open(t, "", "", nil)
	ch, err := b.Check(t.Context(), b.candidate(t, ""), s.URL, pasted)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Try(t.Context(), ch, ch.Models[0].ID); CodeOf(err) != RefusedKey {
		t.Errorf("Try = %v, want a refused key", err)
	}
	if err := b.Try(t.Context(), ch, ch.Models[0].ID); err != nil {
		t.Errorf("Try = %v", err)
	}
}

// A provider that is connected again keeps its place, its comments and its other keys.
func TestConnectAgain(t *testing.T) {
	s := at.NewServer(t).Models(wantsKey(pasted))
	const before = `# top
send_key = "enter"

# the first
[[provider]]
name = "other"
base_url = "https://other.example/v1" # theirs

[[provider]] # mine
name = "local"
base_url = "%s"
api_key = "env:OLD" # the old one
models = []

[keys.view]
fold = "X"
`
	b := open(t, fmt.Sprintf(before, s.URL), "", nil)
	ch, err := b.Check(t.Context(), b.candidate(t, "local"), "", pasted)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(t.Context(), ch, "local/behind-a-key", Variable); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.Replace(fmt.Sprintf(before, s.URL), "env:OLD", "env:KEY_FOR_LOCAL", 1), "\"enter\"\n", "\"enter\"\nmodel = \"local/behind-a-key\"\n", 1)
	if got := b.text(t); got != want {
		t.Errorf("the settings are\n%s\nwant\n%s", got, want)
	}
}

// Anthropic has its key in a header; the settings of it are read as they were written.
func TestAVendorWithAHeader(t *testing.T) {
	b := open(t, "", "", nil)
	c := b.candidate(t, "anthropic")
	p := withKey(c.provider, "env:ANTHROPIC_API_KEY")
	if p.APIKey != "" || p.Headers["x-api-key"] != "env:ANTHROPIC_API_KEY" || p.Headers["anthropic-version"] == "" {
		t.Fatalf("%+v", p)
	}
	ch := &Checked{Name: "anthropic", write: true, provider: p}
	if err := b.write(ch, p, "anthropic/claude"); err != nil {
		t.Fatalf("%v\n%s", err, b.text(t))
	}
	if keyOf(p) != "env:ANTHROPIC_API_KEY" || ch.KeyVariable() != "KEY_FOR_ANTHROPIC" {
		t.Errorf("the key of %+v is %q in %s", p, keyOf(p), ch.KeyVariable())
	}
}

// A provider that has its key in a header is given another key there.
func TestAnotherKeyInAHeader(t *testing.T) {
	s := at.NewServer(t).Models(func(x *at.Exchange) {
		if x.Header.Get("X-Api-Key") == pasted && x.Header.Get("Anthropic-Version") == "2023-06-01" {
			at.ModelList("claude")(x)
			return
		}
		at.Respond(http.StatusUnauthorized, `{"error":{"message":"no such key"}}`)(x)
	})
	settings := "[[provider]]\nname = \"mine\"\nbase_url = \"" + s.URL + "\"\nheaders = { \"anthropic-version\" = \"2023-06-01\", \"x-api-key\" = \"env:OLD\" }\n"
	for name, address := range map[string]string{"mine": "", "": s.URL} {
		b := open(t, settings, "", nil, "OLD=sk-old-0123456789abcdef")
		c := b.candidate(t, name)
		if _, err := b.Check(t.Context(), c, address, ""); CodeOf(err) != RefusedKey {
			t.Errorf("%q with the old key: %v, want that it is refused", name, err)
		}
		ch, err := b.Check(t.Context(), c, address, pasted)
		if err != nil {
			t.Errorf("%q with the new key: %v", name, err)
			continue
		}
		if _, err := b.Save(t.Context(), ch, ch.Models[0].ID, Variable); err != nil {
			t.Errorf("%q: Save = %v", name, err)
		}
		again := open(t, b.text(t), "", nil, "OLD=sk-old-0123456789abcdef", ch.KeyVariable()+"="+pasted)
		if _, err := again.Check(t.Context(), again.candidate(t, ch.Name), "", ""); err != nil {
			t.Errorf("%q: the next run: %v, with the settings\n%s", name, err, again.text(t))
		}
	}
}

// A file with an error, or a settings table that a text edit cannot change, stays as it is.
func TestASettingsFileThatCannotBeChanged(t *testing.T) {
	s := at.NewServer(t).Models(at.ModelList("m"))
	b := open(t, "", "", nil)
	ch, err := b.Check(t.Context(), b.candidate(t, ""), s.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	const broken = "confrim = 1\n"
	if err := os.WriteFile(b.path, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(t.Context(), ch, "local/m", Plain); CodeOf(err) != NotStored || !strings.Contains(err.Error(), "confrim") {
		t.Errorf("Save = %v", err)
	}
	if b.text(t) != broken || b.picked != "" {
		t.Errorf("the file is %q, picked %q", b.text(t), b.picked)
	}
}

// An edit that changes what another setting is read as is refused; the model is meant to
// change.
func TestSameSettings(t *testing.T) {
	load := func(environ ...string) *config.Settings {
		s, err := config.Load(config.Options{Path: filepath.Join(t.TempDir(), "none.toml"), Environ: environ})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for entry, want := range map[string]bool{
		"WINNOW_MODEL=local/x": true, "WINNOW_CONFIRM=always": false, "WINNOW_MAX_ITERATIONS=9": false, "WINNOW_MOUSE=true": false, "WINNOW_IDLE_TIMEOUT=9s": false,
	} {
		if got := sameSettings(load(), load(entry), nil); got != want {
			t.Errorf("with %s the settings are the same: %v, want %v", entry, got, want)
		}
	}
}

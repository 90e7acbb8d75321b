package endpoints

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/adapters/config"
	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/offline"
)

var hello = llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.RoleUser, Content: "hello"}}}

// ask streams one request to an endpoint.
func ask(t *testing.T, e *Endpoint) (string, error) {
	t.Helper()
	req := hello
	if e.Name == OfflineName {
		req.Model = offline.ModelID
	}
	parts, err := assistanttest.Parts(e.Stream(t.Context(), req))
	text, _, _ := assistanttest.JoinParts(parts)
	return text, err
}

func provider(url string) config.Provider {
	return config.Provider{Name: "mine", BaseURL: url, Line: 3}
}

func TestAConfiguredProviderSendsItsKeyAndHeaders(t *testing.T) {
	s := assistanttest.NewServer(t)
	p := provider(s.URL)
	p.APIKey, p.Headers = "env:MY_KEY", map[string]config.Secret{"X-Own": "env:OWN"}
	set := find(t, "", Options{
		Settings: &config.Settings{Providers: []config.Provider{p}},
		Environ:  []string{"MY_KEY=sk-0123456789", "OWN=own-value"},
	})
	if text, err := ask(t, set.Named("mine")); text != "ok" || err != nil {
		t.Fatalf("the answer is %q, %v", text, err)
	}
	h := s.Asked()[0].Header
	if h.Get("Authorization") != "Bearer sk-0123456789" || h.Get("X-Own") != "own-value" {
		t.Errorf("sent the headers %v", h)
	}
	if key, err := set.Named("mine").APIKey(t.Context()); key != "sk-0123456789" || err != nil {
		t.Errorf("APIKey = %q, %v", key, err)
	}
	if body, err := set.Named("mine").Encode(hello); err != nil || !strings.Contains(string(body), "hello") || len(s.Asked()) != 1 {
		t.Errorf("Encode = %s, %v, %d requests", body, err, len(s.Asked()))
	}
}

func TestASecretThatCannotBeReadFailsEachUse(t *testing.T) {
	s := assistanttest.NewServer(t)
	for name, change := range map[string]func(*config.Provider){
		"the key of mine":          func(p *config.Provider) { p.APIKey = "env:NOT_SET" },
		"the header X-Own of mine": func(p *config.Provider) { p.Headers = map[string]config.Secret{"X-Own": "env:NOT_SET"} },
	} {
		p := provider(s.URL)
		change(&p)
		e := find(t, "", Options{Settings: &config.Settings{Providers: []config.Provider{p}}}).Named("mine")
		_, streamErr := ask(t, e)
		_, listErr := e.List(t.Context())
		_, encodeErr := e.Encode(hello)
		_, imageErr := e.Image(t.Context(), "m", "a cat")
		for _, err := range []error{streamErr, listErr, encodeErr, imageErr} {
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "NOT_SET") {
				t.Errorf("error %v, want one about %s", err, name)
			}
		}
		if llm.KindOf(streamErr) != llm.KindAuth {
			t.Errorf("the stream fails with the kind %s, want auth", llm.KindOf(streamErr))
		}
	}
	if len(s.Asked()) != 0 {
		t.Errorf("%d requests were sent", len(s.Asked()))
	}
}

// A key goes only to the scheme, host and port that it was entered for.
func TestAVariableThatIsNotSetIsKnownBeforeUse(t *testing.T) {
	for name, c := range map[string]struct {
		provider config.Provider
		unset    bool
	}{
		"unset":    {config.Provider{APIKey: "env:MY_KEY"}, true},
		"empty":    {config.Provider{APIKey: "env:EMPTY_KEY"}, true},
		"header":   {config.Provider{Headers: map[string]config.Secret{"x-api-key": "env:MY_KEY"}}, true},
		"set":      {config.Provider{APIKey: "env:SET_KEY"}, false},
		"none":     {config.Provider{}, false},
		"itself":   {config.Provider{APIKey: "sk-itself"}, false},
		"commands": {config.Provider{APIKey: "cmd:false"}, false},
	} {
		c.provider.Name, c.provider.BaseURL = "mine", "https://mine.example/v1"
		set := find(t, "", Options{Settings: &config.Settings{Providers: []config.Provider{c.provider}}, Environ: []string{"SET_KEY=sk-0123", "EMPTY_KEY="}})
		if err := set.Named("mine").Unset; (err != nil) != c.unset {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestANamedAddressHasTheKeyOfItsOriginOnly(t *testing.T) {
	s, other := assistanttest.NewServer(t), assistanttest.NewServer(t)
	p := provider(s.URL)
	p.APIKey = "sk-0123456789"
	for base, want := range map[string]string{s.URL: "Bearer sk-0123456789", strings.TrimSuffix(s.URL, "/v1") + "/v2": "Bearer sk-0123456789", other.URL: ""} {
		set := find(t, "", Options{Settings: &config.Settings{Providers: []config.Provider{p}}, BaseURL: base})
		e := set.All[0]
		if e.Name != "local" || e.Auto {
			t.Errorf("%s gives %+v first", base, e)
		}
		if _, err := ask(t, e); err != nil {
			t.Fatal(err)
		}
		asked := append(s.Asked(), other.Asked()...)
		if base != other.URL {
			asked = s.Asked()
		}
		if got := asked[len(asked)-1].Header.Get("Authorization"); got != want {
			t.Errorf("%s is sent %q, want %q", base, got, want)
		}
	}
}

func TestAddressesOfTheSettingsAreChecked(t *testing.T) {
	for address, want := range map[string]string{"http://example.com/v1": "unencrypted", "ftp://example.com": "ftp:", "https://u:p@example.com": "user name"} {
		_, err := Find(Options{Settings: &config.Settings{Path: "config.toml", Providers: []config.Provider{provider(address)}}, EnvFile: filepath.Join(t.TempDir(), ".env")})
		var fault *config.Error
		if !errors.As(err, &fault) || fault.Line != 3 || !strings.Contains(err.Error(), "config.toml:3: provider mine: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error of line 3 about %q", address, err, want)
		}
	}
}

func TestProxyOfTheEnvFile(t *testing.T) {
	for name, c := range map[string]struct {
		env     string
		environ []string
		want    string // base URL, where from; "" is no proxy
	}{
		"nothing":         {"OPENAI_API_KEY=sk-0123456789\n", nil, ""},
		"a key":           {"PROXY_API_KEY=sk-0123456789\n", nil, "http://127.0.0.1:8000/v1 the usual port of the proxy of FILE"},
		"an address":      {"PROXY_BASE_URL=http://127.0.0.1:9\n", nil, "http://127.0.0.1:9/v1 FILE"},
		"a path":          {"PROXY_BASE_URL=http://127.0.0.1:9/api/\n", nil, "http://127.0.0.1:9/api FILE"},
		"the environment": {"PROXY_BASE_URL=http://127.0.0.1:9\n", []string{"PROXY_BASE_URL=https://far.example/v1"}, "https://far.example/v1 the environment"},
	} {
		o := Options{Settings: &config.Settings{}, EnvFile: filepath.Join(t.TempDir(), ".env"), Environ: c.environ}
		if err := os.WriteFile(o.EnvFile, []byte(c.env), 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := (&finder{Options: o}).proxy()
		got := ""
		if e != nil {
			got = e.BaseURL + " " + strings.ReplaceAll(e.From, o.EnvFile, "FILE")
		}
		if got != c.want || err != nil || e != nil && (!e.Auto || e.Remote) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestFirstModel(t *testing.T) {
	list := assistanttest.ModelList("text-embedding-3-small", "chatty")
	for name, c := range map[string]struct {
		reply   assistanttest.Reply
		models  []string
		want    string
		problem string
	}{
		"the first that chats": {list, nil, "mine/chatty", ""},
		"of the settings":      {list, []string{"named"}, "mine/named", ""},
		"none that chats":      {assistanttest.ModelList("text-embedding-3-small"), nil, "", "mine lists no chat model"},
		"no list":              {assistanttest.Respond(http.StatusUnauthorized, `{"error":"no key"}`), nil, "", "does not list its models: auth: 401 no key"},
	} {
		s := assistanttest.NewServer(t).Models(c.reply)
		p := provider(s.URL)
		p.Models = c.models
		set := find(t, "", Options{Settings: &config.Settings{Providers: []config.Provider{p}}, Provider: "mine"})
		choice, err := set.First(t.Context())
		if choice.ID != c.want || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %+v, %v; want %q, %q", name, choice, err, c.want, c.problem)
		}
		var none *ListError
		if err != nil && (!errors.As(err, &none) || none.Endpoint.Name != "mine") {
			t.Errorf("%s: %#v, want a *ListError of mine", name, err)
		}
	}
}

// Without a choice of the user, the newest general model that can call tools is used.
func TestTheNewestGeneralModelIsSuitable(t *testing.T) {
	model := func(id, released string, change func(m *llm.ModelInfo)) llm.ModelInfo {
		m := llm.ModelInfo{ID: id, Tools: true, Facts: llm.Facts{Released: released}}
		if change != nil {
			change(&m)
		}
		return m
	}
	listed := []llm.ModelInfo{
		model("old", "2024-05-13", nil), model("embedding", "2026-03-01", func(m *llm.ModelInfo) { m.NoChat = true }),
		model("no tools", "2026-03-01", func(m *llm.ModelInfo) { m.Tools = false }), model("preview", "2026-03-01", func(m *llm.ModelInfo) { m.Facts.Status = llm.StatusPreview }),
		model("pictures", "2026-03-01", func(m *llm.ModelInfo) { m.Images = true }), model("gone soon", "2026-03-01", func(m *llm.ModelInfo) { m.Facts.Status = llm.StatusDeprecated }),
		model("newest", "2026-01-20", nil), model("newest pro", "2026-01-20", nil), model("unknown", "", nil),
	}
	for want, from := range map[string][]llm.ModelInfo{"newest": listed, "old": listed[:6], "no tools": listed[1:6], "unknown": listed[8:], "": listed[1:2]} {
		if m, which, ok := suitable(from); m.ID != want || ok != (want != "") {
			t.Errorf("%q, the %s: want %q", m.ID, which, want)
		}
	}
}

func TestFirstModelOfWhatAnswers(t *testing.T) {
	there := assistanttest.NewServer(t).Models(assistanttest.ModelList("m"))
	empty := assistanttest.NewServer(t).Models(assistanttest.ModelList("text-embedding-3-small"))
	local := []Server{{"ollama", freeAddress(t)}, {"lmstudio", empty.URL}, {"llamacpp", there.URL}}
	choice, err := find(t, "", Options{Local: local}).First(t.Context())
	if err != nil || choice.ID != "llamacpp/m" || !strings.Contains(choice.Note, "its usual port") {
		t.Errorf("%+v, %v; want the model of the only usable server", choice, err)
	}
	choice, err = find(t, "", Options{Local: local[:2]}).First(t.Context())
	if err != nil || choice.ID != OfflineModel || !strings.Contains(choice.Note, "no model connected: built-in rules answer") {
		t.Errorf("%+v, %v; want the offline model", choice, err)
	}
}

func TestTheOfflineModelAnswers(t *testing.T) {
	e := find(t, "", Options{}).Named(OfflineName)
	if listed, err := e.List(t.Context()); err != nil || len(listed) != 1 || listed[0].ID != OfflineModel {
		t.Errorf("List = %+v, %v", listed, err)
	}
	if key, err := e.APIKey(t.Context()); key != "" || err != nil {
		t.Errorf("APIKey = %q, %v; want none", key, err)
	}
	if text, err := ask(t, e); text == "" || err != nil {
		t.Errorf("the answer is %q, %v", text, err)
	}
}

func TestServes(t *testing.T) {
	o := Options{Environ: []string{"OPENAI_API_KEY=sk-0123456789"}}
	anyone := find(t, "", o)
	o.BaseURL, o.Provider = refused, "mine"
	named := find(t, "", o)
	for id, want := range map[string][2]bool{"openai/x": {true, false}, "offline/rules": {true, false}, "mine/x": {false, true}, "nowhere/x": {false, false}} {
		if got := [2]bool{anyone.Serves(id), named.Serves(id)}; got != want {
			t.Errorf("Serves(%q) = %v, want %v", id, got, want)
		}
	}
}

func TestListsAreDescribedFromCatalogueAndSettings(t *testing.T) {
	s := assistanttest.NewServer(t).Models(assistanttest.ModelList("gpt-4o", "unheard-of"))
	p := provider(s.URL)
	p.Name, p.ContextWindow = "openai", 5000
	set := find(t, "", Options{Settings: &config.Settings{Providers: []config.Provider{p}}})
	listed, err := set.Named("openai").List(t.Context())
	if err != nil || len(listed) != 2 {
		t.Fatalf("List = %+v, %v", listed, err)
	}
	if m := listed[0]; !m.Known || m.Context < 100_000 || !m.Facts.PriceIn.Known || !m.Tools {
		t.Errorf("the catalogue adds nothing: %+v", m)
	}
	if m := listed[1]; m.Known || m.Context != 5000 {
		t.Errorf("the settings add nothing: %+v", m)
	}
}

func TestADamagedKeptListIsNone(t *testing.T) {
	o := Options{BaseURL: refused, Provider: "mine", CacheDir: t.TempDir()}
	e := find(t, "", o).All[0]
	for _, text := range []string{"", "[", `{"a":1}`, "null"} {
		for _, path := range []string{e.keptPath(), limitsPath(o.CacheDir)} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if k := e.kept(); len(k.Models)+len(k.Gone) > 0 {
			t.Errorf("%q gives %+v", text, k)
		}
		if err := find(t, "", o).Describe("mine/m"); err != nil {
			t.Errorf("Describe with %q: %v", text, err)
		}
	}
}

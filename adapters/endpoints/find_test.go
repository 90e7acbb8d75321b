package endpoints

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/config"
	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// refused is an address on this machine where nobody listens: port 1 is reserved.
const refused = "http://127.0.0.1:1/v1"

// find finds endpoints with this .env file and environment.
func find(t *testing.T, env string, o Options) *Set {
	t.Helper()
	o.EnvFile = filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(o.EnvFile, []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	if o.Settings == nil {
		o.Settings = &config.Settings{}
	}
	set, err := Find(o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func names(set *Set) string {
	var all []string
	for _, e := range set.All {
		all = append(all, e.Name)
	}
	return strings.Join(all, " ")
}

func TestOrderOfEndpoints(t *testing.T) {
	settings := &config.Settings{Providers: []config.Provider{
		{Name: "one", BaseURL: "https://one.example/v1"}, {Name: "two", BaseURL: "http://two.example/v1", AllowHTTP: true},
	}}
	o := Options{Settings: settings, Local: LocalServers(), Environ: []string{"OPENAI_API_KEY=sk-0123456789", "PROXY_BASE_URL=" + refused}}
	o.BaseURL = "https://api.vendor.example/v1"
	if got, want := names(find(t, "", o)), "vendor openai one two proxy ollama lmstudio llamacpp offline"; got != want {
		t.Errorf("endpoints = %s, want %s", got, want)
	}
	o.BaseURL, o.Provider = "", "two"
	if got, want := names(find(t, "", o)), "two openai one proxy ollama lmstudio llamacpp offline"; got != want {
		t.Errorf("endpoints with a named one = %s, want %s", got, want)
	}
}

func TestUnusableNames(t *testing.T) {
	const addProvider = "OPENAI_BASE_URL: the base URL sends the key unencrypted to example.com: plain http is allowed only for this machine; to allow it, add a [[provider]] with allow_http = true to the settings"
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"unknown provider":   {Options{Provider: "ofline"}, `there is no endpoint "ofline"; did you mean "offline"?`},
		"base URL":           {Options{BaseURL: "ftp://example.com"}, "--base-url: "},
		"plain http":         {Options{Environ: []string{"OPENAI_BASE_URL=http://example.com/v1"}}, addProvider},
		"address of a proxy": {Options{Environ: []string{"PROXY_BASE_URL=http://example.com/v1"}}, ""},
	} {
		c.o.Settings = &config.Settings{}
		c.o.EnvFile = filepath.Join(t.TempDir(), ".env")
		_, err := Find(c.o)
		var named *EndpointError
		if c.want == "" && err == nil {
			continue // left out, with a notice
		}
		if !errors.As(err, &named) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestPlainHTTPInTheSettings(t *testing.T) {
	_, err := Find(Options{Settings: &config.Settings{Providers: []config.Provider{{Name: "lan", BaseURL: "http://lan.example/v1"}}}, EnvFile: filepath.Join(t.TempDir(), ".env")})
	if err == nil || !strings.HasSuffix(err.Error(), "; to allow it, set allow_http = true in this entry") {
		t.Errorf("Find = %v", err)
	}
}

// TestRemoteProxy: a file of the folder cannot send the conversation to another
// machine; only the user can, by naming the endpoint.
func TestRemoteProxy(t *testing.T) {
	const env = "PROXY_API_KEY=sk-for-proxy-123\nPROXY_BASE_URL=https://elsewhere.example/v1\n"
	for provider, want := range map[string]bool{"": true, ProxyName: false} {
		if got := find(t, env, Options{Provider: provider}).Named(ProxyName).Remote; got != want {
			t.Errorf("with provider %q the proxy elsewhere has Remote = %v, want %v", provider, got, want)
		}
	}
	remote := find(t, env, Options{}).Named(ProxyName)
	remote.BaseURL = assistanttest.NewServer(t).URL
	if found, err := remote.listForRegistry(t.Context()); found != nil || err != nil {
		t.Errorf("offered = %v, %v; want that nobody asks", found, err)
	}
	remote.Remote = false
	if found, err := remote.listForRegistry(t.Context()); len(found) != 1 || err != nil {
		t.Errorf("offered = %v, %v; want its model", found, err)
	}
}

// TestKeysAreLearned: every key is known to the redactor before it can appear in
// a text.
func TestKeysAreLearned(t *testing.T) {
	r := &safetext.Redactor{}
	find(t, "OTHER_API_KEY=sk-other-0123456789\nPROXY_API_KEY=sk-proxy-0123456789\n", Options{Redactor: r, Environ: []string{"OPENAI_API_KEY=sk-mine-0123456789"}})
	for _, key := range []string{"sk-other-0123456789", "sk-proxy-0123456789", "sk-mine-0123456789"} {
		if got := r.Redact("x " + key); strings.Contains(got, key) {
			t.Errorf("%s is not redacted", key)
		}
	}
}

// TestLocalServersThatDoNotRun are no failure, unless the user named one.
func TestLocalServersThatDoNotRun(t *testing.T) {
	there := assistanttest.NewServer(t).Models(assistanttest.ModelList("m"))
	gone := freeAddress(t)
	local := []Server{{"ollama", there.URL}, {"lmstudio", gone}, {"llamacpp", gone}}
	for named, want := range map[string]string{"": ProxyName, "lmstudio": "lmstudio " + ProxyName} {
		set := find(t, "", Options{Local: local, Provider: named, Environ: []string{"PROXY_BASE_URL=" + gone}})
		failed := set.Registry.Refresh(t.Context())
		var missing []string
		for name := range failed {
			missing = append(missing, name)
		}
		slices.Sort(missing)
		if got := strings.Join(missing, " "); got != want {
			t.Errorf("with provider %q these could not be listed: %q, want %q", named, got, want)
		}
		if _, _, info, err := set.Registry.Open("ollama/m"); err != nil || info.Source == "" {
			t.Errorf("what runs is not listed: %+v, %v", info, err)
		}
	}
}

// A local server that was not asked to the end, because the context ended, keeps its models.
func TestACancelledRefreshRemovesNoModels(t *testing.T) {
	there := assistanttest.NewServer(t).Models(assistanttest.ModelList("m"))
	set := find(t, "", Options{Local: []Server{{"ollama", there.URL}}})
	if failed := set.Registry.Refresh(t.Context(), "ollama"); len(failed) > 0 {
		t.Fatal(failed)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if failed := set.Registry.Refresh(ctx, "ollama"); !errors.Is(failed["ollama"], context.Canceled) {
		t.Errorf("Refresh = %v; want that it was cancelled", failed)
	}
	if _, _, info, err := set.Registry.Open("ollama/m"); err != nil || info.Source == "" {
		t.Errorf("the model is no longer listed: %+v, %v", info, err)
	}
}

// TestKnownContextWithoutAsking: the context window of a listed model is known to
// the next run before the endpoint is asked again.
func TestKnownContextWithoutAsking(t *testing.T) {
	server := assistanttest.NewServer(t).Models(assistanttest.ModelList("m"))
	o := Options{BaseURL: server.URL, Provider: "mine", CacheDir: filepath.Join(t.TempDir(), "cache")}
	first := find(t, "", o)
	listed, err := first.All[0].List(t.Context())
	if err != nil || len(listed) != 1 {
		t.Fatalf("List = %v, %v", listed, err)
	}
	listed[0].Context, listed[0].Known = 6000, true
	if _, err := first.All[0].keepList(t.Context(), listed); err != nil {
		t.Fatal(err)
	}
	asked := len(server.Asked())
	second := find(t, "", o)
	if err := second.Describe("mine/m"); err != nil {
		t.Fatal(err)
	}
	if second.Unlisted("mine/m") || !second.Unlisted("mine/gone") || find(t, "", Options{BaseURL: server.URL, Provider: "mine"}).Unlisted("mine/gone") {
		t.Error("the stored list does not tell which models the endpoint lists")
	}
	_, _, info, err := second.Registry.Open("mine/m")
	if err != nil || info.Context != 6000 || info.Source != "cache" || len(server.Asked()) != asked {
		t.Errorf("%+v, %v after %d more requests; want the kept context and none", info, err, len(server.Asked())-asked)
	}
}

func TestModelIDs(t *testing.T) {
	set := find(t, "", Options{BaseURL: "https://api.vendor.example/v1", Environ: []string{"OPENAI_API_KEY=sk-0123456789"}})
	for name, c := range map[string]struct {
		preferNamed bool
		want        string
	}{
		"openai/gpt-4o": {false, "openai/gpt-4o"},
		"openai/gpt-5":  {true, "vendor/openai/gpt-5"},
		"gpt-4o":        {true, "vendor/gpt-4o"},
		"vendor/x":      {true, "vendor/x"},
	} {
		if got, err := set.ModelID(t.Context(), name, c.preferNamed); got != c.want || err != nil {
			t.Errorf("ModelID(%q, %v) = %q, %v; want %q", name, c.preferNamed, got, err, c.want)
		}
	}
	none := find(t, "", Options{})
	if _, err := none.ModelID(t.Context(), "gpt-4o", false); err == nil || err.Error() != `no endpoint lists a model "gpt-4o"; available models: offline/rules` {
		t.Errorf("ModelID without an endpoint: %v, want the model there is", err)
	}
	if _, err := none.ModelID(t.Context(), "nowhere/x", false); err == nil {
		t.Error("ModelID of an unknown provider is no error")
	}
	var _ llm.Model = (*Endpoint)(nil)
}

// A refusal that the address may explain names the setting with the address.
func TestARefusalNamesTheSettingOfTheAddress(t *testing.T) {
	refusing := assistanttest.Respond(404, "404 page not found")
	base := strings.TrimSuffix(assistanttest.NewServer(t, refusing).Models(refusing).URL, "/v1")
	for want, o := range map[string]Options{
		"OPENAI_BASE_URL":        {Environ: []string{"OPENAI_BASE_URL=" + base}},
		"--base-url":             {BaseURL: base},
		"base_url in settings:7": {Settings: &config.Settings{Path: "settings", Providers: []config.Provider{{Name: "mine", BaseURL: base, Line: 7}}}},
	} {
		if _, err := find(t, "", o).First(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "the base URL "+base+" has no version such as /v1: change "+want) {
			t.Errorf("the refusal is %v, want %s", err, want)
		}
	}
}

// Only an endpoint that the user set up counts as connected.
func TestConnected(t *testing.T) {
	for want, o := range map[bool]Options{
		false: {Local: []Server{{"ollama", refused}}},
		true:  {Environ: []string{"OPENAI_API_KEY=sk-0123456789"}},
	} {
		if set := find(t, "", o); set.Connected() != want {
			t.Errorf("Connected = %v, want %v", !want, want)
		}
	}
}

// A name without its endpoint is that of the one endpoint that lists it.
func TestANameWithoutItsEndpoint(t *testing.T) {
	ollama := assistanttest.NewServer(t).Models(assistanttest.ModelList("llama3", "qwen", "text-embedding-3-small"))
	studio := assistanttest.NewServer(t).Models(assistanttest.ModelList("qwen", "vendor/gpt"))
	local := []Server{{"ollama", ollama.URL}, {"studio", studio.URL}, {"none", refused}}
	cache := t.TempDir()
	for name, want := range map[string]string{
		"llama3": "ollama/llama3", "gpt": "studio/vendor/gpt", "vendor/gpt": "studio/vendor/gpt", "rules": OfflineModel, "offline/rules": OfflineModel,
	} {
		set := find(t, "", Options{Local: local, CacheDir: cache})
		if got, err := set.ModelID(t.Context(), name, false); got != want || err != nil {
			t.Errorf("ModelID(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	set := find(t, "", Options{Local: local})
	for name, want := range map[string]string{
		"qwen":                   `"qwen" is the name of several models: ollama/qwen, studio/qwen`,
		"text-embedding-3-small": "no endpoint lists a model",
		"nope":                   `no endpoint lists a model "nope"; available models: offline/rules, ollama/llama3, ollama/qwen, studio/qwen, studio/vendor/gpt`,
	} {
		if got, err := set.ModelID(t.Context(), name, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ModelID(%q) = %q, %v; want %s", name, got, err, want)
		}
	}

	// An earlier run has the lists: nothing is asked. The endpoint that the user set up
	// comes first, unless its list is known not to have the name.
	asked := len(ollama.Asked())
	own := &config.Settings{Providers: []config.Provider{{Name: "mine", BaseURL: "https://mine.example/v1"}}}
	set = find(t, "", Options{Local: local, CacheDir: cache, Settings: own})
	if got, err := set.ModelID(t.Context(), "llama3", false); got != "mine/llama3" || err != nil {
		t.Errorf("beside an endpoint that was never asked: %q, %v", got, err)
	}
	own.Providers[0].Models = []string{"qwen"}
	set = find(t, "", Options{Local: local, CacheDir: cache, Settings: own})
	for name, want := range map[string]string{"llama3": "ollama/llama3", "qwen": "mine/qwen", "unheard-of": "mine/unheard-of"} {
		if got, err := set.ModelID(t.Context(), name, false); got != want || err != nil {
			t.Errorf("beside an endpoint with a list: ModelID(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	if got, err := set.ModelID(t.Context(), "llama3", true); got != "mine/llama3" || err != nil {
		t.Errorf("with the endpoint that the user named: %q, %v", got, err)
	}
	set = find(t, "", Options{Local: local, CacheDir: cache, Settings: own, Provider: "mine"})
	for name, want := range map[string]string{"llama3": "mine/llama3", "ollama/llama3": "ollama/llama3"} {
		if got, err := set.ModelID(t.Context(), name, false); got != want || err != nil {
			t.Errorf("with the endpoint named in the options: ModelID(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	if len(ollama.Asked()) != asked {
		t.Error("the endpoints were asked again")
	}
}

func TestAWrongNameListsTenModels(t *testing.T) {
	ids := strings.Split("abcdefghijkl", "")
	for want, n := range map[string]int{"j": 10, "j and 1 more": 11, "j and 2 more": 12} {
		err := &ModelNameError{Name: "x", IDs: ids[:n]}
		if got := err.Error(); !strings.HasSuffix(got, "available models: a, b, c, d, e, f, g, h, i, "+want) {
			t.Errorf("with %d models it is %q", n, got)
		}
	}
}

// freeAddress is an address of this machine at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String() + "/v1"
}

package endpoints

import (
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
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"unknown provider":   {Options{Provider: "ofline"}, `there is no endpoint "ofline"; did you mean "offline"?`},
		"base URL":           {Options{BaseURL: "ftp://example.com"}, "--base-url: "},
		"plain http":         {Options{Environ: []string{"OPENAI_BASE_URL=http://example.com/v1"}}, "OPENAI_BASE_URL: "},
		"address of a proxy": {Options{Environ: []string{"PROXY_BASE_URL=http://example.com/v1"}}, ""},
	} {
		c.o.Settings = &config.Settings{}
		c.o.EnvFile = filepath.Join(t.TempDir(), ".env")
		_, err := Find(c.o)
		var named *NamedError
		if c.want == "" && err == nil {
			continue // left out, with a notice
		}
		if !errors.As(err, &named) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
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
	if err := first.All[0].storeList(listed); err != nil {
		t.Fatal(err)
	}
	asked := len(server.Asked())
	second := find(t, "", o)
	if err := second.Describe("mine/m"); err != nil {
		t.Fatal(err)
	}
	_, _, info, err := second.Registry.Open("mine/m")
	if err != nil || info.Context != 6000 || info.Source != "cache" || len(server.Asked()) != asked {
		t.Errorf("%+v, %v after %d more requests; want the cached context and none", info, err, len(server.Asked())-asked)
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
		if got, err := set.ModelID(name, c.preferNamed); got != c.want || err != nil {
			t.Errorf("ModelID(%q, %v) = %q, %v; want %q", name, c.preferNamed, got, err, c.want)
		}
	}
	none := find(t, "", Options{})
	if _, err := none.ModelID("gpt-4o", false); err == nil || !strings.Contains(err.Error(), "is not PROVIDER/NAME") {
		t.Errorf("ModelID without an endpoint: %v, want that it is not PROVIDER/NAME", err)
	}
	if _, err := none.ModelID("nowhere/x", false); err == nil {
		t.Error("ModelID of an unknown provider is no error")
	}
	var _ llm.Model = (*Endpoint)(nil)
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

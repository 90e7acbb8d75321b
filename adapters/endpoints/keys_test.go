package endpoints

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/config"
	"winnow/assistant/assistanttest"
)

// keySources are where a key can come from; NAME and KEY are replaced.
var keySources = map[string]struct{ environ, file string }{
	"environment":          {environ: "NAME=KEY"},
	"file":                 {file: "NAME=KEY"},
	"file of the variable": {file: "NAME=${MINE}", environ: "MINE=KEY"},
	"file of a line":       {file: "A=${MINE}\nNAME=${A}", environ: "MINE=KEY"},
	"file of a fallback":   {file: "NAME=${NOT_SET:-KEY}"},
	"file of itself":       {file: "A=KEY\nNAME=${A}", environ: "B=other"},
}

// A key goes only to an address of the same place, of the user's own environment, or one
// that the settings confirm for it.
func TestAKeyGoesToAnAddressOfTheSamePlace(t *testing.T) {
	const key = "sk-of-the-user-0123456789"
	all := slices.Collect(maps.Keys(keySources))
	own := []string{"file", "file of a fallback", "file of itself"}
	for addressFrom, c := range map[string]struct {
		environ, file  string
		settings, flag bool
		sent           []string // the sources of a key that is sent
	}{
		"environment":                  {environ: "BASE=SERVER", sent: all},
		"environment and file":         {environ: "BASE=SERVER", file: "BASE=https://other.example", sent: all},
		"file":                         {file: "BASE=SERVER", sent: own},
		"file of a fallback":           {file: "BASE=${NOT_SET:-SERVER}", sent: own},
		"file of the variable":         {file: "BASE=${ADDRESS}", environ: "ADDRESS=SERVER", sent: own},
		"settings":                     {settings: true, sent: []string{"environment"}},
		"settings and file":            {settings: true, file: "BASE=SERVER", sent: append(own, "environment")},
		"command line":                 {flag: true},
		"command line and file":        {flag: true, file: "BASE=SERVER", sent: own},
		"command line and environment": {flag: true, environ: "BASE=SERVER", sent: all},
	} {
		for keyFrom, k := range keySources {
			for variable, base := range map[string]string{"PROXY_API_KEY": "PROXY_BASE_URL", "ACME_API_KEY": "ACME_API_BASE"} {
				server := assistanttest.NewServer(t).Models(assistanttest.ModelList("acme/m"))
				fill := strings.NewReplacer("BASE", base, "SERVER", server.URL, "NAME", variable, "KEY", key)
				o := Options{Settings: &config.Settings{}, EnvFile: filepath.Join(t.TempDir(), ".env")}
				o.Environ = strings.Fields(fill.Replace(c.environ + " " + k.environ))
				if c.settings {
					o.Settings.Providers = []config.Provider{{Name: "confirmed", BaseURL: server.URL, APIKey: config.Secret("env:" + variable)}}
				}
				if c.flag {
					o.BaseURL = server.URL
				}
				if err := os.WriteFile(o.EnvFile, []byte(fill.Replace(c.file+"\n"+k.file+"\n")), 0o600); err != nil {
					t.Fatal(err)
				}
				askAll(t, o)
				sent := slices.ContainsFunc(server.Asked(), func(x *assistanttest.Exchange) bool { return carries(x.Header, key) })
				if want := slices.Contains(c.sent, keyFrom); sent != want {
					t.Errorf("%s: address of %s, key of %s: sent is %v", variable, addressFrom, keyFrom, sent)
				}
			}
		}
	}
}

func carries(h http.Header, key string) bool {
	for _, values := range h {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, key) }) {
			return true
		}
	}
	return false
}

// askAll asks every endpoint and list in each way that sends a request. What fails is not
// sent: the server knows.
func askAll(t *testing.T, o Options) {
	t.Helper()
	set, err := Find(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range set.All {
		if e.guess || e.Name == OfflineName || strings.Contains(e.BaseURL, ".example") {
			continue // no server of this test
		}
		_, _ = ask(t, e)
		_, _ = e.List(t.Context())
		_, _ = e.Image(t.Context(), "m", "a cat")
	}
	lists, counted, err := Lists(o, "")
	if err != nil {
		t.Fatal(err)
	}
	if counted != nil && !set.Named(ProxyName).guess {
		_, _ = counted(t.Context())
	}
	_, _ = lists.Models(t.Context(), "acme")
	if set.Named(ProxyName) != nil && !set.Named(ProxyName).guess {
		_, _ = lists.Served(t.Context())
	}
}

// An address of a file carries nothing of the environment to another machine.
func TestAnAddressCarriesNothingOfTheEnvironment(t *testing.T) {
	environ := []string{"OPENAI_API_KEY=sk-of-the-user-0123456789", "OWN_HOST=own.example"}
	for _, address := range []string{"https://elsewhere.example/${OPENAI_API_KEY}", "https://${OPENAI_API_KEY}.elsewhere.example/v1", "https://${OWN_HOST}/v1"} {
		o := Options{Settings: &config.Settings{}, Environ: environ, EnvFile: filepath.Join(t.TempDir(), ".env")}
		if err := os.WriteFile(o.EnvFile, []byte("PROXY_BASE_URL="+address+"\nACME_API_BASE="+address+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var notices []string
		o.Notice = func(text string) { notices = append(notices, text) }
		set, err := Find(o)
		if err != nil || set.Named(ProxyName) != nil || len(notices) != 1 || !strings.Contains(notices[0], "contains an environment variable") {
			t.Errorf("%s: %v, %v, %q", address, set.Named(ProxyName), err, notices)
		}
		lists, _, err := Lists(o, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lists.Models(t.Context(), "acme"); err == nil || !strings.Contains(err.Error(), "ACME_API_BASE of "+o.EnvFile+" contains an environment variable") || strings.Contains(err.Error(), "sk-of") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

package models

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"winnow/assistant/llm"
)

// secretOf makes a key that contains the name of its owner.
func secretOf(provider string) string { return "sk-" + provider + "-0123456789abcdef" }

// carried reports whether a target carries text in any way.
func carried(t Target, text string) bool {
	all := t.Key + "\n" + t.BaseURL
	for k, v := range t.Headers {
		all += "\n" + k + "\n" + v
	}
	return strings.Contains(all, text)
}

// The key of one provider is never given to the base of another, whatever is
// opened in whatever order, and only what is opened is asked.
func TestKeysGoToTheirOwnOrigin(t *testing.T) {
	origins := map[string]string{
		"openai":     "api.openai.com",
		"anthropic":  "api.anthropic.com",
		"gemini":     "generativelanguage.googleapis.com",
		"openrouter": "openrouter.ai",
		"groq":       "gateway.mine.example",
		"acme":       "acme.example",
		"proxy":      "127.0.0.1:8000",
		"keyless":    "127.0.0.1:8000",
	}
	r := newRig(t)
	for p := range origins {
		if p != "keyless" {
			r.setenv(strings.ToUpper(p)+"_API_KEY", secretOf(p), ".env")
		}
	}
	r.setenv("GROQ_API_BASE", "https://gateway.mine.example/v1", ".env")
	r.setenv("ACME_API_BASE", acmeBase, ".env")
	r.proxy = &Proxy{BaseURL: "http://127.0.0.1:8000/v1", Key: secretOf("proxy")}
	r.has("http://127.0.0.1:8000/v1", "keyless/a")
	l := r.lists()
	for range 2 {
		for p := range origins {
			before := len(r.asked())
			_, _ = l.Models(t.Context(), p)
			for i, target := range r.asked()[before:] {
				u, err := url.Parse(target.BaseURL)
				if err != nil {
					t.Fatal(err)
				}
				for owner, host := range origins {
					if carried(target, secretOf(owner)) && u.Host != host {
						t.Errorf("opening %s sent the key of %s to %s", p, owner, u.Host)
					}
				}
				if i == 0 && u.Host != origins[p] {
					t.Errorf("opening %s asked %s first", p, u.Host)
				}
				if target.Provider != p && target.Provider != "" {
					t.Errorf("opening %s asked %s", p, target.Provider)
				}
				if !carried(target, secretOf(p)) && u.Host == origins[p] && p != "keyless" && p != "proxy" {
					t.Errorf("%s was asked without its key", p)
				}
			}
		}
	}
}

// A base that somebody else wrote gets no key.
func TestForeignBaseGetsNoKey(t *testing.T) {
	const evil = "https://user:pass@evil.example/v1?x=1"
	for name, c := range map[string]struct {
		keyFrom, baseFrom string
		sent              bool
	}{
		"key of the environment, base of the file": {"", "./.env", false},
		"both of the file":                         {"./.env", "./.env", true},
		"both of the environment":                  {"", "", true},
		"base of the environment":                  {"./.env", "", true},
		"two files":                                {"a.env", "b.env", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.setenv("OPENAI_API_KEY", secretOf("openai"), c.keyFrom)
			r.setenv("OPENAI_API_BASE", evil, c.baseFrom)
			r.has(evil, "a")
			_, err := r.lists().Models(t.Context(), "openai")
			if sent := len(r.asked()) > 0; sent != c.sent {
				t.Errorf("sent is %v, error %v", sent, err)
			}
			if (err == nil) != c.sent {
				t.Errorf("error %v", err)
			}
			if !c.sent {
				contains(t, err.Error(), "is not sent to evil.example")
				if strings.Contains(err.Error(), "pass") {
					t.Error(err)
				}
			}
		})
	}
}

func TestForeignBaseOfTheSameOrigin(t *testing.T) {
	for base, sent := range map[string]bool{
		"https://api.openai.com/v2":      true,
		"http://api.openai.com/v1":       false,
		"https://api.openai.com:8443/v1": false,
		"https://api.openai.com@evil/v1": false,
		"//api.openai.com/v1":            false,
		"%zz":                            false,
	} {
		r := newRig(t)
		r.setenv("OPENAI_API_KEY", secretOf("openai"), "")
		r.setenv("OPENAI_API_BASE", base, "./.env")
		r.has(base, "a")
		if _, err := r.lists().Models(t.Context(), "openai"); (len(r.asked()) > 0) != sent || (err == nil) != sent {
			t.Errorf("%s: asked %v, %v", base, r.asked(), err)
		}
	}
}

func TestWhichKeyAndBase(t *testing.T) {
	for name, c := range map[string]struct {
		env      map[string]string
		provider string
		base     string // "": nobody is asked
		key      string
	}{
		"known address":        {map[string]string{"OPENAI_API_KEY": "k"}, "openai", "https://api.openai.com/v1", "k"},
		"numbered key":         {map[string]string{"OPENAI_API_KEY_2": "k2", "OPENAI_API_KEY_3": "k3"}, "openai", "https://api.openai.com/v1", "k2"},
		"empty key":            {map[string]string{"OPENAI_API_KEY": " "}, "openai", "", ""},
		"no key":               {nil, "openai", "", ""},
		"base without a key":   {map[string]string{"LOCAL_API_BASE": " http://127.0.0.1:1/v1 "}, "local", "http://127.0.0.1:1/v1", ""},
		"unknown address":      {map[string]string{"NOBODY_API_KEY": "k"}, "nobody", "", ""},
		"the proxy's key":      {map[string]string{"PROXY_API_KEY": "k", "PROXY_API_BASE": "https://x.example"}, "proxy", "", ""},
		"a name like a path":   {map[string]string{"A/B_API_KEY": "k", "A/B_API_BASE": "https://x.example"}, "a/b", "", ""},
		"an alias":             {map[string]string{"FIREWORKS_AI_API_KEY": "k"}, "fireworks_ai", "https://api.fireworks.ai/inference/v1", "k"},
		"another alias' key":   {map[string]string{"FIREWORKS_API_KEY": "k"}, "fireworks_ai", "", ""},
		"a wire of its own":    {map[string]string{"AZURE_API_KEY": "k"}, "azure", "", ""},
		"the same with a base": {map[string]string{"AZURE_API_KEY": "k", "AZURE_API_BASE": "https://a.example/v1"}, "azure", "https://a.example/v1", "k"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for k, v := range c.env {
				r.setenv(k, v, "")
			}
			if c.base != "" {
				r.has(c.base, "a")
			}
			_, err := r.lists().Models(t.Context(), c.provider)
			asked := r.asked()
			if c.base == "" {
				if len(asked) != 0 || !errors.Is(err, errNoSource) {
					t.Errorf("asked %v, %v", asked, err)
				}
				return
			}
			if err != nil || len(asked) != 1 || asked[0].BaseURL != c.base || asked[0].Key != c.key {
				t.Errorf("asked %v, %v", asked, err)
			}
		})
	}
}

func TestAnthropicIsAskedInItsOwnWay(t *testing.T) {
	r := newRig(t)
	key := secretOf("anthropic")
	r.setenv("ANTHROPIC_API_KEY", key, ".env")
	base := "https://api.anthropic.com/v1"
	r.has(base, many(20)...)
	l := r.lists()
	if list := must(t, l, "anthropic"); !list.Partial {
		t.Error("a full page is treated as the whole list")
	}
	got := r.asked()[0]
	if got.Key != "" || got.Headers["x-api-key"] != key || got.Headers["anthropic-version"] == "" {
		t.Errorf("key %q, headers %v", got.Key, got.Headers)
	}
	got.Headers["x-api-key"] = "spoiled"
	must(t, l, "anthropic")
	if r.asked()[1].Headers["x-api-key"] != key || len(endpoints["anthropic"].header) != 1 {
		t.Error("the headers of two targets are one map")
	}
	r.has(base, many(19)...)
	if list := must(t, l, "anthropic"); list.Partial || len(list.IDs) != 19 {
		t.Errorf("%d models, partial %v", len(list.IDs), list.Partial)
	}
}

func TestGeminiNames(t *testing.T) {
	r := newRig(t)
	r.setenv("GEMINI_API_KEY", secretOf("gemini"), "")
	r.has("https://generativelanguage.googleapis.com/v1beta/openai", "models/gemini-a", "models/", "gemini-b")
	list := must(t, r.lists(), "gemini")
	is(t, "IDs", list.IDs, full("gemini", "gemini-a", "gemini-b"))
}

// No printed form contains a key, also when the endpoint echoes it.
func TestKeysAreNotPrinted(t *testing.T) {
	r := withAcme(t)
	key := r.env["ACME_API_KEY"].Text
	r.fails(acmeBase, &llm.RequestError{Kind: llm.KindAuth, Status: 401, Message: "bad key " + key})
	r.proxy = &Proxy{BaseURL: "http://u:" + key + "@127.0.0.1:8000/v1", Key: key}
	l := r.lists()
	list, err := l.Models(t.Context(), "acme")
	_, proxyErr := l.Served(t.Context())
	for _, target := range r.asked() {
		for _, text := range []string{fmt.Sprintf("%v %+v %#v %s", target, target, target, target), fmt.Sprint(&target)} {
			if strings.Contains(text, key) {
				t.Errorf("printed: %s", text)
			}
		}
	}
	for _, text := range []string{
		err.Error(), list.Err, proxyErr.Error(),
		fmt.Sprintf("%v %+v %#v", *r.proxy, *r.proxy, *r.proxy),
		fmt.Sprintf("%v %+v %#v", r.env, r.env, r.env["ACME_API_KEY"]),
	} {
		if strings.Contains(text, key) {
			t.Errorf("printed: %s", text)
		}
	}
	contains(t, err.Error(), "401")
	if llm.KindOf(err) != llm.KindAuth {
		t.Errorf("kind %s", llm.KindOf(err))
	}
}

func TestFetcherThatPanics(t *testing.T) {
	l := New(Options{
		Env:        func(string) (Value, bool) { return Value{Text: "https://x.example"}, true },
		NewFetcher: func(Target) (Fetcher, error) { panic("boom") },
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = l.Models(t.Context(), "acme")
	}()
	if len(l.entry("acme").fetching) != 0 {
		t.Error("others would wait for ever")
	}
}

package endpoints

import (
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
)

// A key of the environment goes to the address of a folder's file once the user has
// connected that address with it, and from then on.
func TestConnectingConfirmsAnAddressForAKey(t *testing.T) {
	s := at.NewServer(t).Models(wantsKey(pasted))
	const environ = "PROXY_API_KEY=" + pasted
	env := "PROXY_BASE_URL=" + s.URL + "\n"
	b := open(t, "", env, nil, environ)
	c := b.candidate(t, ProxyName)
	if CodeOf(c.Err) != KeySource || !strings.Contains(c.Err.Error(), "is not sent to") || len(s.Asked()) > 0 {
		t.Fatalf("%+v after %d requests; want a key that is not sent", c, len(s.Asked()))
	}
	ch, err := b.Check(t.Context(), c, "", "env:PROXY_API_KEY")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(t.Context(), ch, ch.Models[0].ID, Variable); err != nil {
		t.Fatal(err)
	}
	if text := b.text(t); !strings.Contains(text, "env:PROXY_API_KEY") || strings.Contains(text, pasted) {
		t.Errorf("the settings are\n%s\nwant the name of the variable", text)
	}
	next := open(t, b.text(t), env, nil, environ)
	if c := next.candidate(t, ProxyName); c.Kind != KindResponds {
		t.Errorf("in the next run: %+v", c)
	}
	elsewhere := at.NewServer(t).Models(wantsKey(pasted))
	other := open(t, b.text(t), "PROXY_BASE_URL="+elsewhere.URL+"\n", nil, environ)
	if c := other.candidate(t, ProxyName); c.Kind != KindFails || len(elsewhere.Asked()) > 0 {
		t.Errorf("another folder's address: %+v after %d requests", c, len(elsewhere.Asked()))
	}
}

func TestAKeyIsNotTakenForAnAddress(t *testing.T) {
	for text, want := range map[string]bool{
		pasted: true, "gsk_0123456789abcdefghij": true, "AIzaSyA0123456789abcdefghij": true, " " + pasted + "\n": true, "0123456789abcdef0123456789abcdef": true,
		"localhost": false, "localhost:8000/v1": false, "api.example.com/v1": false, "gpu-server-of-the-lab": false, "models": false, "https://hf-inference-of-the-lab.example/v1": false, "[::1]:8000": false,
	} {
		if got := LooksLikeKey(text); got != want {
			t.Errorf("LooksLikeKey(%q) = %v", text, got)
		}
		if _, err := customProvider(text); want && (CodeOf(err) != KeyAsAddress || strings.Contains(err.Error(), strings.TrimSpace(text))) {
			t.Errorf("customProvider(%q): %v", text, err)
		} else if !want && CodeOf(err) == KeyAsAddress {
			t.Errorf("customProvider(%q): %v", text, err)
		}
	}
}

// The name that is proposed for a key is no name that the proxy takes for a provider's.
func TestTheVariableOfAKeyIsNoProvidersKey(t *testing.T) {
	for name, want := range map[string]string{"local-2": "KEY_FOR_LOCAL_2", "openai": "KEY_FOR_OPENAI", "3d": "KEY_FOR_3D", "ä": "KEY_FOR__"} {
		if got := (&Checked{Name: name}).KeyVariable(); got != want {
			t.Errorf("the variable of %s is %s, want %s", name, got, want)
		}
	}
}

package connect

import (
	"strings"
	"testing"

	"winnow/adapters/endpoints"
	at "winnow/assistant/assistanttest"
)

// A key of the environment goes to the address of a folder's file once the user has
// connected that address with it, and from then on.
func TestConnectingConfirmsAnAddressForAKey(t *testing.T) {
	s := at.NewServer(t).Models(wantsKey(pasted))
	const environ = "PROXY_API_KEY=" + pasted
	env := "PROXY_BASE_URL=" + s.URL + "\n"
	b := open(t, "", env, nil, environ)
	c := b.candidate(t, endpoints.ProxyName)
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
	if c := next.candidate(t, endpoints.ProxyName); c.Kind != Answers {
		t.Errorf("in the next run: %+v", c)
	}
	elsewhere := at.NewServer(t).Models(wantsKey(pasted))
	other := open(t, b.text(t), "PROXY_BASE_URL="+elsewhere.URL+"\n", nil, environ)
	if c := other.candidate(t, endpoints.ProxyName); c.Kind != Fails || len(elsewhere.Asked()) > 0 {
		t.Errorf("another folder's address: %+v after %d requests", c, len(elsewhere.Asked()))
	}
}

package main

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"winnow/tui/tuitest"
)

// Every list of changes names a change by what it did, and the steps that a rollback undoes do not include saves.
func TestEveryFrontEndNamesAChangeByWhatItDid(t *testing.T) {
	ownFolder(t)
	o := newOffice(t)
	defer o.close()
	for name, s := range o.savers {
		s.edit("x" + name + "*")
	}
	cli := o.savers["rules"].(*commandLine)
	lists := map[string]string{} // what each front end lists
	web := o.savers["http"].(*client)
	web.send("hide xturn*")
	lists["http"] = web.get("/v1/sessions/" + web.session + "/checkpoints")
	cli.run("ask", "--yes", "hide every mini model of openai")
	cli.run("ask", "--yes", "--continue", "save the rules")
	lists["winnow log"] = cli.run("log")
	lists["winnow checkpoints list"] = cli.run("checkpoints", "list")
	lists["line mode"] = cli.typed("/rollback\n/undo\n/quit\n", "--plain", "--continue")
	screen := o.savers["screen"].(*screenSaver)
	screen.Type(tuitest.Key("ctrl+g"))
	screen.Wait("current state")
	lists["screen"] = screen.Frame()
	screen.Type(tuitest.Esc)

	raw := regexp.MustCompile(`(add|remove|save)_\w+\(|add ignore rule|undoes: [Ss]aved`)
	for name, want := range map[string][]string{
		"http":                    {`"description":"hid xhttp* on openai (changes no model)"`, `"description":"hid xturn* on openai (changes no model)"`},
		"screen":                  {"before: hid xscreen* on openai (changes no model)"},
		"line mode":               {"hid *mini* on openai (7 models)"},
		"winnow log":              {"hid xhttp* on", "hid xturn* on", "hid xscreen* on", "hid xrules* on", "hid xmcp* on", "hid *mini* on openai (7 models)"},
		"winnow checkpoints list": {"hid xhttp* on", "hid xscreen* on", "hid xmcp* on", "hid *mini* on openai (7 models)"},
	} {
		for _, w := range want {
			if !strings.Contains(lists[name], w) {
				t.Errorf("%s does not list %q:\n%s", name, w, lists[name])
			}
		}
		if found := raw.FindString(lists[name]); found != "" {
			t.Errorf("%s lists %q:\n%s", name, found, lists[name])
		}
	}
}

func (c *client) get(path string) string {
	c.o.t.Helper()
	req := httptest.NewRequestWithContext(c.o.t.Context(), "GET", "http://127.0.0.1:7777"+path, nil)
	req.Header.Set("Authorization", "Bearer the-token-of-this-test")
	resp := httptest.NewRecorder()
	c.handler.Handler().ServeHTTP(resp, req)
	return resp.Body.String()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/endpoints"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// fakeConnector finds a local server, a proxy that requires a key, and a vendor.
type fakeConnector struct {
	found []endpoints.Candidate
	check []error // the result of each Check, in order; then nil
	save  []error // the result of each Save
	asked []string
}

// nextError removes and returns the first error, or nil if there are none left.
func nextError(all *[]error) error {
	if len(*all) == 0 {
		return nil
	}
	err := (*all)[0]
	*all = (*all)[1:]
	return err
}

func newFakeConnector() *fakeConnector {
	return &fakeConnector{found: []endpoints.Candidate{
		{Kind: endpoints.KindResponds, Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Models: 2},
		{Kind: endpoints.KindFails, Name: "proxy", BaseURL: "http://127.0.0.1:8000/v1", Err: &endpoints.Problem{Code: endpoints.WantsKey}},
		{Kind: endpoints.KindVendor, Name: "openai", BaseURL: "https://api.openai.com/v1"},
		{Kind: endpoints.KindCustom},
	}}
}

func (f *fakeConnector) Search(context.Context) []endpoints.Candidate { return f.found }

func (f *fakeConnector) Check(_ context.Context, c endpoints.Candidate, address, key string) (*endpoints.Checked, error) {
	f.asked = append(f.asked, strings.Join(strings.Fields("check "+c.Name+" "+address+" "+key), " "))
	if err := nextError(&f.check); err != nil {
		return nil, err
	}
	_, pasted, err := endpoints.ParseKey(key)
	return &endpoints.Checked{Name: "here", Pasted: pasted, HasKey: key != "", Models: []llm.ModelInfo{{ID: "here/large"}, {ID: "here/small"}}}, err
}

func (f *fakeConnector) Try(_ context.Context, _ *endpoints.Checked, id string) error {
	f.asked = append(f.asked, "try "+id)
	return nil
}

func (f *fakeConnector) Storages() []endpoints.Storage {
	return []endpoints.Storage{endpoints.Keyring, endpoints.Variable, endpoints.Plain}
}

func (f *fakeConnector) Save(_ context.Context, _ *endpoints.Checked, id string, to endpoints.Storage) (endpoints.Saved, error) {
	f.asked = append(f.asked, fmt.Sprintf("save %s to %d", id, to))
	return endpoints.Saved{Model: id, Path: f.SettingsPath()}, nextError(&f.save)
}

func (f *fakeConnector) Connected() bool               { return false }
func (f *fakeConnector) Offline(string) bool           { return true }
func (f *fakeConnector) Host(string) string            { return "" }
func (f *fakeConnector) Dismiss(context.Context) error { return nil }
func (f *fakeConnector) SettingsPath() string          { return "/home/me/config.toml" }

// converse runs a form and answers its questions with these lines. It returns what was shown, without hidden answers.
func converse(f *fakeConnector, form connectForm, answers ...string) (string, error) {
	var screen strings.Builder
	form.Connector = f
	form.Print = func(line string) { screen.WriteString(line + "\n") }
	form.Ask = func(_ context.Context, prompt safetext.Text, hidden bool) (string, error) {
		screen.WriteString(string(prompt))
		if len(answers) == 0 {
			return "", io.EOF
		}
		answer := answers[0]
		if answers = answers[1:]; !hidden {
			screen.WriteString(answer)
		}
		screen.WriteString("\n")
		return answer, nil
	}
	_, err := form.Run(context.Background())
	return screen.String(), err
}

func TestConnectFormAsks(t *testing.T) {
	const secret = "sk-typed-0123456789"
	for name, c := range map[string]struct {
		check   []error
		answers []string
		want    string // the calls of the connector
		to      endpoints.Storage
	}{
		"by number":       {nil, []string{"1", "2", "y"}, "check ollama, save here/small", endpoints.Keyring},
		"by name":         {nil, []string{"olla", "small", "Yes"}, "check ollama, save here/small", endpoints.Keyring},
		"by address":      {nil, []string{"localhost:9/v1", "1", "y"}, "check localhost:9/v1, save here/large", endpoints.Keyring},
		"address later":   {nil, []string{"4", "localhost:9/v1", "1", "y"}, "check localhost:9/v1, save here/large", endpoints.Keyring},
		"a vendor":        {nil, []string{"openai", secret, "2", "large", "y"}, "check openai " + secret + ", try here/large, save here/large", endpoints.Variable},
		"a mistyped line": {nil, []string{"9", "nonsense", "1", "1", "y"}, "check ollama, save here/large", endpoints.Keyring},
		"a wrong key": {
			[]error{&endpoints.Problem{Code: endpoints.WantsKey}, &endpoints.Problem{Code: endpoints.RefusedKey}},
			[]string{"proxy", "wrong", secret, "keyring", "1", "1", "y"},
			"check proxy, check proxy wrong, check proxy " + secret + ", try here/large, save here/large", endpoints.Keyring,
		},
		"a wrong address": {
			[]error{&endpoints.Problem{Code: endpoints.NoAnswer}},
			[]string{"localhost:1", "ollama", "1", "y"},
			"check localhost:1, check ollama, save here/large", endpoints.Keyring,
		},
	} {
		f := newFakeConnector()
		f.check = c.check
		screen, err := converse(f, connectForm{}, c.answers...)
		want := fmt.Sprintf("%s to %d", c.want, c.to)
		if got := strings.Join(f.asked, ", "); err != nil || got != want {
			t.Errorf("%s: %v, asked %q, want %q; shown\n%s", name, err, got, want, screen)
		}
		if strings.Contains(screen, secret) {
			t.Errorf("%s: the key is shown\n%s", name, screen)
		}
	}
}

// Enter, the end of input and "n" at any question change nothing.
func TestConnectFormIsDeclined(t *testing.T) {
	for _, answers := range [][]string{{}, {""}, {"4", ""}, {"openai", ""}, {"1"}, {"1", ""}, {"1", "1", ""}, {"1", "1", "n"}} {
		f := newFakeConnector()
		if _, err := converse(f, connectForm{}, answers...); !errors.Is(err, errDeclined) || strings.Contains(strings.Join(f.asked, ","), "save") {
			t.Errorf("%q: %v, asked %q", answers, err, f.asked)
		}
	}
}

// If a key cannot be stored, the terminal asks for another place and for nothing else. If the settings cannot be
// written, the run ends with an error.
func TestAKeyThatCannotBeStored(t *testing.T) {
	const secret = "sk-typed-0123456789"
	notStored := &endpoints.Problem{Code: endpoints.NotStored, At: "keyring", Err: errors.New("it is locked")}
	f := newFakeConnector()
	f.save = []error{notStored}
	screen, err := converse(f, connectForm{}, "openai", secret, "1", "large", "y", "2", "large", "y")
	const check, try = "check openai " + secret, "try here/large"
	want := []string{check, try, "save here/large to 0", try, "save here/large to 1"}
	if err != nil || !slices.Equal(f.asked, want) {
		t.Errorf("%v, asked %q, want %q; shown\n%s", err, f.asked, want, screen)
	}

	f = newFakeConnector()
	f.save = []error{notStored, notStored, notStored}
	screen, err = converse(f, connectForm{Endpoint: "ollama", Store: "keyring", Model: "large", Yes: true}, "")
	if !errors.Is(err, errDeclined) || !strings.Contains(screen, "Which model?") {
		t.Errorf("%v, shown\n%s", err, screen)
	}
}

// An address given as a flag works like one entered on a terminal.
func TestAnAddressAsAFlag(t *testing.T) {
	for endpoint, isAddress := range map[string]bool{"localhost": true, "localhost:9": true, "api.example.com": true, "opnai": false} {
		f := newFakeConnector()
		form := connectForm{Connector: f, Endpoint: endpoint, Model: "large", Yes: true}
		_, err := form.Run(t.Context())
		if asked := slices.Contains(f.asked, "check "+endpoint); asked != isAddress || (err == nil) != isAddress {
			t.Errorf("%s: %v, asked %q", endpoint, err, f.asked)
		}
	}
}

func TestConnectFormReadsFlags(t *testing.T) {
	f := connectForm{Key: "-", Ask: func(context.Context, safetext.Text, bool) (string, error) { return "", nil }}
	if err := f.ReadFlags(strings.NewReader("sk-piped\n")); err != nil || f.Key != "sk-piped" || f.Ask != nil {
		t.Errorf("a piped key is %q, %v", f.Key, err)
	}
	f = connectForm{Key: "-"}
	if err := f.ReadFlags(strings.NewReader(" \n")); err == nil {
		t.Error("empty standard input is accepted as a key")
	}
	f = connectForm{Key: "sk-on-the-command-line"}
	if err := f.ReadFlags(nil); err == nil || strings.Contains(err.Error(), "sk-on") {
		t.Errorf("a key on the command line: %v", err)
	}
}

// Found endpoints are listed separately from providers that are only known by name.
func TestNamesOfWhatIsFound(t *testing.T) {
	f := newFakeConnector()
	form := connectForm{Connector: f}
	_, err := form.Run(t.Context())
	const want = "--endpoint is missing: found: ollama, proxy; known providers, which need a key: openai; for any other endpoint, give its address"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	f.found = f.found[2:]
	if _, err := form.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing was found; known providers") {
		t.Errorf("%v, want that nothing was found", err)
	}
}

func TestAKeyAsAnAddressIsNotShown(t *testing.T) {
	const key = "sk-pasted-0123456789abcdef"
	f := newFakeConnector()
	screen, err := converse(f, connectForm{Endpoint: key})
	if strings.Contains(screen+err.Error(), key) || len(f.asked) > 0 {
		t.Errorf("asked %q, %v\n%s", f.asked, err, screen)
	}
}

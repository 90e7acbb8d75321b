package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"winnow/adapters/endpoints"
	"winnow/assistant/safetext"
	"winnow/tui/connectcard"
	"winnow/tui/plain"
)

// connectForm connects a model line by line. On a terminal, Run asks for what the flags do not specify; without a
// terminal it returns an error that names the missing flag. A form is for one run in one goroutine.
type connectForm struct {
	Connector connectcard.Connector

	Endpoint string // the endpoint's name or address
	Key      string // the key as entered; see endpoints.ParseKey
	Store    string // where a pasted key is stored, one of keyStores
	Model    string // a model of the endpoint, with or without the endpoint's name
	Yes      bool   // do not ask before writing

	Print func(line string) // prints one line: a title, a choice or a problem
	// Ask asks a question on the terminal; nil means there is no terminal and missing values are errors.
	Ask plain.Ask

	flow endpoints.Flow
}

// Bind declares the flags that fill in the form.
func (f *connectForm) Bind(set *pflag.FlagSet) {
	set.StringVar(&f.Endpoint, "endpoint", "", "the NAME or address of the endpoint")
	set.StringVar(&f.Key, "key", "", "the endpoint's key as env:NAME, cmd:COMMAND or keyring:NAME; - reads the key from standard input")
	set.StringVar(&f.Store, "store", "", "where to store an entered key: keyring, variable (you set it) or file (plain text)")
	set.BoolVar(&f.Yes, "yes", false, "don't ask before writing")
}

// ReadFlags checks the --key flag and, for "-", reads the key from in; after that, Run does not ask questions.
func (f *connectForm) ReadFlags(in io.Reader) error {
	key, pasted, err := endpoints.ParseKey(f.Key)
	switch {
	case f.Key == "-":
		line, err := bufio.NewReader(io.LimitReader(in, maxKey)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("standard input: %w", err)
		}
		if f.Key, f.Ask = strings.TrimSpace(line), nil; f.Key == "" {
			return errors.New("--key -: there is no key on standard input")
		}
		return nil
	case pasted:
		return errors.New("--key takes env:NAME, cmd:COMMAND, keyring:NAME or -: a key on the command line is visible to other users")
	}
	f.Key = string(key)
	return err
}

const maxKey = 1 << 16 // bytes

// connectedLines describes what was saved.
func connectedLines(saved endpoints.Saved) []string {
	text := []string{string(safetext.Visible(saved.Model) + " is now in use")}
	switch {
	case saved.Folder:
		text[0] += " in this folder"
	case saved.Path != "":
		text = append(text, "written to "+saved.Path)
	}
	if saved.Variable != "" {
		text = append(text, "set the environment variable "+saved.Variable+" to the key")
	}
	return append(text, "winnow doctor checks the connection")
}

// keyStores are the values of connectForm.Store, indexed by endpoints.Storage.
var keyStores = []string{"keyring", "variable", "file"}

var keyStorages = map[string]endpoints.Storage{"keyring": endpoints.Keyring, "variable": endpoints.Variable, "file": endpoints.Plain}

// missingFlagError is returned if a flag is required because there is no terminal.
type missingFlagError struct{ Flag, Why string }

func (m *missingFlagError) Error() string { return fmt.Sprintf("--%s is missing: %s", m.Flag, m.Why) }

// errDeclined is returned by Run if the user cancelled.
var errDeclined = errors.New("nothing was changed")

// Run connects a model. On a terminal it prints a problem that has a code and asks again. Any other problem, and
// without a terminal the first one, is returned as the error.
func (f *connectForm) Run(ctx context.Context) (endpoints.Saved, error) {
	f.flow = endpoints.Flow{Source: f.Connector}
	for f.flow.Step != endpoints.Done {
		job, err := f.answer(ctx)
		if err != nil {
			return endpoints.Saved{}, err
		}
		if job != nil {
			job(ctx)()
		}
		if err := f.flow.Problem; err != nil {
			if f.Ask == nil || endpoints.CodeOf(err) == "" {
				return endpoints.Saved{}, err
			}
			f.Print(connectcard.Sentence(err))
			f.Endpoint, f.Key, f.Store, f.Model = "", "", "", "" // the given values did not work
		}
	}
	return f.flow.Saved, nil
}

// answer answers the current question of the flow, from the flags or by asking.
func (f *connectForm) answer(ctx context.Context) (endpoints.Job, error) {
	switch flow := &f.flow; flow.Step {
	case endpoints.Choosing:
		return f.candidate(ctx)
	case endpoints.Addressing:
		if endpoints.CodeOf(flow.Problem) != "" { // another candidate may work
			flow.Restart()
			return nil, nil
		}
		address, err := f.ask(ctx, "address, such as http://localhost:8000/v1")
		return flow.EnterAddress(address), err
	case endpoints.Keying:
		if f.Key == "" {
			if err := f.askKey(ctx, safetext.Sprintf("the key for %s", cmp.Or(flow.Candidate.Name, flow.Address))); err != nil {
				return nil, err
			}
		}
		return flow.EnterKey(f.Key), nil
	case endpoints.Storing:
		storage, err := f.storage(ctx, flow.Checked)
		flow.Store(storage)
		return nil, err
	case endpoints.Consenting:
		flow.Consent(true) // the user has chosen where to store the key
	case endpoints.Picking:
		id, err := f.model(ctx, flow.Checked)
		if err == nil {
			err = f.confirm(ctx, safetext.Sprintf("use %s from now on?", id))
		}
		return flow.Pick(id), err
	case endpoints.Done:
	}
	return nil, nil
}

// candidate chooses the endpoint given by the flag, or asks which of the endpoints found to use.
func (f *connectForm) candidate(ctx context.Context) (endpoints.Job, error) {
	found := f.Connector.Search(ctx)
	i := slices.IndexFunc(found, func(c endpoints.Candidate) bool { return c.Name == f.Endpoint })
	switch address := endpoints.IsAddress(f.Endpoint) || endpoints.LooksLikeKey(f.Endpoint) || strings.ContainsAny(f.Endpoint, ":./"); {
	case f.Endpoint == "":
		var err error
		if i, err = f.chooseCandidate(ctx, found); err != nil {
			return nil, err
		}
	case i < 0 && !address:
		return nil, fmt.Errorf("there is no endpoint %q here: %s", safetext.Line(f.Endpoint, maxShown), candidateNames(found))
	}
	var job endpoints.Job
	if i >= 0 {
		job = f.flow.Choose(found[i])
	} else {
		job = f.flow.EnterAddress(f.Endpoint)
	}
	if f.Key != "" && job != nil {
		job = f.flow.EnterKey(f.Key)
	}
	return job, nil
}

// chooseCandidate asks which candidate to use. It returns -1 if the user entered an address, which is then in
// f.Endpoint.
func (f *connectForm) chooseCandidate(ctx context.Context, found []endpoints.Candidate) (int, error) {
	if f.Ask == nil {
		return 0, &missingFlagError{"endpoint", candidateNames(found)}
	}
	var lines []string
	for _, c := range found {
		name, extra := connectcard.Label(c)
		lines = append(lines, name+", "+extra)
	}
	i, err := f.choose(ctx, "What would you like to connect?", "number, name or address", lines, func(answer string) int {
		if endpoints.IsAddress(answer) {
			f.Endpoint = answer
			return 0
		}
		return -1
	})
	if f.Endpoint != "" {
		i = -1
	}
	return i, err
}

const maxShown = 100 // maximum width in cells of an invalid value in a message

// candidateNames lists the candidates found here and the providers that are known by name but need a key.
func candidateNames(found []endpoints.Candidate) string {
	var here, vendors []string
	for _, c := range found {
		switch c.Kind {
		case endpoints.KindVendor:
			vendors = append(vendors, c.Name)
		case endpoints.KindCustom:
		case endpoints.KindResponds, endpoints.KindHasKey, endpoints.KindSetUp, endpoints.KindFails:
			here = append(here, c.Name)
		}
	}
	text := "nothing was found"
	if len(here) > 0 {
		text = "found: " + strings.Join(here, ", ")
	}
	if len(vendors) > 0 {
		text += "; known providers, which need a key: " + strings.Join(vendors, ", ")
	}
	return text + "; for any other endpoint, give its address"
}

// storage returns where to store a pasted key. It chooses the settings file only if the user asks for it.
func (f *connectForm) storage(ctx context.Context, ch *endpoints.Checked) (endpoints.Storage, error) {
	has := f.flow.Storages
	storage, named := keyStorages[f.Store]
	switch {
	case named:
		return storage, nil
	case f.Store != "":
		return 0, fmt.Errorf("--store must be one of %s, not %q", strings.Join(keyStores, ", "), safetext.Line(f.Store, maxShown))
	case f.Ask == nil && has[0] == endpoints.Keyring:
		return endpoints.Keyring, nil
	case f.Ask == nil:
		return 0, &missingFlagError{"store", "there is no keyring here; use variable (an environment variable that you set) or file (plain text)"}
	}
	labels := map[endpoints.Storage]string{
		endpoints.Keyring: "in the keyring", endpoints.Variable: "in the environment variable " + ch.KeyVariable() + ", which you set yourself",
		endpoints.Plain: "as plain text in " + f.Connector.SettingsPath(),
	}
	var lines []string
	for _, s := range has {
		lines = append(lines, labels[s])
	}
	i, err := f.choose(ctx, "Where do you want to store the key?", "number", lines, nil)
	if err != nil {
		return 0, err
	}
	f.Store = keyStores[has[i]]
	return has[i], nil
}

// model returns the named model or the only one, or asks the user to choose.
func (f *connectForm) model(ctx context.Context, ch *endpoints.Checked) (string, error) {
	var ids []string
	for _, m := range ch.Models {
		ids = append(ids, m.ID)
	}
	named := func(name string) int {
		return slices.IndexFunc(ids, func(id string) bool { return id == name || id == ch.Name+"/"+name })
	}
	i := named(f.Model)
	switch {
	case i >= 0:
		return ids[i], nil
	case f.Model != "":
		return "", fmt.Errorf("%s has no model %q", ch.Name, safetext.Line(f.Model, maxShown))
	case len(ids) == 1:
		return ids[0], nil
	case f.Ask == nil:
		return "", &missingFlagError{"model", fmt.Sprintf("%s has %d models, such as %s", ch.Name, len(ids), safetext.Visible(ids[0]))}
	}
	const listed = 30 // number of models shown; the others can be entered by name
	shown := make([]string, min(listed, len(ids)))
	for i := range shown {
		shown[i] = string(safetext.Visible(strings.TrimPrefix(ids[i], ch.Name+"/")))
	}
	title := "Which model?"
	if len(ids) > listed {
		title = fmt.Sprintf("Which model? Only %d of %d are listed, but you can enter any name.", listed, len(ids))
	}
	i, err := f.choose(ctx, title, "number or name", shown, named)
	if err != nil {
		return "", err
	}
	return ids[i], nil
}

// choose asks for one of several lines and returns its index. The user enters the number or the start of a line, or a
// value for which other returns an index of 0 or more; other may be nil. what describes the possible input in the
// prompt.
func (f *connectForm) choose(ctx context.Context, title string, what safetext.Text, lines []string, other func(answer string) int) (int, error) {
	f.Print(title)
	for i, l := range lines {
		f.Print(fmt.Sprintf("%3d  %s", i+1, l))
	}
	for {
		answer, err := f.ask(ctx, what+" (Enter skips)")
		if err != nil {
			return 0, err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(lines) {
			return n - 1, nil
		}
		i := -1
		if other != nil {
			i = other(answer)
		}
		if i < 0 {
			i = slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, answer) })
		}
		if i >= 0 {
			return i, nil
		}
		f.Print(string("not one of these; enter a " + what))
	}
}

// ask reads a line. An empty line or the end of the input returns errDeclined.
func (f *connectForm) ask(ctx context.Context, what safetext.Text) (string, error) {
	return trimAnswer(f.Ask(ctx, what+": ", false))
}

func trimAnswer(line string, err error) (string, error) {
	if line = strings.TrimSpace(line); errors.Is(err, io.EOF) || err == nil && line == "" {
		return "", errDeclined
	}
	return line, err
}

// askKey reads a key without echo.
func (f *connectForm) askKey(ctx context.Context, what safetext.Text) (err error) {
	if f.Ask == nil {
		return &missingFlagError{"key", "env:NAME, cmd:COMMAND or keyring:NAME, or - to read it from standard input"}
	}
	f.Key, err = trimAnswer(f.Ask(ctx, what+", or env:NAME, cmd:COMMAND, keyring:NAME (not shown): ", true))
	return err
}

// confirm asks whether to continue and returns errDeclined if not.
func (f *connectForm) confirm(ctx context.Context, question safetext.Text) error {
	if f.Yes {
		return nil
	}
	if f.Ask == nil {
		return &missingFlagError{"yes", fmt.Sprintf("it answers the question %q", question)}
	}
	answer, err := f.ask(ctx, question+" (y/n)")
	if answer = strings.ToLower(answer); err == nil && answer != "y" && answer != "yes" {
		err = errDeclined
	}
	return err
}

// connectInLines connects a model by asking questions and prints what was done.
func connectInLines(ctx context.Context, c connectcard.Connector, print func(line string), ask plain.Ask) error {
	f := connectForm{Connector: c, Print: print, Ask: ask}
	saved, err := f.Run(ctx)
	switch {
	case errors.Is(err, errDeclined), errors.Is(err, context.Canceled):
		print("Nothing was changed.")
		return nil
	case err != nil:
		return err
	}
	for _, line := range connectedLines(saved) {
		print(line)
	}
	return nil
}

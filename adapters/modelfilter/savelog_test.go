package modelfilter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
)

func TestTheLogOfASaveNamesWhoMadeWhat(t *testing.T) {
	o := newOffice(t, "anna", "bert")
	var log bytes.Buffer
	o.Window.opts.Log = slog.New(slog.NewJSONHandler(&log, nil))
	save := func() {
		t.Helper()
		plan, err := o.users["bert"].PlanSave(t.Context(), "")
		o.must(err)
		_, err = o.users["bert"].Save(t.Context(), assistant.Basis{Digest: plan.Digest})
		o.must(err)
	}
	o.stage("anna", "openai", "x1*")
	o.stage("bert", "gemini", "y2*")
	save()
	var record struct {
		Msg, User, By, File string
		Count               int
		Changes             []struct{ Change, By string }
	}
	if lines := strings.Count(log.String(), `"rules saved"`); lines != 1 {
		t.Errorf("%d records:\n%s", lines, log.String())
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, `"rules saved"`) {
			o.must(json.Unmarshal([]byte(line), &record))
		}
	}
	var made []string
	for _, c := range record.Changes {
		made = append(made, c.By+" "+c.Change)
	}
	slices.Sort(made)
	if want := []string{"anna hid x1* on openai", "bert hid y2* on gemini"}; !slices.Equal(made, want) || record.User != "bert" || record.By != "user" || record.Count != 2 || record.File == "" {
		t.Errorf("%+v, changes %q, want %q", record, made, want)
	}

	log.Reset()
	o.Window.opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	for i := range maxLogged + 1 {
		o.stage("anna", "openai", fmt.Sprintf("z%03d*", i))
	}
	save()
	if text := log.String(); strings.Count(text, "anna: hid z") != maxLogged || !strings.Contains(text, fmt.Sprintf(" count=%d ", maxLogged+1)) {
		t.Errorf("the record of many changes as text:\n%s", text)
	}
}

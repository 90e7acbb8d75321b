package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/safetext"
)

func export(t testing.TB, s history.Store, f Format) string {
	t.Helper()
	var b bytes.Buffer
	if err := Export(t.Context(), s, &b, f, ExportOptions{}); err != nil {
		t.Fatalf("Export(%s): %v", f, err)
	}
	return b.String()
}

// hostile is a text that would do harm wherever it is shown as it is.
const hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)> \x1b[31m\x1b]52;c;eA==\a \u009b31m \u202egnp.exe \U000e0041 \x00 ``` & \" ' \u2028"

func hostilePair() *assistant.Pair {
	p := full()
	p.UserText, p.AssistantText, p.Reasoning = hostile, hostile+"[[tool:0]]", hostile
	p.Topic, p.Model, p.ErrorMessage = "A", hostile, hostile
	p.Attachments[0].Name = hostile
	p.ToolCalls[0].Arguments, _ = json.Marshal(hostile)
	p.ToolCalls[0].Result.Message = hostile
	return p
}

func TestJSONComesBackByteForByte(t *testing.T) {
	s := newStore(t)
	broken := pair("s2", "größe \u2028", "<b>&\x7f")
	broken.ToolCalls = []assistant.ToolCall{{ID: "c", Name: "n", Arguments: json.RawMessage(`{"a":`), Silent: true}}
	broken.State, broken.Flag = assistant.PairIdle, false
	cut := pair("gone", "x", "y")
	put(t, s, full(), broken, hostilePair(), cut)
	for range loadAtOnce + 1 {
		put(t, s, pair("many", "q", "a"))
		if testing.Short() {
			break
		}
	}
	commit(t, s, &assistant.Batch{Cut: &assistant.Cut{Name: "c", Sessions: []string{"gone"}}})
	first := export(t, s, JSON)

	other := newStore(t)
	report, err := Import(t.Context(), other, strings.NewReader(first), nil)
	if want := len(seqs(t, s, "")); err != nil || report.Added != want || report.Known != 0 {
		t.Fatalf("Import = %+v, %v; want %d added", report, err, want)
	}
	if second := export(t, other, JSON); second != first {
		t.Errorf("export, import, export gave other bytes:\n%.2000s\n%.2000s", first, second)
	}
	report, err = Import(t.Context(), other, strings.NewReader(first), nil)
	if err != nil || report.Added != 0 || report.Known != len(seqs(t, s, "")) {
		t.Errorf("second Import = %+v, %v; want all known", report, err)
	}
	if got := load(t, other, 2)[0]; string(got.ToolCalls[0].Arguments) != `{"a":` {
		t.Errorf("broken arguments came back as %q", got.ToolCalls[0].Arguments)
	}
}

func TestJSONFormIsThePublishedOne(t *testing.T) {
	s := newStore(t)
	p := pair("s", "hi", "ho")
	p.ID, p.Topic = "id1", "AI > Agents"
	put(t, s, p)
	want := `{"meta":{"format":"winnow history","version":1,"pairs":1},"pairs":[
{"id":"id1","session":"s","topic":"AI > Agents","model":"openai/gpt-5.1","user_text":"hi","assistant_text":"ho","reasoning":"","star":0,"flag":true,"state":"complete","error_code":"","error_message":"","created_at":"2026-03-04T05:06:07.0008009+01:00","attachments":[],"tool_calls":[]}
]}
`
	if got := export(t, s, JSON); got != want {
		t.Errorf("Export(json) =\n%s\nwant\n%s", got, want)
	}
}

// Whatever a pair holds, an export shown by cat is harmless.
func TestExportsAreSafeForATerminal(t *testing.T) {
	s := newStore(t)
	put(t, s, hostilePair())
	for _, f := range []Format{JSON, Markdown, Text, HTML} {
		if got := export(t, s, f); string(safetext.Clean(got)) != got {
			t.Errorf("Export(%s) holds what safetext would take out:\n%q", f, got)
		}
	}
}

func TestExportsHaveNoRequests(t *testing.T) {
	s := newStore(t)
	p := pair("x", "one", "1")
	sent := assistant.PairRequest{Pair: p, SentRequest: assistant.SentRequest{Model: "m", At: day, Body: json.RawMessage(`{"messages":"of the request"}`)}}
	commit(t, s, &assistant.Batch{Put: []*assistant.Pair{p}, Requests: []assistant.PairRequest{sent}})
	if stored, err := s.Requests(t.Context(), p.Seq); err != nil || len(stored) != 1 {
		t.Fatalf("Requests = %v, %v; want one", stored, err)
	}
	for _, f := range []Format{JSON, Markdown, Text, HTML} {
		if got := export(t, s, f); strings.Contains(got, "of the request") {
			t.Errorf("Export(%s) has the request:\n%s", f, got)
		}
	}
}

// A key of which the program learns after a pair was stored is not exported.
func TestSecretsAreNotExported(t *testing.T) {
	const late = "answered late"
	redact := func(text string) string { return text }
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h", "history.db"), sqlite.Options{
		Redact: func(text string) string { return redact(text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put(t, s, pair("x", late, "a"))
	redact = func(text string) string { return strings.ReplaceAll(text, late, "[redacted]") }
	for _, f := range []Format{JSON, Markdown, Text, HTML} {
		if strings.Contains(export(t, s, f), late) {
			t.Errorf("Export(%s) holds the key", f)
		}
	}
}

// Characters that are drawn as nothing are escaped in the JSON, which means the same.
func TestJSONShowsWhatIsHidden(t *testing.T) {
	s := newStore(t)
	const blank = "gpt-4\u3164\u115f\uffa0\u034f\u2800\u200b\ufe0fo"
	p := pair("x", "q", "a")
	p.Model = blank
	put(t, s, p)
	got := export(t, s, JSON)
	if !strings.Contains(got, `gpt-4\u3164\u115f\uffa0\u034f\u2800\u200b\ufe0fo`) {
		t.Errorf("the export hides characters: %q", got)
	}
	other := newStore(t)
	if _, err := Import(t.Context(), other, strings.NewReader(got), nil); err != nil || load(t, other, 1)[0].Model != blank {
		t.Errorf("the import lost them: %v", err)
	}
}

func TestHTMLHasNoElementOfATextsMaking(t *testing.T) {
	s := newStore(t)
	put(t, s, hostilePair())
	page := export(t, s, HTML)
	allowed := regexp.MustCompile(`^</?(!doctype|html|head|meta|title|style|body|h1|small|article|h2|section|p|bdi|details|summary|div|pre)\b`)
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1) {
		if !allowed.MatchString(tag) || strings.Contains(tag, "onerror") {
			t.Errorf("the page holds %s", tag)
		}
	}
	if !strings.Contains(page, html.EscapeString("<script>alert(1)</script>")) {
		t.Error("the text itself is missing")
	}
	if !strings.Contains(page, "prefers-color-scheme: dark") || !strings.Contains(page, "default-src 'none'") {
		t.Error("style or policy is missing")
	}
	for _, outside := range []string{"http://", "https://", "src=\"", "@import", "url("} {
		if strings.Contains(page, outside) {
			t.Errorf("the page needs more than itself: %s", outside)
		}
	}
}

func TestTextsOfExportsAreThere(t *testing.T) {
	s := newStore(t)
	p := full()
	p.ID = "id"
	p.AssistantText = "Before.\n[[tool:0]]\nAfter `\\[[tool:1]]`:\n```go\nfunc main() {}\n```\n"
	put(t, s, p)
	for f, want := range map[Format][]string{
		Text:     {"Before.\n✓ add  ok\nAfter `[[tool:1]]`", "[error: net] it broke", "AI > Agents", "★★"},
		Markdown: {"> block <all>", "```\n✓ add  ok\ninput: {\"n\":12345678901234567890}", "```go\nfunc main() {}\n```"},
		HTML:     {"<summary>✓ add  ok</summary>", "<pre>func main() {}</pre>", "AI &gt; Agents"},
	} {
		got := export(t, s, f)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("Export(%s) lacks %q:\n%s", f, w, got)
			}
		}
		if strings.Contains(got, "c2") {
			t.Errorf("Export(%s) shows a silent call", f)
		}
	}
}

func TestPairsWithoutIDsAreImportedOnce(t *testing.T) {
	s := newStore(t)
	const byHand = `{"pairs":[{"user_text":"one"},{"user_text":"two","state":"sending"}]}`
	for round, want := range []ImportReport{{Added: 2}, {Known: 2}} {
		if got, err := Import(t.Context(), s, strings.NewReader(byHand), nil); err != nil || got != want {
			t.Errorf("Import %d = %+v, %v; want %+v", round, got, err, want)
		}
	}
	if got := load(t, s, 2)[0]; got.State != assistant.PairError || got.ErrorCode != assistant.CodeInterrupted || !got.Flag {
		t.Errorf("a pair that was being sent came in as %+v; want it interrupted and flagged", got)
	}
}

func TestImportRefusesWhatItCannotRead(t *testing.T) {
	s := newStore(t)
	const noExport = "the input is not a JSON export from winnow"
	for name, c := range map[string]struct{ text, want string }{
		"empty": {"", "the input is empty"}, "not JSON": {"hello", noExport}, "list": {"[]", noExport}, "nothing": {"{}", noExport},
		"cut":           {`{"pairs":[{"id":"a"`, "message 1 in the file: the input ends too early"},
		"cut between":   {`{"pairs":[`, "the input ends too early"},
		"unknown field": {`{"pears":[]}`, noExport}, "messages": {`{"messages":[],"version":"1.0"}`, noExport},
		"newer":    {`{"meta":{"version":99},"pairs":[]}`, "format version 99 is newer than this winnow supports (up to 2)"},
		"stars":    {`{"pairs":[{"star":7}]}`, "message 1 in the file: stars must be 0 to 3, not 7"},
		"state":    {`{"pairs":[{"state":"odd"}]}`, `message 1 in the file: unknown state "odd"`},
		"type":     {`{"pairs":[{"star":"x"}]}`, "message 1 in the file: star cannot be a JSON string"},
		"time":     {`{"pairs":[{"created_at":"now"}]}`, "message 1 in the file: now is not a time such as 2026-01-02T15:04:05Z"},
		"sessions": {`{"pairs":[],"sessions":5}`, "sessions: it cannot be a JSON number"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Import(t.Context(), s, strings.NewReader(c.text), nil); err == nil || err.Error() != c.want || got.Added != 0 {
				t.Errorf("Import(%s) = %+v, %v; want %s and nothing added", c.text, got, err, c.want)
			}
		})
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestExportTellsWhenItCannotWrite(t *testing.T) {
	s := newStore(t)
	put(t, s, full())
	var w io.Writer = fullDisk{}
	if err := Export(t.Context(), s, w, JSON, ExportOptions{}); err == nil {
		t.Error("Export to a full disk succeeded")
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"meta":{},"pairs":[{"id":"a","user_text":"u","tool_calls":[{"name":"x","arguments":1,"result":{"data":[1]}}]}]}`))
	f.Add([]byte(`{"pairs":[{"user_text":"a"}]}`))
	f.Add([]byte(`{"pairs":[{"tool_calls":[{"arguments_text":"{"}]},{"created_at":"0000-01-01T00:00:00Z"}]}`))
	s := newStore(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Import(t.Context(), s, bytes.NewReader(data), nil); err != nil {
			return
		}
		first := export(t, s, JSON)
		again, err := Import(t.Context(), s, strings.NewReader(first), nil)
		if err != nil || again.Added != 0 {
			t.Errorf("an export cannot be read back: %+v, %v", again, err)
		}
		var ids []int64
		ids = append(ids, seqs(t, s, "")...)
		if err := s.Commit(t.Context(), &assistant.Batch{Delete: ids}); err != nil {
			t.Fatal(err)
		}
		if _, err := Import(t.Context(), s, strings.NewReader(first), nil); err != nil {
			t.Fatal(err)
		}
		if second := export(t, s, JSON); second != first {
			t.Errorf("export, import, export:\n%s\n%s", first, second)
		}
		commit(t, s, &assistant.Batch{Delete: seqs(t, s, "")})
	})
}

package overlay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/llm"

	"winnow/tui/style"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.Local)

func live(ids ...string) (all []llm.ModelInfo) {
	for _, id := range ids {
		all = append(all, llm.ModelInfo{ID: id, Source: "live", Retrieved: now})
	}
	return all
}

// lines are the entries as text: group, mark, text and what stands at the right edge.
func lines(entries []Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSpace(fmt.Sprintf("[%s] %s%s | %s", e.Group, e.Mark, e.Text, e.Extra)))
	}
	return strings.Join(out, "\n")
}

func check(t *testing.T, entries []Entry, want ...string) {
	t.Helper()
	if got := lines(entries); got != strings.Join(want, "\n") {
		t.Errorf("the entries are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestModelsBehindAProxyAreGroupedByTheirProvider(t *testing.T) {
	l := ModelList{Models: live("far/m", "proxy/anthropic/claude", "proxy/loose", "proxy/openai/gpt", "proxy/openai/o1"), Now: now, Current: "proxy/openai/o1", Icons: style.Icons{Marked: "*"}}
	l.Models[0].NoChat = true
	l.Models[1] = llm.ModelInfo{ID: "proxy/anthropic/claude", Tools: true, Reasons: true, Facts: llm.Facts{PriceIn: llm.PriceOf(2), PriceOut: llm.PriceOf(8)}, Context: 200_000}
	entries, at := l.Entries("proxy/openai/gpt")
	check(t, entries,
		"[proxy · anthropic] anthropic/claude | tools · reasons · $2/$8 · 200k",
		"[proxy] loose | limit unknown",
		"[proxy · openai] openai/gpt | limit unknown",
		"[proxy · openai] *openai/o1 | limit unknown")
	if entries[at].Value != "proxy/openai/gpt" {
		t.Errorf("the selected one is %q", entries[at].Value)
	}
}

// The legend explains only what one of the listed models shows.
func TestTheLegendExplainsWhatIsListed(t *testing.T) {
	price, limit := "$in/$out per million tokens", "last number: context limit in tokens"
	for want, models := range map[string][]llm.ModelInfo{
		"":                    {{ID: "p/a", Tools: true}, {ID: "p/voice", NoChat: true, Facts: llm.Facts{PriceIn: llm.PriceOf(1)}, Context: 8000}},
		price:                 {{ID: "p/a"}, {ID: "p/b", Facts: llm.Facts{PriceOut: llm.PriceOf(0.5)}}},
		limit:                 {{ID: "p/a", Context: 8000}},
		price + " · " + limit: {{ID: "p/a", Context: 8000}, {ID: "p/b", Facts: llm.Facts{PriceIn: llm.PriceOf(1)}}},
	} {
		gone := []llm.ModelInfo{{ID: "p/gone", Facts: llm.Facts{PriceIn: llm.PriceOf(3)}, Context: 8000, Retrieved: now}}
		if got := (ModelList{Models: models, Gone: gone, Now: now}).Legend(); got != want {
			t.Errorf("the legend of %v is %q, want %q", models, got, want)
		}
	}
}

func TestAVanishedModelIsMarked(t *testing.T) {
	day := 24 * time.Hour
	l := ModelList{
		Models: live("p/a"), Now: now, Current: "p/current", Favourites: []string{"p/liked", "p/a"}, Recent: []string{"p/used", "p/unheard-of"}, Icons: style.Icons{ToolBad: "x"},
		Gone: []llm.ModelInfo{
			{ID: "p/current", Retrieved: now.Add(-400 * day)},
			{ID: "p/liked", Retrieved: now.Add(-60 * day)},
			{ID: "p/long-ago", Retrieved: now.Add(-31 * day)},
			{ID: "p/now", Retrieved: now.Add(-day)},
			{ID: "p/used"},
			{ID: "p/voice", NoChat: true, Retrieved: now},
		},
	}
	entries, _ := l.Entries("")
	check(t, entries,
		"[favourites] xp/liked | gone · last seen 2026-09-23",
		"[favourites] p/a | limit unknown",
		"[recent] xp/used | gone",
		"[p] xcurrent | gone · last seen 2025-10-18",
		"[p] xnow | gone · last seen 2026-11-21")
}

func TestAListOfAnEarlierRunSaysItsAge(t *testing.T) {
	for age, want := range map[time.Duration]string{
		30 * time.Second: "just now", time.Minute: "1 minute ago", 59 * time.Minute: "59 minutes ago",
		time.Hour: "1 hour ago", 47 * time.Hour: "1 day ago", 100 * time.Hour: "4 days ago",
	} {
		l := ModelList{Models: append(live("live/m"), llm.ModelInfo{ID: "kept/x/m", Source: "cache", Retrieved: now.Add(-age)}), Now: now}
		entries, _ := l.Entries("")
		check(t, entries, "[kept · x · listed "+want+"] x/m | limit unknown", "[live] m | limit unknown")
	}
}

func TestNamesAreMadeVisible(t *testing.T) {
	entries, _ := ModelList{Models: live("p\x1b/m\x1b[2J"), Now: now}.Entries("")
	body := ansi.Strip(strings.Join(NewPicker("Model", entries, 0).Body(80, 10, style.New(style.Options{Profile: style.NoColor})), "\n"))
	for _, want := range []string{"p‹U+001B›\n", " m‹U+001B›[2J "} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
}

func TestTokens(t *testing.T) {
	for n, want := range map[int]string{0: "limit unknown", 999: "999", 8192: "8k", 1_048_576: "1.05M"} {
		if got := tokens(n); got != want {
			t.Errorf("tokens(%d) = %s, want %s", n, got, want)
		}
	}
}

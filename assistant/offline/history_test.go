package offline

import (
	"encoding/json"
	"strings"
	"testing"
)

// historyTools are those of the chat history.
var historyTools = map[string]string{
	"search_pairs": "query line limit", "get_pair": "id", "list_topics": "under", "list_sessions": "limit", "summarise_pairs": "ids line",
	"star_pairs": "ids line stars", "flag_pairs": "ids line flag", "set_topic": "ids line topic create",
}

// historySystem is what the history's window tells: lists where the model filter has objects.
func historySystem() map[string]any {
	return system(`{"window_type":"history","counts":{"pairs":3},"models":[{"model":"a/b","pairs":3}],"newest_pairs":[]}`)
}

func callsOf(t *testing.T, messages ...any) string {
	t.Helper()
	r := respond(request(t, append([]any{historySystem()}, messages...), historyTools))
	var out []string
	for _, c := range r.Calls {
		out = append(out, c.Name+c.Args)
	}
	return strings.Join(out, " ")
}

func TestHistoryRequests(t *testing.T) {
	for in, want := range map[string]string{
		"find kubernetes":                            `search_pairs{"query":"kubernetes"}`,
		`find "big goat" horns`:                      `search_pairs{"query":"\"big goat\" horns"}`,
		"what did we say about goats last week?":     `search_pairs{"line":"d<1w c'goats' !x"}`,
		"show me the starred pairs":                  `search_pairs{"line":"s>0"}`,
		"Please star 3, 5 and 7":                     `star_pairs{"ids":[3,5,7],"stars":1}`,
		"give three stars to what is about goats":    `star_pairs{"line":"c'goats' !x","stars":3}`,
		"give pairs 2-4 two stars":                   `star_pairs{"ids":[2,3,4],"stars":2}`,
		"star everything about goats with 2 stars":   `star_pairs{"line":"c'goats' !x","stars":2}`,
		"star the last 5 messages":                   `star_pairs{"line":"r6","stars":1}`,
		"remove the stars from 3":                    `star_pairs{"ids":[3],"stars":0}`,
		"unflag pair 3":                              `flag_pairs{"flag":false,"ids":[3]}`,
		"flag the failed ones":                       `flag_pairs{"flag":true,"line":"e"}`,
		"put what is about agents under AI > Agents": `set_topic{"create":true,"line":"c'agents' !x","topic":"AI > Agents"}`,
		`move 3 and 4 to "Work > Invoices"`:          `set_topic{"create":true,"ids":[3,4],"topic":"Work > Invoices"}`,
		"set the topic of 3 to Work":                 `set_topic{"create":true,"ids":[3],"topic":"Work"}`,
		"take 3 out of its topic":                    `set_topic{"ids":[3],"topic":""}`,
		"rename the topic AI > Agents to Helpers":    ``,
		"move the topic Agents under Old > AI":       ``,
		"summarise the last 3 messages":              `summarise_pairs{"line":"r4"}`,
		"sum up what is in topic Work":               `summarise_pairs{"line":"t'Work...'"}`,
		"list the topics":                            `list_topics{}`,
		"read 3":                                     `summarise_pairs{"ids":[3]}`,
		"show pair 3":                                `summarise_pairs{"ids":[3]}`,
		"unflag 1. flag 2; star 3, and find goats":   `flag_pairs{"flag":false,"ids":[1]} flag_pairs{"flag":true,"ids":[2]} star_pairs{"ids":[3],"stars":1} search_pairs{"query":"goats"}`,
		"hide gpt-4":                                 ``,
		"undo":                                       ``,
		"star":                                       ``,
		"":                                           ``,
		"star it":                                    ``,
		"star 3; do something":                       ``,
		"should I star 3?":                           ``,
		"star 3?":                                    ``,
		"find c'\\'":                                 `search_pairs{"query":"c'\\"}`,
		"star " + strings.Repeat("9", 40):            `star_pairs{"line":"c'` + strings.Repeat("9", 40) + `' !x","stars":1}`,
		"star what says don't *stop*":                `star_pairs{"line":"c'don\\'t' c'\\*stop\\*' !x","stars":1}`,
		"find goats and star them":                   `search_pairs{"query":"goats"}`,
		"rename the topic":                           ``,
		"put 3":                                      ``,
		"save line s>1":                              ``,
		"can you find what we said about retry yesterday": `search_pairs{"line":"d<2d !d<1d c'retry' !x"}`,
	} {
		got := callsOf(t, user(in))
		if got != strings.ReplaceAll(strings.ReplaceAll(want, "<", `\u003c`), ">", `\u003e`) {
			t.Errorf("%q calls %s\nwant %s", in, got, want)
		}
	}
}

// exchangeOf is a message, the calls made for it and their results, as a
// request repeats them.
func exchangeOf(text, name, args string, data map[string]any) []any {
	content, _ := json.Marshal(map[string]any{"success": true, "message": "done", "data": data})
	return []any{
		user(text),
		map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{
			"id": "c1", "type": "function", "function": map[string]any{"name": name, "arguments": args},
		}}},
		map[string]any{"role": "tool", "tool_call_id": "c1", "content": string(content)},
	}
}

func TestHistoryPronouns(t *testing.T) {
	found := exchangeOf("find goats", "search_pairs", `{"query":"goats"}`, map[string]any{"count": 2, "ids": []int{9, 4}, "pairs": []any{}})
	answered := map[string]any{"role": "assistant", "content": "Two."}
	for name, c := range map[string]struct {
		past []any
		say  string
		want string
	}{
		"those that were found": {append(found, answered), "star them", `star_pairs{"ids":[9,4],"stars":1}`},
		"in the same message":   {exchangeOf("find goats and star them", "search_pairs", `{"query":"goats"}`, map[string]any{"ids": []int{9}}), "", `star_pairs{"ids":[9],"stars":1}`},
	} {
		messages := c.past
		if c.say != "" {
			messages = append(messages, user(c.say))
		}
		if got := callsOf(t, messages...); got != strings.ReplaceAll(c.want, ">", `\u003e`) {
			t.Errorf("%s: calls %s\nwant %s", name, got, c.want)
		}
	}
	r := respond(request(t, append(append([]any{historySystem()}, found...), answered, user("undo")), historyTools))
	wants(t, r.Text, "cannot take marks back", "checkpoints")
}

// FuzzHistory: whatever is said, the same calls come out each time, numbers are
// numbers of pairs, and nothing loops.
func FuzzHistory(f *testing.F) {
	for _, seed := range []string{"", "star 1-999999999", "find line", "line ", "save line as as as", "put under", "give stars", "star them; undo; undo", "move topic > to >", "older than"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		messages := []any{historySystem(), user(text)}
		a, b := respond(request(t, messages, historyTools)), respond(request(t, messages, historyTools))
		if a.Text != b.Text || len(a.Calls) != len(b.Calls) {
			t.Fatalf("%q is answered in two ways", text)
		}
		for _, c := range a.Calls {
			var args struct{ IDs []int }
			if err := json.Unmarshal([]byte(c.Args), &args); err != nil || len(args.IDs) > maxPairNumbers {
				t.Fatalf("%q calls %s%s: %v", text, c.Name, c.Args, err)
			}
		}
	})
}

package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
)

// many is the number of entries of a list in the tests of pages: the last page is shorter than the others.
const many = 257

// paged is a list that is read page by page.
type paged struct {
	path  string
	field string // of the entries
	key   string // of an entry: its field that identifies it; "" for an answer
	add   func(n int)
	limit int
	// newest is set if the first page has the newest entries.
	newest bool
}

// read reads all pages and returns what identifies the entries, oldest first. between is called after each page.
func (l paged) read(r *rig, between func()) (keys []string, pages int) {
	r.t.Helper()
	for after := ""; ; pages++ {
		query := url.Values{"limit": {fmt.Sprint(l.limit)}}
		if after != "" {
			query.Set("after", after)
		}
		var page map[string]json.RawMessage
		r.get(&page, "GET", l.path+"?"+query.Encode(), "")
		var entries []map[string]any
		r.must(json.Unmarshal(page[l.field], &entries))
		if len(entries) == 0 || len(entries) > l.limit {
			r.t.Fatalf("%s: a page has %d entries", l.path, len(entries))
		}
		var here []string
		for _, e := range entries {
			here = append(here, fmt.Sprint(e[l.key]))
		}
		if l.newest {
			keys = append(here, keys...)
		} else {
			keys = append(keys, here...)
		}
		after = ""
		if raw := page["next"]; raw != nil {
			r.must(json.Unmarshal(raw, &after))
		}
		if after == "" {
			return keys, pages + 1
		}
		between()
	}
}

func TestPagesContainEachEntryOnceWhileOthersAreAdded(t *testing.T) {
	r := newRig(t, at.NewScript())
	anna, path := r.open("anna")
	ctx := t.Context()
	proposal := []assistant.Payload{{ID: "p", Type: "word_proposal", Data: json.RawMessage(`{"word":"cat"}`)}}
	var proposed []int64
	pair := func(variants ...assistant.Variant) int64 {
		p := &assistant.Pair{Session: anna, UserText: "hi", AssistantText: "0", State: assistant.PairComplete, Payloads: proposal, Variants: variants}
		r.must(r.store.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{p}}))
		return p.Seq
	}
	answered := pair()
	for name, l := range map[string]paged{
		"pairs": {path: path + "/pairs", field: "pairs", key: "seq", newest: true, add: func(int) {
			r.must(r.hub.Sessions()[0].Session().ShowPair(ctx, pair()))
		}},
		"proposals": {path: "/v1/proposals", field: "pairs", key: "seq", add: func(int) {
			proposed = append(proposed, pair())
			raw, err := json.Marshal(proposed)
			r.must(cmp.Or(err, r.store.Set(ctx, "open proposals:words", string(raw))))
		}},
		"answers": {path: fmt.Sprint(path, "/pairs/", answered, "/answers"), field: "answers", key: "assistant_text", add: func(n int) {
			v := &assistant.Variant{ID: fmt.Sprint("v", n), AssistantText: safetext.Text(fmt.Sprint(n + 1)), State: assistant.PairComplete}
			r.must(r.store.Commit(ctx, &assistant.Batch{Answers: []assistant.PairAnswer{{Seq: answered, ID: v.ID, Add: v}}}))
		}},
		"sessions": {path: "/v1/sessions", field: "sessions", key: "id", add: func(n int) {
			s, err := r.hub.Open(ctx, serve.Join{User: fmt.Sprint("user", n), Role: assistant.RoleRead, Window: r.hub.Place()})
			r.must(err)
			t.Cleanup(func() { _ = s.Close(t.Context()) })
		}},
		"tokens": {path: "/v1/tokens", field: "tokens", key: "name", add: func(n int) { r.token(fmt.Sprint("token", n), assistant.RoleRead) }},
		"checkpoints": {path: path + "/checkpoints", field: "checkpoints", key: "id", newest: true, add: func(n int) {
			r.get(nil, "POST", "/v1/window/edit", `{"session":"`+anna+`","tool":"add_word","arguments":{"word":"w`+fmt.Sprint(n)+`"}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l.limit = 1000
			n := 0
			add := func() { l.add(n); n++ }
			add()
			before, _ := l.read(r, nil)
			for len(before)+n-1 < many {
				add()
			}
			want, pages := l.read(r, nil)
			if len(want) != many || pages != 1 {
				t.Fatalf("%d entries on %d pages", len(want), pages)
			}
			slices.Sort(want)
			if len(slices.Compact(want)) != many {
				t.Fatal("the entries are not unique")
			}
			l.limit = 50
			got, pages := l.read(r, func() {
				if n < many+20 {
					add()
				}
			})
			slices.Sort(got)
			if l.newest && !slices.Equal(got, want) { // what is added is newer than the first page
				t.Errorf("%d entries, want the %d at the start", len(got), many)
			}
			added := len(got) - len(want)
			if got := slices.DeleteFunc(got, func(k string) bool { return !slices.Contains(want, k) }); !slices.Equal(got, want) {
				t.Errorf("the pages have %d of the %d entries", len(got), many)
			}
			if wantPages := 6; pages != wantPages || added < 0 || added > pages {
				t.Errorf("%d pages, want %d; %d entries more", pages, wantPages, added)
			}
		})
	}
	r.problem(422, "invalid", "GET", "/v1/tokens?after=x", "")
	r.problem(422, "invalid", "GET", "/v1/tokens?after="+cursor(7), "")
	r.problem(422, "invalid", "GET", path+"/pairs?after="+cursor("anna"), "")
	r.problem(422, "invalid", "GET", path+"/checkpoints?limit=0", "")
}

func TestAPageBeginsAfterAnEntryThatWasRemoved(t *testing.T) {
	key := func(n int) int { return n }
	all := []int{1, 2, 3, 4, 5, 6, 7}
	for name, c := range map[string]struct {
		newest bool
		want   []int
	}{"oldest first": {false, []int{1, 2, 5, 6, 7}}, "newest first": {true, []int{6, 7, 4, 5, 2, 3, 1}}} {
		page, end, err := pageOf(all, Paging{Limit: 2}, c.newest, key)
		got := page
		left := all
		if !c.newest {
			left = []int{5, 6, 7} // 2, which ended the page, was removed, and so were its neighbours
		}
		for err == nil && end.Next != "" {
			page, end, err = pageOf(left, Paging{Limit: 2, After: end.Next}, c.newest, key)
			got = append(got, page...)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	if page, end, err := pageOf([]int{}, Paging{Limit: 2}, true, key); page == nil || len(page) > 0 || end.Next != "" || err != nil {
		t.Errorf("an empty list: %v, %v, %v", page, end, err)
	}
}

func TestTheIndexesOfAnswersGoOnOverPages(t *testing.T) {
	r := newRig(t, at.NewScript())
	anna, path := r.open("anna")
	p := &assistant.Pair{Session: anna, UserText: "hi", AssistantText: "0", State: assistant.PairComplete, Chosen: 2, Variants: []assistant.Variant{{ID: "a"}, {ID: "b"}}}
	r.must(r.store.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	var one, two answerList
	list := fmt.Sprint(path, "/pairs/", p.Seq, "/answers?limit=2")
	r.get(&one, "GET", list, "")
	r.get(&two, "GET", list+"&after="+one.Next, "")
	if one.First != 0 || two.First != 2 || len(two.Answers) != 1 || two.Answers[0].AssistantText != "0" || one.Chosen != 2 {
		t.Errorf("the pages: %+v, %+v", one, two)
	}
}

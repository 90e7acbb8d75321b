package api

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"
)

// pagesText describes pages in the OpenAPI document.
const pagesText = "Lists are returned in pages of at most `limit` entries. If there are more, the response contains `next`; repeat the request with this value in the parameter `after`. " +
	"Each entry is returned once, even if other entries are added or removed in the meantime. A plan and an exported window are never divided into pages. " +
	"A stream of events can be continued with Last-Event-ID."

// Paging contains the query parameters of a list. It is exported because huma reads only exported fields.
type Paging struct {
	Limit int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"the maximum number of entries in the page"`
	After string `query:"after" maxLength:"1024" doc:"the value of next in the previous page; absent for the first page"`
}

// PageEnd is the part of a response that leads to the next page of a list. It is exported because huma reads only
// exported fields.
type PageEnd struct {
	Next string `json:"next,omitempty" doc:"the value of after for the next page; absent on the last page"`
}

// pageOf returns a page of a list. key returns the key of an entry; a key is unique and never changes, and the entries
// are sorted by it. A page begins after the key of the entry that ended the previous page, not at an offset, so that no
// entry is returned twice or omitted because other entries are added or removed. If newest is set, the first page
// contains the last entries of the list.
func pageOf[E any, K cmp.Ordered](all []E, in Paging, newest bool, key func(E) K) (page []E, end PageEnd, err error) {
	from, to := 0, len(all)
	if in.After != "" {
		after, err := cursorOf[K](in.After)
		if err != nil {
			return nil, PageEnd{}, err
		}
		at, found := slices.BinarySearchFunc(all, after, func(e E, k K) int { return cmp.Compare(key(e), k) })
		switch {
		case newest:
			to = at
		case found:
			from = at + 1
		default:
			from = at
		}
	}
	first, last := from, to
	if newest {
		first = max(from, to-in.Limit)
	} else {
		last = min(to, from+in.Limit)
	}
	page = append([]E{}, all[first:last]...)
	switch {
	case first > from:
		end.Next = cursor(key(all[first]))
	case last < to:
		end.Next = cursor(key(all[last-1]))
	}
	return page, end, nil
}

// cursor encodes a key as the text that represents it in requests.
func cursor(key any) string {
	raw, _ := json.Marshal(key) // never fails for a string or a number
	return base64.RawURLEncoding.EncodeToString(raw)
}

// cursorOf decodes a cursor into its key.
func cursorOf[K any](text string) (key K, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &key)
	}
	if err != nil {
		p := newProblem("invalid", "query.after: expected the value of next in a page of this list")
		p.Errors = []fieldError{{"query.after", "expected the value of next in a page of this list"}}
		return key, p
	}
	return key, nil
}

// byTime returns a key that sorts first by time and then by a name, which makes the key unique.
func byTime(t time.Time, name string) string {
	return t.UTC().Format("2006-01-02T15:04:05.000000000") + " " + name
}

// sorted sorts a list by its keys for pageOf.
func sorted[E any, K cmp.Ordered](all []E, key func(E) K) []E {
	slices.SortFunc(all, func(a, b E) int { return cmp.Compare(key(a), key(b)) })
	return all
}

package transfer

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
)

// copyAll copies and wants a report.
func copyAll(t *testing.T, from, to history.Store, want CopyReport) {
	t.Helper()
	last := -1
	got, err := Copy(t.Context(), from, to, func(done, total int) {
		if last = done; total != want.Pairs {
			t.Errorf("progress says %d of %d pairs", done, total)
		}
	})
	if last != want.Pairs {
		t.Errorf("the last progress is %d of %d pairs", last, want.Pairs)
	}
	if err != nil || got != want {
		t.Errorf("Copy = %+v, %v; want %+v", got, err, want)
	}
}

// A copy has the pairs, and what is beside them. What the target had stays, and a copy
// that is repeated adds nothing.
func TestCopy(t *testing.T) {
	ctx, from, to := t.Context(), newStore(t), newStore(t)
	must := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	first := full()
	put(t, from, first, pair("s2", "other", "answer"))
	must(from.CreateTopic(ctx, "Empty"), from.SaveFilter(ctx, "mine", "s3"), from.SaveFilter(ctx, "both", "s1"), to.SaveFilter(ctx, "both", "s2"),
		from.Touch(ctx, history.Session{ID: "s1", Folder: "/one", Model: "openai/gpt-5.1", Used: time.UnixMilli(1800000000000)}), from.Touch(ctx, history.Session{ID: "s2", Folder: "/two"}),
		from.Touch(ctx, history.Session{ID: "s3", Folder: "/two"}), from.SetTitle(ctx, "s1", "named"))
	put(t, to, pair("s9", "of the target", ""))

	copyAll(t, from, to, CopyReport{Pairs: 2, Added: 2})
	copyAll(t, from, to, CopyReport{Pairs: 2, Known: 2})
	for session, want := range map[string]int{"s1": 1, "s2": 1, "s9": 1} {
		if got := seqs(t, to, session); len(got) != want {
			t.Errorf("%s has %d pairs, want %d", session, len(got), want)
		}
	}
	got, err := to.Load(ctx, seqs(t, to, "s1"))
	must(err)
	if len(got) != 1 || hashOf(got[0]) != hashOf(*first) {
		t.Errorf("the copy is %+v", got)
	}
	topics, err := to.TopicPaths(ctx)
	must(err)
	if !slices.Contains(topics, "Empty") || !slices.Contains(topics, "AI > Agents") {
		t.Errorf("the topics are %q", topics)
	}
	filters, err := to.SavedFilters(ctx)
	must(err)
	if filters["mine"] != "s3" || filters["both"] != "s2" {
		t.Errorf("the saved filters are %q", filters)
	}
	if s, found, err := to.Session(ctx, "s1"); err != nil || !found || s.Folder != "/one" || s.Model != "openai/gpt-5.1" {
		t.Errorf("session s1 is %+v, %v, %v", s, found, err)
	}
	sessions, err := from.Sessions(ctx)
	must(err)
	for _, v := range sessions {
		if s, _, err := to.Session(ctx, v.ID); err != nil || !s.Used.Equal(v.Used) {
			t.Errorf("session %s was used at %v, %v; want %v", v.ID, s.Used, err, v.Used)
		}
	}
	if s, found, err := to.LastSession(ctx, "/two"); err != nil || !found || s.ID != "s3" {
		t.Errorf("the last session of /two is %+v, %v, %v; want s3", s, found, err)
	}

	star := first.Star + 1
	_, err = from.Mark(ctx, []int64{first.Seq}, history.Mark{Star: &star})
	must(err)
	copyAll(t, from, to, CopyReport{Pairs: 2, Known: 2, Different: 1})
	commit(t, to, &assistant.Batch{Cut: &assistant.Cut{Name: "x", Sessions: []string{"s2"}}})
	if got, err := Copy(ctx, from, to, func(int, int) {}); err == nil {
		t.Errorf("Copy = %+v although a pair cannot be seen in the target", got)
	}
}

// Pictures travel with their pairs: in an export as JSON, and from store to store. The
// formats for people name them.
func TestPicturesTravel(t *testing.T) {
	s := newStore(t)
	picture := historytest.Picture(t, "a.png", 8)
	for _, p := range []*assistant.Pair{pair("s", "see @a.png", "one"), pair("s", "again @a.png", "two")} {
		p.Attachments = []assistant.Attachment{picture}
		put(t, s, p)
	}
	exported := export(t, s, JSON)
	imported, copied := newStore(t), newStore(t)
	if report, err := Import(t.Context(), imported, strings.NewReader(exported), nil); err != nil || report.Added != 2 {
		t.Fatalf("Import = %+v, %v", report, err)
	}
	copyAll(t, s, copied, CopyReport{Pairs: 2, Added: 2})
	copyAll(t, s, copied, CopyReport{Pairs: 2, Known: 2})
	for name, to := range map[string]history.Store{"import": imported, "copy": copied} {
		if data, err := to.Picture(t.Context(), picture.Hash); err != nil || !bytes.Equal(data, picture.Data) {
			t.Errorf("after the %s the picture has %d bytes, %v", name, len(data), err)
		}
		if export(t, to, JSON) != exported {
			t.Errorf("the export after the %s differs", name)
		}
	}
	for _, f := range []Format{Markdown, Text, HTML} {
		if text := export(t, s, f); !strings.Contains(text, "a.png · PNG · 8×8 · ") {
			t.Errorf("%s does not name the picture:\n%s", f, text)
		}
	}
	wrong := strings.Replace(exported, picture.Hash, strings.Repeat("0", len(picture.Hash)), 1)
	if _, err := Import(t.Context(), newStore(t), strings.NewReader(wrong), nil); err == nil {
		t.Error("a picture with the hash of another was imported")
	}
}

package overlay

import (
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/style"
)

func TestEntries(t *testing.T) {
	used := time.Date(2026, 3, 4, 12, 0, 0, 0, time.Local)
	all := []history.Session{
		{ID: "1", Folder: "/a", Title: "first", Used: used, Pairs: 1},
		{ID: "2", Title: "", Used: used, Pairs: 2},
		{ID: "3", Folder: "/a", Title: strings.Repeat("long\x1b ", 50), Used: used, Branch: assistant.Branch{Parent: "1"}},
	}
	icons := style.New(style.Options{Unicode: true}).Icons
	got := SessionEntries(all, "3", 40, icons)
	order := ""
	for _, e := range got {
		order += e.Value
	}
	switch {
	case order != "132" || got[0].Group != "/a" || got[2].Group != "no folder":
		t.Errorf("the order is %s, the groups are not by folder: %+v", order, got)
	case got[0].Extra != "2026-03-04 12:00 · 1 message" || got[0].Short != "2026-03-04" || got[2].Text != "(no text)":
		t.Errorf("%+v", got)
	case got[1].Mark != icons.Marked || got[0].Mark != "" || strings.Contains(got[1].Text, "\x1b") || len([]rune(got[1].Text)) > minTitle:
		t.Errorf("%+v", got[1])
	case !strings.HasSuffix(got[1].Text, " (branch)") || strings.Contains(got[0].Text, "branch"):
		t.Errorf("the branch is not told from its parent: %q", got[1].Text)
	}
}

package style

import (
	"slices"
	"testing"
)

func TestLayColumns(t *testing.T) {
	items := Columns("  gpt-5", "  gpt-5-mini", "  日本", "  o3")
	for w, want := range map[int][]string{
		100: {"  gpt-5       " + "  gpt-5-mini  " + "  日本        " + "  o3"},
		28:  {"  gpt-5       " + "  gpt-5-mini", "  日本        " + "  o3"},
		12:  {"  gpt-5", "  gpt-5-mini", "  日本", "  o3"},
		8:   {"  gpt-5", "  gpt-5-mini", "  日本", "  o3"},
	} {
		if got, ok := LayColumns(items, w); !ok || !slices.Equal(got, want) {
			t.Errorf("%d cells: %q, want %q", w, got, want)
		}
	}
	if _, ok := LayColumns("a line", 80); ok {
		t.Error("a line without items is laid out in columns")
	}
}

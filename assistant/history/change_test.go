package history

import (
	"testing"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

func TestDeletedPairsOfTheViewAreNamed(t *testing.T) {
	deleted := map[int64]string{1: "anna", 2: "bob", 3: "anna", 9: "carl"}
	view := []assistant.Ref{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 4}}
	if got, want := (Change{Deleted: deleted}).DeletionsIn(view), safetext.Text("anna deleted 2 messages · bob deleted 1 message"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (Change{Deleted: deleted}).DeletionsIn(nil); got != "" {
		t.Errorf("of an empty view: %q", got)
	}
}

package workspace_test

import (
	"testing"

	"winnow/assistant"
	"winnow/assistant/workspace"
)

func TestDeleteAsksUnlessThePairFailed(t *testing.T) {
	r := newRig(t, say("ok"), fail())
	good, _ := r.send(assistant.Prompt{Text: "good"})
	failed, _ := r.send(assistant.Prompt{Text: "bad"})
	ask, err := r.Delete(r.ctx, []int64{good}, nil)
	r.must(err)
	if ask == nil || ask.Kind != workspace.ConfirmDelete || ask.Text != "good" || ask.Pairs != 1 || ask.Changed {
		t.Fatalf("Delete = %+v, want to be confirmed", ask)
	}
	confirm, err := r.Delete(r.ctx, []int64{failed}, nil)
	r.must(err)
	if confirm != nil {
		t.Errorf("deleting a failed pair asks: %+v", confirm)
	}
	_, err = r.Delete(r.ctx, []int64{good}, ask)
	r.must(err)
	want(t, "pairs", len(r.session.Visible()), 0)
}

func TestDeleteAsksAgainAboutAPairThatHasChanged(t *testing.T) {
	r := newRig(t, say("one"), say("two"))
	seq, _ := r.send(assistant.Prompt{Text: "good"})
	ask, err := r.Delete(r.ctx, []int64{seq}, nil)
	r.must(err)
	r.must(r.SetStars(r.ctx, seq, 2)) // is not lost unseen: marks are not what is asked about
	r.send(assistant.Prompt{Text: "good", Regenerate: seq})
	again, err := r.Delete(r.ctx, []int64{seq}, ask)
	r.must(err)
	if again == nil || !again.Changed || len(r.session.Visible()) != 1 {
		t.Fatalf("a pair with another answer is deleted: %+v", again)
	}
	again, err = r.Delete(r.ctx, []int64{seq}, again)
	r.must(err)
	if again != nil || len(r.session.Visible()) != 0 {
		t.Errorf("Delete asks a third time: %+v", again)
	}
}

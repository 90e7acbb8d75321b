package composer

import (
	"testing"

	"winnow/tui/overlay"
)

func entries(values ...string) (all []overlay.Entry) {
	for _, v := range values {
		all = append(all, overlay.Entry{Value: v})
	}
	return all
}

func TestEntriesOfAnEarlierTextStayUntilTheNewAreRead(t *testing.T) {
	var l Completions
	if !l.Typed("@a", "") || !l.Reading("@a") || l.Open("@a") {
		t.Fatal("the first text is not read")
	}
	l.Show("@a", entries("@ab", "@ac"), 0)
	if !l.Open("@a") || l.Typed("@a", "") {
		t.Error("the list of a text that was read is not open, or is read again")
	}
	if !l.Typed("@ac", "") || !l.Open("@ac") || !l.Reading("@ac") {
		t.Error("the earlier entries do not stay")
	}
	if l.Show("@a", entries("late"), 0); l.Entries[0].Value != "@ab" {
		t.Error("entries of an earlier text are shown late")
	}
	if l.Typed("@ac/", "ac/"); l.Open("@ac/") {
		t.Error("the entries of another folder stay")
	}
	if l.Typed("", ""); l.Open("") || l.Reading("") {
		t.Error("the list is open for no text")
	}
}

func TestAClosedListStaysClosedForItsStem(t *testing.T) {
	var l Completions
	l.Typed("/mo", "/")
	l.Show("/mo", entries("/model"), 0)
	l.Close()
	if l.Typed("/mod", "/") || l.Open("/mod") || l.Reading("/mod") {
		t.Error("it opens again for the same word")
	}
	if l.Show("/mod", entries("/model"), 0); l.Open("/mod") {
		t.Error("it is shown although it was closed")
	}
	if !l.Typed("/model g", "/model ") {
		t.Error("it stays closed for another word")
	}
}

func TestTakingAnEntry(t *testing.T) {
	var l Completions
	l.Typed("x", "")
	l.AcceptFirst()
	if !l.Show("x", entries("x1", "x2", "x3"), -1) {
		t.Error("the entry that was asked for early is not taken")
	}
	l.Move(-1)
	if l.At != 0 {
		t.Errorf("the selection is at %d", l.At)
	}
	l.Move(5)
	if got := l.Accept(); got != "x3" || l.Open("x") {
		t.Errorf("took %q", got)
	}
	l.Typed("x", "")
	l.Show("x", entries("x1"), -1)
	if got := l.Accept(); got != "x1" {
		t.Errorf("without a selection it takes %q", got)
	}
}

package assistant_test

import (
	"testing"

	"winnow/assistant"
	"winnow/assistant/llm"
)

func TestRefreshOfALineThatIsNotTheViewsAnyMore(t *testing.T) {
	s, err := assistant.NewSession(&llm.Registry{}, assistant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.SetView([]assistant.Ref{{Seq: 1}, {Seq: 2}}, "s2")
	s.RefreshView([]assistant.Ref{{Seq: 3}}, "s0")
	if len(s.Visible()) != 2 {
		t.Errorf("a line of before made the view %v", s.Visible())
	}
	s.RefreshView([]assistant.Ref{{Seq: 1}}, "s2")
	if len(s.Visible()) != 1 || s.Boundary().Y != 1 {
		t.Errorf("the view is %v", s.Visible())
	}
	s.ReplaceFilterLine("s>1")
	if s.Filter() != "s>1" || len(s.Visible()) != 1 {
		t.Errorf("in other words the view is %q, %v", s.Filter(), s.Visible())
	}
}

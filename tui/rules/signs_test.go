package rules

import (
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// Every sign that a frame of the pane shows is in the legend, and none has a line that
// says the same as another's.
func TestTheLegendHasEverySign(t *testing.T) {
	known, means := map[string]bool{}, map[string]bool{}
	b := open(t, someEnv, someModels)
	for _, s := range b.Legend() {
		if means[s.Means] || s.Icon == "" || s.Means == "" {
			t.Errorf("the legend has %q: %q", s.Icon, s.Means)
		}
		means[s.Means] = true
		for _, icon := range s.Icon {
			known[string(icon)] = true
		}
	}
	drawn := map[string]bool{} // icons that this test has seen
	look := func(what string, b *bench) {
		t.Helper()
		for y, line := range strings.Split(ansi.Strip(b.screen(78, 30)), "\n") {
			for _, icon := range iconsOf(&b.st.Icons) {
				if !strings.Contains(line, icon) {
					continue
				}
				if drawn[icon] = true; !known[icon] {
					t.Errorf("%s: line %d shows %q, which the legend lacks: %s", what, y, icon, line)
				}
			}
		}
	}
	look("rules", b)
	b.do("delete-rule", "add-ignore")
	b.keys("*mini*<enter>")
	look("unsaved rules", b)
	b.do("next-tab")
	look("models", b)
	b.do("pane-select", "pane-highlight")
	look("selected and highlighted models", b)
	b.do("show-changes")
	look("changes", b)
	b.do("next-tab")
	look("providers", b)
	locked := open(t, someEnv, someModels)
	locked.w.Lock()
	locked.show()
	look("locked rules", locked)
	for _, icon := range []string{"▌", "●", "+", "-", "▒", "Ø", "✓", "•", "!", "■", "↑", "█", "░"} {
		if !drawn[icon] {
			t.Errorf("no frame shows %q: the test looks at too little", icon)
		}
	}
}

// iconsOf returns the icons of a set, without those that every part of the screen has: the
// cursor, lines and dots.
func iconsOf(set *style.Icons) (icons []string) {
	everywhere := []string{set.Selected, set.Ellipsis, set.Line, set.Hidden, set.Column}
	v := reflect.ValueOf(*set)
	for i := range v.NumField() {
		if icon := v.Field(i).String(); v.Field(i).Kind() == reflect.String && !strings.Contains(strings.Join(everywhere, ""), icon) {
			icons = append(icons, icon)
		}
	}
	return append(icons, set.RuleIcons...)
}

// The foot says in words what the sign of the row under the cursor means.
func TestTheFootSaysWhatTheSignMeans(t *testing.T) {
	b := open(t, someEnv, someModels)
	foot := func() string { return strings.Join(strings.Fields(ansi.Strip(b.screen(78, 30))), " ") }
	says := func(row, text string) {
		t.Helper()
		b.on(row)
		if got := foot(); !strings.Contains(got, text) {
			t.Errorf("at %s the foot does not say %q: %s", row, text, got)
		}
	}
	says("gpt-9*", "matches no known model")
	says("*audio*", "1 match, 0 hidden by this rule")
	b.on("*-preview*")
	b.do("pane-highlight")
	says("gpt-4-1106-preview", "gpt-4-1106-preview: decided by the highlighted rule *-preview*")
	b.do("pane-highlight")
	b.do("show-rules")
	b.on("gpt-3.5*")
	b.do("delete-rule")
	says("gpt-3.5*", "ignore gpt-3.5*: deleted, not saved yet")
	b.do("show-models")
	says("gpt-3.5-turbo", "shown: no rule matches")
	says("gpt-4-1106-preview", "hidden by ignore *-preview*")
	says("gpt-4o-audio-preview", "allowed by gpt-4o-audio-preview")
}

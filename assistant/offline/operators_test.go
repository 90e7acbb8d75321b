package offline

import (
	"os"
	"strings"
	"testing"
)

// TestOperatorsDays says the sentences of testdata/sentences.txt: at least 80 do what was
// meant or propose it, none does something else, and none changes what nobody asked for.
func TestOperatorsDays(t *testing.T) {
	text, err := os.ReadFile("testdata/sentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]int{}
	var c *chat
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" {
			c = nil
		}
		part := strings.SplitN(line, "|", 3)
		if strings.HasPrefix(line, "#") || len(part) < 3 {
			continue
		}
		verdict, want, said := strings.TrimSpace(part[0]), strings.TrimSpace(part[1]), strings.TrimSpace(part[2])
		if c == nil {
			w := newFakeWindow()
			w.unsaved = true
			c = newChat(t, w)
		}
		before := c.w.rules()
		answer := c.say(said)
		verdicts["all"]++
		if !does(c, want, answer) {
			if verdict = "wrong"; c.w.rules() != before || strings.Contains(c.did(), "save") {
				verdict = "harmful"
			}
			t.Errorf("%q does %q, want %q:\n%s", said, c.did(), want, answer)
		}
		if verdicts[verdict]++; strings.Count(answer, `"label"`) > maxProposals || strings.Contains(answer, "I'll ") || strings.Contains(answer, "I understood") {
			t.Errorf("%q is answered\n%s", said, answer)
		}
	}
	if verdicts["all"] < 120 || verdicts["good"]+verdicts["proposal"] < 80 || verdicts["wrong"]+verdicts["harmful"] > 0 {
		t.Errorf("verdicts: %v", verdicts)
	}
	t.Logf("verdicts: %v", verdicts)
}

// does reports whether the last answer does what is wanted.
func does(c *chat, want, answer string) bool {
	changed, value := c.did(), ""
	want, value, _ = strings.Cut(want, " ")
	proposes := strings.Contains(answer, "RULE_PROPOSAL: {")
	switch want {
	case "ask":
		return changed == "" && proposes
	case "offer":
		return changed == "" && !proposes && strings.Contains(answer, "- `"+value+"`") && strings.Contains(answer, `"value":"`+strings.NewReplacer(">", `\u003e`, "<", `\u003c`).Replace(value))
	case "says":
		return changed == "" && !proposes && strings.Contains(answer, value)
	case "unhide": // some rules change
		return strings.Contains(changed, "ignore(") || strings.Contains(changed, "allow(")
	}
	return changed == strings.TrimSpace(want+" "+value)
}

package dotenv

import (
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
)

func TestDiff(t *testing.T) {
	for name, test := range map[string]struct{ before, after, want string }{
		"same":        {"IGNORE_MODELS_X=a\n", "IGNORE_MODELS_X=a\n", "[]"},
		"changed":     {"IGNORE_MODELS_X=a # c\nB=2\n", "B=4\nIGNORE_MODELS_X=a,b # c\n", "[-IGNORE_MODELS_X=a # c +IGNORE_MODELS_X=a,b # c]"},
		"added":       {"A=1", "A=1\nIGNORE_MODELS_X='b'", "[+IGNORE_MODELS_X='b']"},
		"removed":     {"WHITELIST_MODELS_X=a\nIGNORE_MODELS_X=b\n", "IGNORE_MODELS_X=b\n", "[-WHITELIST_MODELS_X=a]"},
		"duplicate":   {"IGNORE_MODELS_X=a\nIGNORE_MODELS_X=b\n", "IGNORE_MODELS_X=a\nIGNORE_MODELS_X=c\n", "[-IGNORE_MODELS_X=a -IGNORE_MODELS_X=b +IGNORE_MODELS_X=a +IGNORE_MODELS_X=c]"},
		"bidi":        {"", "IGNORE_MODELS_X=\u202ex\u200b\n", "[+IGNORE_MODELS_X=‹U+202E›x‹U+200B›]"},
		"other lines": {"OPENAI_API_KEY=hunter2\n", "OPENAI_API_KEY=hunter3\n# hunter4\n", "[]"},
		"comment":     {"", "IGNORE_MODELS_X=a # MY_TOKEN=hunter2\n", "[+IGNORE_MODELS_X=••••]"},
		"known token": {"", "IGNORE_MODELS_X=sk-hunter2hunter2hunter\n", "[+IGNORE_MODELS_X=••••]"},
		"swallowed":   {"", "IGNORE_MODELS_X='a\nMY_API_KEY=hunter2\nB=hunter3'\n", "[+IGNORE_MODELS_X=••••]"},
		"rule named key": {
			"", "IGNORE_MODELS_KEY=a\n", "[+IGNORE_MODELS_KEY=a]",
		},
	} {
		got := patch(Diff(Parse([]byte(test.before)), Parse([]byte(test.after))))
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if strings.Contains(got, "hunter") {
			t.Errorf("%s shows a secret", name)
		}
	}
}

// patch writes the lines of a difference as a patch does.
func patch(lines []assistant.FileLine) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Kind+string(l.Text))
	}
	return fmt.Sprint(all)
}

func TestDiffNumbersLines(t *testing.T) {
	got := Diff(Parse([]byte("A=1\nIGNORE_MODELS_X=a\n")), Parse([]byte("A=1\n\n# c\nIGNORE_MODELS_X=b\n")))
	if len(got) != 2 || got[0].Line != 2 || got[1].Line != 4 {
		t.Errorf("lines %+v, want 2 and 4", got)
	}
}

func TestChanges(t *testing.T) {
	got := fmt.Sprint(Changes(Parse([]byte("A=1\nB=2\nC=3\nD\n")), Parse([]byte("B=2\nC='4'\nE=5\n\n"))))
	if want := "[removed A changed C added E]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLooksSecret(t *testing.T) {
	for key, want := range map[string]bool{
		"OPENAI_API_KEY": true, "MY_TOKEN": true, "DB_PASSWORD": true, "MONKEY": false, "PROXY_PORT": false, "IGNORE_MODELS_KEY": false,
	} {
		if got := LooksSecret(key); got != want {
			t.Errorf("LooksSecret(%s) = %v, want %v", key, got, want)
		}
	}
}

package dotenv

import (
	"fmt"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	for name, test := range map[string]struct{ before, after, want string }{
		"same":        {"A=1\n", "A=1\n", "[]"},
		"changed":     {"A=1\nB=2\nC=3\n", "A=1\nB=4\nC=3\n", "[-B=2 +B=4]"},
		"added":       {"A=1", "A=1\nB=2", "[+B=2]"},
		"moved":       {"A=1\nB=2\n", "B=2\nA=1\n", "[-A=1 +A=1]"},
		"line ends":   {"A=1\r\n", "A=1\n", `[-A=1\r\n +A=1\n]`},
		"final line":  {"A=1", "A=1\n", `[-A=1 +A=1\n]`},
		"bidi":        {"", "A=\u202ex\u200b\U000e0041\x1b[2J\ufe0f\n", `[+A=\u{202e}x\u{200b}\u{e0041}\u{1b}[2J\u{fe0f}]`},
		"not UTF-8":   {"", "A=\xff\n", `[+A=\xff]`},
		"secret":      {"OPENAI_API_KEY=hunter2 # mine\n", "OPENAI_API_KEY='hunter3' # mine\n", "[-OPENAI_API_KEY=•••• # mine +OPENAI_API_KEY='••••' # mine]"},
		"many lines":  {"", "MY_TOKEN=\"hunter\n2\"\nA=1\n", "[+MY_TOKEN=\"•••• +••••\" +A=1]"},
		"address":     {"", "DB=postgres://u:hunter2@h/d\n", "[+DB=••••]"},
		"known token": {"", "X=sk-hunter2hunter2hunter\n", "[+X=••••]"},
		"commented":   {"", "# OPENAI_API_KEY=hunter2\n", "[+# OPENAI_API_KEY=••••]"},
		"broken":      {"", "B_PASSWORD='hunter2\nA=1\n", "[+B_PASSWORD=•••• +A=1]"},
		"rules":       {"", "IGNORE_MODELS_KEY=a\nMONKEY=b\nPROXY_PORT=1\n", "[+IGNORE_MODELS_KEY=a +MONKEY=b +PROXY_PORT=1]"},
	} {
		got := fmt.Sprint(Diff([]byte(test.before), []byte(test.after)))
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if strings.Contains(got, "hunter") {
			t.Errorf("%s shows a secret", name)
		}
	}
}

func TestDiffNumbersLines(t *testing.T) {
	got := Diff([]byte("A=1\nB=2\nC=3\nD=4\n"), []byte("A=1\nC=3\nE=5\nD=6\n"))
	want := []DiffLine{{Removed, 2, "B=2"}, {Removed, 4, "D=4"}, {Added, 3, "E=5"}, {Added, 4, "D=6"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for i := range got {
		if i < len(want) && got[i].Line != want[i].Line {
			t.Errorf("%v is line %d, want %d", got[i], got[i].Line, want[i].Line)
		}
	}
}

func TestDiffOfManyLines(t *testing.T) {
	var before, after strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&before, "A%d=1\n", i)
		fmt.Fprintf(&after, "B%d=1\n", i)
	}
	if got := Diff([]byte(before.String()), []byte(after.String())); len(got) != 10000 {
		t.Errorf("%d lines differ, want 10000", len(got))
	}
}

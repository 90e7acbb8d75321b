package dotenv

import (
	"fmt"
	"testing"
)

func TestMerge(t *testing.T) {
	edits := []Edit{Set("A", "ours"), Set("B", "ours"), Unset("C"), Set("N", "new")}
	for name, test := range map[string]struct{ theirs, want, conflicts string }{
		"nothing":        {"A=1\nB=2\nC=3\n", "A=ours\nB=ours\nN='new'\n", "[]"},
		"another key":    {"# hi\nA=1\nD=4\nB=2\nC=3\n", "# hi\nA=ours\nD=4\nB=ours\nN='new'\n", "[]"},
		"same key":       {"A=theirs\nB=2\nC=3\n", "A=ours\nB=ours\nN='new'\n", "[both changed A]"},
		"same value":     {"A=ours\nB=2\n", "A=ours\nB=ours\nN='new'\n", "[]"},
		"removed, added": {"A=1\nC=3\nN=0\n", "A=ours\nN=new\nB='ours'\n", "[both changed B both changed N]"},
		"both, unset":    {"A=1\nB=2\nC=4\n", "A=ours\nB=ours\nN='new'\n", "[both changed C]"},
	} {
		got, conflicts, err := Merge(Parse([]byte("A=1\nB=2\nC=3\n")), Parse([]byte(test.theirs)), edits)
		if err != nil || string(got.Bytes()) != test.want || fmt.Sprint(conflicts) != test.conflicts {
			t.Errorf("%s: %q, %v, %v; want %q, %s", name, got.Bytes(), conflicts, err, test.want, test.conflicts)
		}
	}
}

func TestChanges(t *testing.T) {
	got := fmt.Sprint(Changes(Parse([]byte("A=1\nB=2\nC=3\nD\n")), Parse([]byte("B=2\nC='4'\nE=5\n\n"))))
	if want := "[removed A changed C added E]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

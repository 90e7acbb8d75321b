package composer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/history/historytest"
)

// writeFile makes files in a new folder and goes there.
func writeFile(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAWordWithADotOrASlashIsAFile(t *testing.T) {
	got := MentionSource{}.Files("see @a.txt, @dir/b and ask @someone or mail x@y.z; @./c! @.. @")
	if want := []string{"a.txt", "dir/b", "./c"}; !slices.Equal(got, want) {
		t.Errorf("the message names %q, want %q", got, want)
	}
}

func TestFilesGoWithTheMessage(t *testing.T) {
	writeFile(t, map[string]string{"a.txt": "the text\n", "big": strings.Repeat("x", MaxAttachment+1), "bin": "a\x00b", "dir/b": "other"})
	p, err := Attach(assistant.Prompt{Text: "see @a.txt"}, []string{"a.txt"})
	if err != nil || p.Text != "see @a.txt\n\na.txt:\n```\nthe text\n```" || len(p.Attachments) != 1 || p.Attachments[0].Size != 9 {
		t.Errorf("the prompt is %+v, %v", p, err)
	}
	for name, why := range map[string]string{"big": "larger than 256 KiB", "bin": "is neither text", "dir": "is not a file", "none": "@none does not exist"} {
		if _, err := Attach(assistant.Prompt{}, []string{name}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", name, err, why)
		}
	}
}

// Pictures go beside the message, each once; what is not sent is refused with the reason.
func TestPicturesAreAttached(t *testing.T) {
	picture := historytest.Picture(t, "a.png", 8)
	files := map[string]string{"a.png": string(picture.Data), "text.png": "no picture", "large.png": string(picture.Data) + strings.Repeat("x", attachment.MaxPictureBytes), "pic": string(picture.Data)}
	var many []string
	for i := range attachment.MaxPictures + 1 {
		many = append(many, fmt.Sprintf("%d.png", i))
		files[many[i]] = string(picture.Data)
	}
	writeFile(t, files)
	p, err := Attach(assistant.Prompt{Text: "see @a.png and @./pic, @a.png"}, []string{"a.png", "./pic", "a.png"})
	if err != nil || p.Text != "see @a.png and @./pic, @a.png" || len(p.Attachments) != 2 || p.Attachments[0].Hash != picture.Hash || p.Attachments[1].Name != "./pic" {
		t.Errorf("the prompt is %+v, %v", p, err)
	}
	for why, names := range map[string][]string{"@text.png is not a kind of picture": {"text.png"}, "@large.png is larger than 3.75 MiB": {"large.png"}, "@8.png was not added: a message can have at most 8 pictures": many} {
		if _, err := Attach(assistant.Prompt{}, names); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v: %v, want %q", names, err, why)
		}
	}
	for _, e := range (MentionSource{}).Suggest("@large", nil) {
		if e.Extra != "too large" {
			t.Errorf("%s is offered as %s", e.Value, e.Extra)
		}
	}
}

func TestSuggestionsInOrder(t *testing.T) {
	writeFile(t, map[string]string{"notes/x": "", "a-note": "", "note.md": "12345", ".hidden": "", "two words": "", "Makefile": ""})
	values := func(word string, names ...string) (out []string) {
		for _, e := range (MentionSource{}).Suggest(word, names) {
			out = append(out, e.Value+" "+e.Extra)
		}
		return out
	}
	for word, want := range map[string][]string{
		"@no":      {"@notes/ folder", "@note.md 5 B", "note-rule rule or model", "@./a-note 0 B", "my-note rule or model"},
		"@notes/":  {"@notes/x 0 B"},
		"@.":       {"@.hidden 0 B", "@note.md 5 B"},
		"@note.md": nil, // it is complete
		"@none/":   nil,
	} {
		if got := values(word, "my-note", "note-rule", "a note"); !slices.Equal(got, want) {
			t.Errorf("%s offers %q, want %q", word, got, want)
		}
	}
}

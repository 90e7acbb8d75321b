package markup_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant/markup"
	"winnow/assistant/safetext"
)

func TestPieces(t *testing.T) {
	for _, tt := range []struct {
		text  safetext.Text
		calls int
		want  []markup.Piece
	}{
		{"a [[tool:0]] b", 1, []markup.Piece{{Text: "a ", Call: -1}, {Call: 0}, {Text: " b", Call: -1}}},
		{"a [[tool:1]] b", 1, []markup.Piece{{Text: "a [[tool:1]] b", Call: -1}}},
		{`a \[[tool:0]] b`, 1, []markup.Piece{{Text: "a [[tool:0]] b", Call: -1}}},
		{"[[tool:99999999999]]", 5, []markup.Piece{{Text: "[[tool:99999999999]]", Call: -1}}},
		{"[[tool:0]][[tool:1]]", 2, []markup.Piece{{Call: 0}, {Call: 1}}},
		{"", 0, nil},
	} {
		got := markup.Pieces(tt.text, tt.calls)
		if len(got) != len(tt.want) {
			t.Errorf("Pieces(%q, %d) = %+v, want %+v", tt.text, tt.calls, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("Pieces(%q, %d)[%d] = %+v, want %+v", tt.text, tt.calls, i, got[i], tt.want[i])
			}
		}
	}
}

func TestAfterLastCard(t *testing.T) {
	for text, want := range map[string]string{
		"a [[tool:0]] b [[tool:1]] c":  " c",
		"a [[tool:0]] b [[tool:2]] c":  " b [[tool:2]] c",
		`a [[tool:0]] b \[[tool:1]] c`: ` b \[[tool:1]] c`,
		"no card":                      "no card",
	} {
		if got := text[markup.AfterLastCard(text, 2):]; got != want {
			t.Errorf("after the last card of %q: %q, want %q", text, got, want)
		}
	}
}

// kinds are a note, which must have a text, and a list.
var kinds = []markup.Kind{
	{Name: "note", Marker: "NOTE:", Read: func(raw json.RawMessage) (json.RawMessage, error) {
		var note struct{ Text string }
		if err := json.Unmarshal(raw, &note); err != nil || note.Text == "" {
			return nil, errors.Join(err, errors.New("no text"))
		}
		return raw, nil
	}},
	{Name: "list", Marker: "LIST:", Read: func(raw json.RawMessage) (json.RawMessage, error) { return raw, nil }},
}

// read joins what a parser makes of an answer: text, <kind data> and !notice.
func read(chunks ...safetext.Text) string {
	p := markup.NewParser(kinds)
	var all strings.Builder
	add := func(found []markup.Segment) {
		for _, s := range found {
			switch {
			case s.Kind != "":
				fmt.Fprintf(&all, "<%s %s>", s.Kind, s.Data)
			case s.Notice != "":
				fmt.Fprintf(&all, "!%s!", s.Notice)
			default:
				all.WriteString(string(s.Text))
			}
		}
	}
	for _, c := range chunks {
		add(p.Write(c))
	}
	add(p.Flush())
	return all.String()
}

func TestParser(t *testing.T) {
	for in, want := range map[safetext.Text]string{
		"plain":                               "plain",
		`a NOTE: {"text":"x"} b`:              `a <note {"text":"x"}> b`,
		`NOTE:{"text":"}{"}LIST:{"a":[{}]}`:   `<note {"text":"}{"}><list {"a":[{}]}>`,
		"NOTE: nothing":                       "NOTE: nothing",
		"NOTE":                                "NOTE",
		`NOTE: {"text":""}`:                   `NOTE: {"text":""}!A payload of type note could not be read (no text) and is shown as text!`,
		`NOTE: {"text":"cut`:                  `NOTE: {"text":"cut!A payload of type note was not finished and is shown as text!`,
		"NOTE: {\"text\":\"a\nb\"}":           "NOTE: {\"text\":\"a!A payload of type note could not be read and is shown as text!\nb\"}",
		`LIST: {"deep":"NOTE: {\"text\":1}"}`: `<list {"deep":"NOTE: {\"text\":1}"}>`,
	} {
		if got := read(in); got != want {
			t.Errorf("%q is read as %q, want %q", in, got, want)
		}
	}
}

// Wherever the chunks cut an answer, it is read the same.
func TestParserOfAnyChunks(t *testing.T) {
	pieces := []safetext.Text{"a ", "NOTE:", "LIST", ":", ` {"text":"x"}`, "{", "}", `"`, `\`, "NO", "TE: ", "\n", `{"a":{}}`}
	rapid.Check(t, func(t *rapid.T) {
		chunks := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "chunks")
		whole := safetext.Join(chunks, "")
		var single []safetext.Text
		for i := range whole {
			single = append(single, whole[i:i+1])
		}
		if got, want := read(chunks...), read(whole); got != want || read(single...) != want {
			t.Fatalf("%q: %q in chunks, %q at once, %q by character", whole, got, want, read(single...))
		}
	})
}

func TestGuardEscapesMarkers(t *testing.T) {
	for _, text := range []safetext.Text{"", "a [[tool:0]] b", "[[tool:", "[[to", "[[[tool:1]]", "[[tool:[[tool:2]]"} {
		for size := range 4 {
			var g markup.Guard
			var out safetext.Text
			for chunk := range slices.Chunk([]byte(text), size+1) {
				out += g.Write(safetext.Text(chunk))
			}
			out += g.Flush()
			if want := text.ReplaceAll("[[tool:", `\[[tool:`); out != want {
				t.Errorf("%q in chunks of %d: %q, want %q", text, size+1, out, want)
			}
			for _, p := range markup.Pieces(out, 10) {
				if p.Call >= 0 {
					t.Errorf("%q opens the card %d", out, p.Call)
				}
			}
		}
	}
}

// A call has one card, however often its marker stands in the text, and an escaped one is
// text.
func TestACallHasOneCard(t *testing.T) {
	got := markup.Pieces(`a[[tool:0]]b[[tool:0]][[tool:1]]\[[tool:2]][[tool:x]][[tool:]][[tool:-2]][[tool:+2]][[tool:2`, 3)
	want := []markup.Piece{{Text: "a", Call: -1}, {Call: 0}, {Text: "b[[tool:0]]", Call: -1}, {Call: 1}, {Text: "[[tool:2]][[tool:x]][[tool:]][[tool:-2]][[tool:+2]][[tool:2", Call: -1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

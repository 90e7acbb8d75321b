package dotenv

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ruleText is the rule lines of a file, and hashes of the file and of all other lines.
type ruleText struct {
	Sum   string     `json:"sum"`
	Rest  string     `json:"rest"`
	Lines []ruleLine `json:"lines"`
}

// ruleLine is a line that sets a rule list. At is its offset in the other lines.
type ruleLine struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

// ruleTextOf finds the rule lines of a file. A statement over several lines or
// one with a comment that looks like a secret counts as another line: it may
// contain a key.
func ruleTextOf(f *File) ruleText {
	lines, rest := splitRules(f)
	return ruleText{Sum: sum(f.Bytes()), Rest: sum(rest), Lines: lines}
}

func splitRules(f *File) (lines []ruleLine, rest []byte) {
	for _, b := range f.bindings {
		text := f.text[b.lineStart:b.end()]
		if !isRuleKey(b.Key) || strings.ContainsAny(strings.TrimRight(text, "\r\n"), "\r\n") || mask(text) != text {
			rest = append(rest, b.Original...)
			continue
		}
		rest = append(rest, f.text[b.start:b.lineStart]...)
		lines = append(lines, ruleLine{len(rest), text})
	}
	return lines, rest
}

// join puts the rule lines back between the other ones.
func (t ruleText) join(rest []byte) []byte {
	var out []byte
	at := 0
	for _, l := range t.Lines {
		to := min(max(l.At, at), len(rest))
		out = append(append(out, rest[at:to]...), l.Text...)
		at = to
	}
	return append(out, rest[at:]...)
}

// applyTo gives f these rule lines: at their old places if all other lines are
// the same, else by edits.
func (t ruleText) applyTo(f *File) ([]byte, error) {
	current, rest := splitRules(f)
	if sum(rest) == t.Rest {
		return t.join(rest), nil
	}
	wanted := Parse(t.join(nil))
	var edits []Edit
	for _, key := range Parse(ruleText{Lines: current}.join(nil)).Keys() {
		if _, ok := wanted.Raw(key); !ok {
			edits = append(edits, Unset(key))
		}
	}
	for _, key := range wanted.Keys() {
		if value, ok := wanted.Raw(key); ok {
			edits = append(edits, Set(key, value))
		}
	}
	after, err := f.With(edits...)
	return after.Bytes(), err
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

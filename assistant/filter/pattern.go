package filter

import "strings"

// Pattern is text with wildcards: Parts are the literal parts between the stars. A single part is plain text; ["a",
// ""] is a*. Only the first and the last part may be empty.
type Pattern struct{ Parts []string }

// newPattern returns the pattern with these parts. It merges consecutive stars.
func newPattern(parts []string) Pattern {
	rest := parts[:1:1]
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" || i == len(parts)-1 {
			rest = append(rest, parts[i])
		}
	}
	return Pattern{rest}
}

// Plain returns the text of the pattern; ok is false if the pattern has wildcards.
func (p Pattern) Plain() (text string, ok bool) { return p.Parts[0], len(p.Parts) == 1 }

// lower returns the pattern in lower case, for use with match.
func (p Pattern) lower() Pattern {
	low := make([]string, len(p.Parts))
	for i, part := range p.Parts {
		low[i] = strings.ToLower(part)
	}
	return Pattern{low}
}

// match reports whether s matches, respecting case; to ignore case, convert both to lower case first.
func (p Pattern) match(s string) bool {
	last := len(p.Parts) - 1
	if last == 0 {
		return s == p.Parts[0]
	}
	if len(s) < len(p.Parts[0])+len(p.Parts[last]) ||
		!strings.HasPrefix(s, p.Parts[0]) || !strings.HasSuffix(s, p.Parts[last]) {
		return false
	}
	return ContainsInOrder(s[len(p.Parts[0]):len(s)-len(p.Parts[last])], p.Parts[1:last])
}

// ContainsInOrder reports whether the parts occur in s one after another. Dialect.Content compares texts in the same
// way, after they have been converted to lower case.
func ContainsInOrder(s string, parts []string) bool {
	for _, part := range parts {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// pathSeparator separates the levels of a topic's path.
const pathSeparator = " > "

// splitPath returns the levels of a topic's path.
func splitPath(path string) []string {
	if path == "" {
		return nil
	}
	levels := strings.Split(path, ">")
	for i := range levels {
		levels[i] = strings.TrimSpace(levels[i])
	}
	return levels
}

// matches reports whether t, in lower case, matches the topic with these lower-case levels.
func (t Topic) matches(levels []string) bool {
	for end := len(levels); end >= len(t.Path); end-- {
		if t.endsAt(levels[:end]) {
			return true
		}
		if !t.Deep {
			break
		}
	}
	return false
}

func (t Topic) endsAt(levels []string) bool {
	tail := levels[len(levels)-len(t.Path):]
	for i, p := range t.Path {
		if !p.match(tail[i]) {
			return false
		}
	}
	return true
}

func (t Topic) lower() Topic {
	path := make([]Pattern, len(t.Path))
	for i, p := range t.Path {
		path[i] = p.lower()
	}
	return Topic{path, t.Deep}
}

// Matches reports whether t matches the topic with this path, such as "AI > Agents". t'*' also matches "", which
// means no topic; t'*...' matches every topic but not "".
func (t Topic) Matches(path string) bool {
	return !t.Deep && len(t.Path) == 1 && t.Path[0].matchesAll() || t.lower().matches(splitPath(strings.ToLower(path)))
}

// matchesAll reports whether p consists only of stars.
func (p Pattern) matchesAll() bool {
	return len(p.Parts) > 1 && strings.Join(p.Parts, "") == ""
}

// Matches reports whether m matches the model "provider/name"; selected is the currently selected model.
func (m Model) Matches(model, selected string) bool {
	if m.Name.Parts == nil {
		return strings.EqualFold(model, selected)
	}
	p, model := m.Name.lower(), strings.ToLower(model)
	_, name, found := strings.Cut(model, "/")
	return p.match(model) || found && p.match(name)
}

// Matches reports whether x matches the author of a pair; user is the current user. In a history with a single user,
// user is "", which matches pairs without an author.
func (x Author) Matches(author, user string) bool {
	author = strings.ToLower(author)
	if x.Name.Parts == nil {
		return author == strings.ToLower(user)
	}
	return x.Name.lower().match(author)
}

// deepMark at the end of a topic includes its descendants.
const deepMark = "..."

// parseTopic parses the text of t'…', given as the parts between its stars; ok is false if a level is empty.
func parseTopic(parts []string) (t Topic, ok bool) {
	levels := [][]string{nil}
	for _, part := range parts {
		for i, piece := range strings.Split(part, ">") {
			if i > 0 {
				levels = append(levels, nil)
			}
			at := &levels[len(levels)-1]
			*at = append(*at, piece)
		}
	}
	last := levels[len(levels)-1]
	end := strings.TrimSpace(last[len(last)-1])
	if len(last) > 1 {
		end = strings.TrimRight(last[len(last)-1], " \t")
	}
	if rest, deep := strings.CutSuffix(end, deepMark); deep {
		t.Deep = true
		last[len(last)-1] = rest
		if len(last) == 1 && strings.TrimSpace(rest) == "" {
			levels = levels[:len(levels)-1] // 'AI > ...' means 'AI...'
		}
	}
	for _, level := range levels {
		level[0] = strings.TrimLeft(level[0], " \t\n\r")
		level[len(level)-1] = strings.TrimRight(level[len(level)-1], " \t\n\r")
		if len(level) == 1 && level[0] == "" {
			return t, false
		}
		t.Path = append(t.Path, newPattern(level))
	}
	return t, len(t.Path) > 0
}

package chat

import (
	"strings"

	"winnow/tui/markdown"
	"winnow/tui/style"
)

// A hit starts in one line and may extend into the lines that continue it. Only text that can
// be copied is searched, so bars, indents and times contain no hits.

// stretch is the part of a hit that is in one line: the cells [from, to).
type stretch struct{ line, from, to int }

// lineTexts caches what textOf returns for the lines of a frame, most of which are needed for
// the hits of several rows. A nil cache is empty and stays so.
type lineTexts map[lineKey]lineText

type lineKey struct {
	source lineSource
	i      int
}

type lineText struct {
	text string
	lead int
}

// of does the same as textOf.
func (c lineTexts) of(s lineSource, i int) (text string, lead int) {
	if c == nil {
		return textOf(s, i)
	}
	key := lineKey{s, i}
	line, ok := c[key]
	if !ok {
		line.text, line.lead = textOf(s, i)
		c[key] = line
	}
	return line.text, line.lead
}

// textOf returns the text of line i, without padding, and the column where it starts.
func textOf(s lineSource, i int) (text string, lead int) {
	info := s.Info(i)
	if info.Lead == markdown.NotCopied {
		return "", 0
	}
	text, lead = style.Strip(s.Line(i)), int(info.Lead)
	if lead > 0 || info.Tail > 0 {
		text = style.Cut(text, lead, style.Width(text)-int(info.Tail))
	}
	return strings.TrimRight(text, " "), lead
}

// joined is the text of a line and of the lines that continue it, as far as a hit that
// starts in the first line can reach.
type joined struct {
	text   string
	starts []int // offset in text where each line starts
	leads  []int // column where the text of each line starts
}

func joinedFrom(s lineSource, texts lineTexts, needle markdown.Needle, i int) (j joined) {
	text, lead := texts.of(s, i)
	j = joined{text, []int{0}, []int{lead}}
	own := len(text)
	for n := i + 1; own > 0 && n < s.Len() && len(j.text)-own < needle.Longest(); n++ {
		info := s.Info(n)
		if !info.Soft || info.Space && !needle.Spaced() {
			break
		}
		if info.Space {
			j.text += " "
		}
		text, lead = texts.of(s, n)
		j.starts, j.leads = append(j.starts, len(j.text)), append(j.leads, lead)
		j.text += text
	}
	return j
}

// own returns the offset in j.text where the first line ends.
func (j *joined) own() int {
	if len(j.starts) > 1 {
		return j.starts[1]
	}
	return len(j.text)
}

// hits returns the start and end in j.text of each hit that starts in the first line.
func (j *joined) hits(needle markdown.Needle) (all [][2]int) {
	all = needle.All(j.text)
	for n, hit := range all {
		if hit[0] >= j.own() {
			return all[:n]
		}
	}
	return all
}

// hitsFrom counts the hits that start in a line.
func hitsFrom(s lineSource, needle markdown.Needle, i int) int {
	j := joinedFrom(s, nil, needle, i)
	return len(j.hits(needle))
}

// stretches returns the part of a hit in each of its lines. The first line of j is line i.
func (j *joined) stretches(i int, hit [2]int) (all []stretch) {
	for n, start := range j.starts {
		end := len(j.text)
		if n+1 < len(j.starts) {
			end = j.starts[n+1]
		}
		from, to := max(hit[0], start), min(hit[1], end)
		if from < to {
			column := j.leads[n] + style.Width(j.text[start:from])
			all = append(all, stretch{i + n, column, column + style.Width(j.text[from:to])})
		}
	}
	return all
}

// Find implements lineSource.
func (s *partLines) Find(needle markdown.Needle, from int, back markdown.Direction) (line int, ok bool) {
	first := 0
	for n := range s.sources {
		source := s.sources[n]
		if back {
			source = s.sources[len(s.sources)-1-n]
			if n == 0 {
				first = s.Len()
			}
			first -= source.Len()
		}
		if line, ok = source.Find(needle, max(from, first-1)-first, back); ok && (back && first+line < from || !back && first+line > from) {
			return first + line, true
		}
		if !back {
			first += source.Len()
		}
	}
	return 0, false
}

// Count implements lineSource.
func (s *partLines) Count(needle markdown.Needle, before, most int) (count int) {
	for _, source := range s.sources {
		if before <= 0 || count >= most {
			break
		}
		count += source.Count(needle, min(before, source.Len()), most-count)
		before -= source.Len()
	}
	return count
}

// findLine implements lineSource.Find by looking at each of the first n lines.
func findLine(s lineSource, n int, needle markdown.Needle, from int, back markdown.Direction) (int, bool) {
	step, i := 1, from+1
	if back {
		step, i = -1, min(from, n)-1
	}
	for ; i >= 0 && i < n; i += step {
		if hitsFrom(s, needle, i) > 0 {
			return i, true
		}
	}
	return 0, false
}

// countLines implements lineSource.Count by looking at each of the first n lines.
func countLines(s lineSource, n int, needle markdown.Needle, most int) (count int) {
	for i := 0; i < n && count < most; i++ {
		count += hitsFrom(s, needle, i)
	}
	return min(count, most)
}

// Find implements lineSource.
func (r *ready) Find(needle markdown.Needle, from int, back markdown.Direction) (int, bool) {
	return findLine(r, len(r.text), needle, from, back)
}

// Count implements lineSource.
func (r *ready) Count(needle markdown.Needle, before, most int) int {
	return countLines(r, before, needle, most)
}

// Find implements lineSource.
func (t *longText) Find(needle markdown.Needle, from int, back markdown.Direction) (int, bool) {
	return t.text.Find(needle, from, back)
}

// Count implements lineSource.
func (t *longText) Count(needle markdown.Needle, before, most int) int {
	return t.text.Count(needle, before, most)
}

// Find implements lineSource.
func (s *firstLines) Find(needle markdown.Needle, from int, back markdown.Direction) (int, bool) {
	line, ok := s.partLines.Find(needle, min(from, s.n), back)
	return line, ok && line < s.n
}

// Count implements lineSource.
func (s *firstLines) Count(needle markdown.Needle, before, most int) int {
	return s.partLines.Count(needle, min(before, s.n), most)
}

// Find implements lineSource.
func (l *docLines) Find(needle markdown.Needle, from int, back markdown.Direction) (line int, ok bool) {
	n, rest := len(l.lines), l.doc.Rest()
	if back && rest != nil && from > n {
		if line, ok = rest.Find(needle, from-n-1, back); ok {
			return n + 1 + line, true
		}
	}
	if line, ok = findLine(l, n, needle, from, back); ok || back || rest == nil {
		return line, ok
	}
	line, ok = rest.Find(needle, max(from-n-1, -1), back)
	return n + 1 + line, ok
}

// Count implements lineSource.
func (l *docLines) Count(needle markdown.Needle, before, most int) int {
	n, rest := len(l.lines), l.doc.Rest()
	count := countLines(l, min(before, n), needle, most)
	if rest != nil && before > n+1 && count < most {
		count += rest.Count(needle, before-n-1, most-count)
	}
	return count
}

// drawHits marks the hits in a row that shows a line of pair i. The current hit has a style
// of its own.
func (v *View) drawHits(row string, i, line int, texts lineTexts) string {
	it := v.src.at(i)
	n, at, ok := it.partAt(line)
	if !ok {
		return row
	}
	part := it.parts[n]
	first := at // the first line from which a hit can reach this one
	for length := 0; first > 0 && length < v.search.find.Longest() && part.Info(first).Soft; first-- {
		text, _ := texts.of(part, first-1)
		length += len(text)
	}
	current := v.search.at
	cell, rest, drawn := 0, row, strings.Builder{} // column up to which the row is drawn, and what follows
	plain := style.Strip(row)
	for ; first <= at; first++ {
		j := joinedFrom(part, texts, v.search.find, first)
		for nth, hit := range j.hits(v.search.find) {
			st := v.rc.st.Chat.SearchHit
			if current == (hitLocation{it.seq, it.starts[n] + first, nth}) {
				st = v.rc.st.Chat.CurrentHit
			}
			for _, s := range j.stretches(first, hit) {
				if s.line == at && s.from >= cell {
					drawn.WriteString(style.Cut(rest, 0, s.from-cell) + st.Render(style.Cut(plain, s.from, s.to)))
					rest, cell = style.TruncateLeft(rest, s.to-cell, ""), s.to
				}
			}
		}
	}
	return drawn.String() + rest
}

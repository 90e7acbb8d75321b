package chat

import (
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// maxAuthor is the maximum width of an author next to a time, in cells.
const maxAuthor = 24

// when returns the time of a pair, with the date unless the date is today. In a shared
// history the author precedes the time. The result takes about a third of the width, and
// starts with a sign if the turn is running.
func (it *item) when(width int) string {
	const day = "2006-01-02"
	room := max(len(day), width/3)
	at, now := it.pair.CreatedAt.Local(), it.rc.now().Local()
	text := at.Format(day + " 15:04")
	switch {
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		text = at.Format("15:04")
	case len(text) > room:
		text = at.Format(day)
	}
	if left := min(maxAuthor, room-len(text)-1); it.pair.Author != "" && left > 1 {
		text = string(safetext.Line(it.pair.Author, left)+" ") + text
	}
	sign := strings.Repeat(" ", style.Width(it.rc.st.Icons.Ellipsis))
	if it.running {
		sign = it.rc.st.Icons.Ellipsis
	}
	text = sign + " " + text
	return it.rc.st.Chat.Time.Render(text)
}

// marks returns the marks that the user or the filter has set on a pair.
func (it *item) marks() string {
	st := &it.rc.st
	var all []string
	if it.notInFilter {
		all = append(all, st.Chat.Badge.Render("not in filter"))
	}
	if it.pair.Star > 0 {
		all = append(all, st.Chat.Star.Render(strings.Repeat(st.Icons.Star, it.pair.Star)))
	}
	if !it.pair.Flag {
		all = append(all, st.Chat.Flag.Render("grey"))
	}
	if it.pair.Topic != "" {
		all = append(all, st.Chat.Time.Render(oneLine(it.pair.Topic)))
	}
	return strings.Join(all, " ")
}

// layOutFoot adds the line below the answer, in place of the blank line, and counts the
// lines of the pair.
func (it *item) layOutFoot(width int) {
	it.end, it.foot = it.height, style.Truncate(it.footText(), width, it.rc.st.Icons.Ellipsis)
	if it.foot == "" {
		return
	}
	if it.line(it.end-1) == "" {
		it.end--
	}
	it.foot = it.rc.st.Chat.Time.Render(it.foot)
	it.height = it.end + 2
}

// footText says which answer to the message is shown, and its model, time, tokens and
// price.
func (it *item) footText() string {
	p := &it.pair
	if it.running {
		return ""
	}
	var words []string
	if all, chosen := p.Answers(); len(all) > 1 {
		words = append(words, fmt.Sprintf("‹%d/%d›", chosen+1, len(all)))
	}
	answered := p.State == assistant.PairComplete || p.State == assistant.PairPartial || p.AssistantText != ""
	if answered && p.Model != "" {
		words = append(words, oneLine(pane.ModelName(p.Model)))
		if p.Took > 0 {
			words = append(words, assistant.Seconds(p.Took))
		}
		if tokens := it.tokens(); tokens != "" {
			words = append(words, tokens)
		}
		if p.Usage != nil && p.Price != nil {
			words = append(words, assistant.Dollars(*p.Price))
		}
	}
	return strings.Join(words, " · ")
}

// tokens returns the tokens that the endpoint counted for all requests of the turn, or else
// the estimated size of the message and the answer; "" if none were used, for example by
// the built-in rules.
func (it *item) tokens() string {
	if u := it.pair.Usage; u != nil {
		if u.Prompt+u.Completion == 0 {
			return ""
		}
		return assistant.TokenCount(u.Prompt + u.Completion)
	}
	if n := it.rc.cost(it.seq); n > 0 {
		return "~" + assistant.TokenCount(n) + " of text"
	}
	return ""
}

// badgeRoom is the minimum number of blanks before the message into which marks can move to
// make room for a badge.
const badgeRoom = 6

// badge puts the first of the signs that fits at the start of the first line of a pair. The
// marks there move to the right, into the blanks before the message. If no sign fits, the
// last one replaces the start of the line.
func badge(row string, width int, look style.Style, signs ...string) string {
	plain := style.Strip(row)
	if at := strings.Index(plain, strings.Repeat(" ", badgeRoom)); at >= 0 {
		blanks := len(plain[at:]) - len(strings.TrimLeft(plain[at:], " "))
		for _, sign := range signs {
			if w := style.Width(sign) + 1; w < blanks {
				cell := style.Width(plain[:at])
				return look.Render(sign) + " " + style.Cut(row, 0, cell) + style.Cut(row, cell+w, width)
			}
		}
	}
	sign := look.Render(signs[len(signs)-1])
	w := style.Width(sign)
	rest := style.Cut(row, w, width)
	if w+style.Width(rest) > width { // the sign would cut a wide character in half, so that is dropped
		rest = style.Cut(row, w+1, width)
	}
	if w > width {
		return style.Truncate(sign, width, "")
	}
	return sign + strings.Repeat(" ", max(0, width-w-style.Width(rest))) + rest
}

// Package hud writes the numbers behind the context counter as lines: parameters,
// budget, selection, trimming and the last error. It keeps nothing, and belongs to
// the goroutine that draws.
package hud

import (
	"cmp"
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/safetext"
	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// Numbers are what the lines are written from.
type Numbers struct {
	Session  *assistant.Session
	Boundary budget.Boundary
	Counter  string
	Draft    assistant.DraftCost
	Focused  assistant.Pair         // the zero value is none
	UserText func(seq int64) string // the message of a pair, as one line
}

const (
	// maxNames is how wide the names are where there is room; a narrow screen gives
	// them half of it.
	maxNames = 34
	maxValue = 500 // cells of a value
)

// Lines are the numbers behind the counter, in groups: those of the boundary and
// of the send that the counter shows. A screen has w cells.
func (n Numbers) Lines(w int, st style.Overlay) (out []string) {
	names := min(maxNames, max(4, w/2))
	group := func(name string) { out = append(out, "", st.Group.Render(name)) }
	row := func(name string, value any) {
		// The acronym of the telemetry stands behind the words in muted type.
		words, acronym, short := strings.Cut(textwidth.Fit(textwidth.Fit(name, names-1, "…"), names, ""), " (")
		if short {
			acronym = st.Muted.Render(" (" + acronym)
		}
		out = append(out, "  "+st.Text.Render(words)+acronym+st.Text.Render(safetext.Line(fmt.Sprint(value), maxValue)))
	}
	b, set := n.Boundary, n.Session.Settings().Budget
	group("PARAMETERS")
	row("model", safetext.Visible(n.Session.Model()))
	row("characters a token (CPT)", set.CPT())
	row("kept for the next message (URA)", set.URA())
	row("most trims a send (NTA)", set.NTA())
	group("BUDGET")
	n.budget(row)
	group("SELECTION")
	row("filter", cmp.Or(n.Session.Filter(), "none: all pairs"))
	row("visible (Y)", b.Y)
	row("included (X)", b.X)
	row("computed", map[bool]string{true: "once", false: fmt.Sprintf("%d times", n.Session.Recomputes())}[n.Session.Recomputes() == 1])
	group("TRIMMING")
	row("counter", n.Counter)
	n.trimming(row)
	group("ERROR")
	n.failure(row)
	return out[1:]
}

func (n Numbers) budget(row func(name string, value any)) {
	b, cost, known := n.Boundary, n.Draft, "~"
	if b.Known {
		known = ""
	}
	row("model takes (ML)", known+fmt.Sprint(b.ML))
	row("system prompt and tools (SYS)", b.SYS)
	row("usable", b.Usable)
	row("history predicted", b.HistoryTokens)
	row("left after that", b.Usable-b.HistoryTokens-b.URA)
	row("the draft (AUT)", fmt.Sprintf("~%d", cost.AUT))
	row("all of it now", fmt.Sprintf("~%d", cost.Total))
}

// trimming is what became of the last send.
func (n Numbers) trimming(row func(name string, value any)) {
	last, ok := n.Session.LastSend()
	if !ok {
		row("last send", "none yet")
		return
	}
	row("last send", fmt.Sprintf("%d of %d pairs included, %s", last.Included, last.Visible, last.Stage))
	if records := n.Session.Records(); len(records) > 0 {
		r := records[len(records)-1]
		row("its attempts", r.AttemptsUsed+1)
		row("its history and message", fmt.Sprintf("~%d tokens, ~%d in reserve", r.AttemptTotalTokens, r.RemainingReserve))
	}
	left := "none"
	if len(last.LeftOut) > 0 {
		left = fmt.Sprintf("%s, ~%d tokens", assistant.Counted(len(last.LeftOut), "pair"), last.Tokens)
	}
	row("left out (T)", left)
	for _, p := range last.LeftOut {
		row("", fmt.Sprintf("~%d  %s", p.Tokens, n.UserText(p.Seq)))
	}
}

// failure is why the last attempt failed, and the focused pair.
func (n Numbers) failure(row func(name string, value any)) {
	var r budget.Record
	if records := n.Session.Records(); len(records) > 0 {
		r = records[len(records)-1]
	}
	failed := n.Focused.State == assistant.PairError
	if r.LastErrorMessage != "" {
		row("last attempt", r.LastErrorMessage)
		row("taken for an overflow", map[bool]string{true: "yes", false: "no"}[r.OverflowMatched])
	} else if !failed {
		row("last attempt", "no error")
	}
	if failed {
		row(n.Focused.ErrorCode, n.Focused.ErrorMessage)
	}
}

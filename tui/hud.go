package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/textwidth"
)

// openHUD opens the numbers of the context; its key closes them again.
func (m *Model) openHUD() tea.Cmd {
	return m.open(overlay.HUD, overlay.NewText("Context", hud{m}.lines()), nil)
}

// hud are the numbers of the context.
type hud struct{ *Model }

// hudNames is how wide the names are where there is room; a narrow screen gives
// them half of it.
const hudNames = 34

// lines are the numbers behind the counter, in groups: those of the boundary and
// of the send that the counter shows.
func (m hud) lines() (out []string) {
	names := min(hudNames, max(4, m.width/2))
	st := m.styles.Overlay
	group := func(name string) { out = append(out, "", st.Group.Render(name)) }
	row := func(name string, value any) {
		// The acronym of the telemetry stands behind the words in muted type.
		words, acronym, short := strings.Cut(textwidth.Fit(textwidth.Fit(name, names-1, "…"), names, ""), " (")
		if short {
			acronym = st.Muted.Render(" (" + acronym)
		}
		out = append(out, "  "+st.Text.Render(words)+acronym+st.Text.Render(oneLine(fmt.Sprint(value))))
	}
	b, set := m.conv.boundary, m.session.Settings().Budget
	group("PARAMETERS")
	row("model", safetext.Visible(m.session.Model()))
	row("characters a token (CPT)", set.CPT())
	row("kept for the next message (URA)", set.URA())
	row("most trims a send (NTA)", set.NTA())
	group("BUDGET")
	m.budget(row)
	group("SELECTION")
	row("filter", filterName(m.session.Filter()))
	row("visible (Y)", b.at.Y)
	row("included (X)", b.at.X)
	row("computed", map[bool]string{true: "once", false: fmt.Sprintf("%d times", m.session.Recomputes())}[m.session.Recomputes() == 1])
	group("TRIMMING")
	row("counter", b.counter)
	m.trimming(row)
	group("ERROR")
	m.failure(row)
	return out[1:]
}

func (m hud) budget(row func(name string, value any)) {
	b, cost, known := m.conv.boundary.at, m.input.draftCost(), "~"
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
	q, ok := m.session.Quota()
	quota := func(name string, left, of int, reset time.Duration) {
		if ok && left >= 0 && of > 0 {
			row(name, fmt.Sprintf("%d of %d left, full in %s", left, of, seconds(reset)))
		}
	}
	quota("tokens a minute", q.TokensLeft, q.TokensPerMinute, q.TokensReset)
	quota("requests a minute", q.RequestsLeft, q.RequestsPerMinute, q.RequestsReset)
	if q.Wait > 0 {
		row("the endpoint wants to be left", seconds(q.Wait))
	}
}

// trimming is what became of the last send.
func (m hud) trimming(row func(name string, value any)) {
	last, ok := m.session.LastSend()
	if !ok {
		row("last send", "none yet")
		return
	}
	row("last send", fmt.Sprintf("%d of %d pairs included, %s", last.Included, last.Visible, last.Stage))
	if records := m.session.Records(); len(records) > 0 {
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
		row("", fmt.Sprintf("~%d  %s", p.Tokens, m.conv.chat.UserText(p.Seq)))
	}
}

// failure is why the last attempt failed, and the focused pair.
func (m hud) failure(row func(name string, value any)) {
	var r budget.Record
	if records := m.session.Records(); len(records) > 0 {
		r = records[len(records)-1]
	}
	focused, _ := m.conv.chat.Focused()
	failed := focused.State == assistant.PairError
	if r.LastErrorMessage != "" {
		row("last attempt", r.LastErrorMessage)
		row("taken for an overflow", map[bool]string{true: "yes", false: "no"}[r.OverflowMatched])
	} else if !failed {
		row("last attempt", "no error")
	}
	if failed {
		row(focused.ErrorCode, focused.ErrorMessage)
	}
}

// costKey is what the cost of a draft depends on: the text, what is included,
// and the quota, which is full again some seconds later.
type costKey struct {
	text       string
	recomputes int
	second     time.Time
}

// draftCost is what sending the draft would take. It is computed once for a costKey,
// not for each frame.
func (i *input) draftCost() assistant.DraftCost {
	key := costKey{i.draft.Shown(), i.session.Recomputes(), i.now().Truncate(time.Second)}
	if i.cost.key != key {
		i.cost.key, i.cost.DraftCost = key, i.session.Draft(i.draft.Text())
	}
	return i.cost.DraftCost
}

// estimate is the size of the draft, and what it would do to what is sent with it;
// "" for an empty one.
func (i *input) estimate() string {
	if i.draft.Empty() {
		return ""
	}
	c := i.draftCost()
	text := fmt.Sprintf(" ~%d", c.AUT)
	switch {
	case c.OverBudget:
		text += " · too long for the model"
	case c.OverQuota:
		text += " · over the provider's limit"
	case c.OverReserve && c.Trims > 0:
		text += " · " + assistant.Counted(c.Trims, "old pair") + " will not fit"
	}
	return text + " "
}

// quotaLines are the reasons why the provider would likely refuse a message now.
func quotaLines(c assistant.DraftCost) (lines []string) {
	q := c.Quota
	if q.Wait > 0 {
		lines = append(lines, "It asked for "+seconds(q.Wait)+" without a request.")
	}
	if q.RequestsLeft == 0 {
		lines = append(lines, "No request is left for "+seconds(q.RequestsReset)+".")
	}
	if q.TokensLeft >= 0 && c.Total > q.TokensLeft {
		lines = append(lines, fmt.Sprintf("~%d tokens now, %d left for %s.", c.Total, q.TokensLeft, seconds(q.TokensReset)))
	}
	return lines
}

// seconds is a time for people.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Round(time.Second)/time.Second))
	}
	return fmt.Sprintf("%d min %02d s", int(d/time.Minute), int(d%time.Minute/time.Second))
}

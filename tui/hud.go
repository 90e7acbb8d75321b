package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/textwidth"
)

// openHUD opens the numbers of the context; its key closes them again.
func (m *Model) openHUD() tea.Cmd {
	return m.open(overlay.HUD, overlay.NewText("Context", m.hudLines()), nil)
}

// hud writes the numbers behind the counter, in groups. All of them are of the
// boundary and of the send that the counter shows.
type hud struct {
	*shared
	conv  *conversation
	names int // how wide the names of the numbers are
	lines []string
}

func (h *hud) group(name string) {
	if len(h.lines) > 0 {
		h.lines = append(h.lines, "")
	}
	h.lines = append(h.lines, h.styles.Overlay.Group.Render(name))
}

// hudNames is how wide the names are where there is room; a narrow screen gives
// them half of it.
const hudNames = 34

// row writes a number: what it is in words, with its acronym in the telemetry in
// muted type behind them.
func (h *hud) row(name string, value any) {
	st := h.styles.Overlay
	name = fit(textwidth.Truncate(name, h.names-1, "…"), h.names, "")
	words, acronym, short := strings.Cut(name, " (")
	if short {
		acronym = st.Muted.Render(" (" + acronym)
	}
	h.lines = append(h.lines, "  "+st.Text.Render(words)+acronym+st.Text.Render(oneLine(fmt.Sprint(value))))
}

// hudLines are the numbers of now, and of the last send.
func (m *Model) hudLines() []string {
	h := &hud{shared: m.shared, conv: &m.conv, names: min(hudNames, max(4, m.width/2))}
	b, set := m.conv.boundary, m.session.Settings().Budget
	h.group("PARAMETERS")
	h.row("model", safetext.Visible(m.session.Model()))
	h.row("characters a token (CPT)", set.CPT())
	h.row("kept for the next message (URA)", set.URA())
	h.row("most trims a send (NTA)", set.NTA())
	h.budget(m.input.draftCost())
	h.group("SELECTION")
	h.row("filter", filterName(m.session.Filter()))
	h.row("visible (Y)", b.at.Y)
	h.row("included (X)", b.at.X)
	h.row("computed", times(m.session.Recomputes()))
	h.trimming()
	h.failure()
	return h.lines
}

func (h *hud) budget(cost assistant.DraftCost) {
	b := h.conv.boundary.at
	known := ""
	if !b.Known {
		known = "~"
	}
	h.group("BUDGET")
	h.row("model takes (ML)", known+fmt.Sprint(b.ML))
	h.row("system prompt and tools (SYS)", b.SYS)
	h.row("usable", b.Usable)
	h.row("history predicted", b.HistoryTokens)
	h.row("left after that", b.Usable-b.HistoryTokens-b.URA)
	h.row("the draft (AUT)", "~"+fmt.Sprint(cost.AUT))
	h.row("all of it now", "~"+fmt.Sprint(cost.Total))
	q, ok := h.session.Quota()
	if !ok {
		return
	}
	if q.TokensPerMinute > 0 || q.TokensLeft >= 0 {
		h.row("tokens a minute", allowance(q.TokensLeft, q.TokensPerMinute, q.TokensReset))
	}
	if q.RequestsPerMinute > 0 || q.RequestsLeft >= 0 {
		h.row("requests a minute", allowance(q.RequestsLeft, q.RequestsPerMinute, q.RequestsReset))
	}
	if q.Wait > 0 {
		h.row("the endpoint wants to be left", seconds(q.Wait))
	}
}

// allowance says what is left of a quota.
func allowance(left, limit int, reset time.Duration) string {
	text := "unknown"
	switch {
	case left >= 0 && limit > 0:
		text = fmt.Sprintf("%d of %d left", left, limit)
	case left >= 0:
		text = fmt.Sprintf("%d left", left)
	case limit > 0:
		text = fmt.Sprint(limit)
	}
	if left >= 0 && reset > 0 {
		text += ", full in " + seconds(reset)
	}
	return text
}

// trimming says what became of the last send.
func (h *hud) trimming() {
	h.group("TRIMMING")
	h.row("counter", h.conv.boundary.counter)
	last, ok := h.session.LastSend()
	if !ok {
		h.row("last send", "none yet")
		return
	}
	h.row("last send", fmt.Sprintf("%d of %d pairs included, %s", last.Included, last.Visible, last.Stage))
	if records := h.session.Records(); len(records) > 0 {
		r := records[len(records)-1]
		h.row("its attempts", r.AttemptsUsed+1)
		h.row("its history and message", fmt.Sprintf("~%d tokens, ~%d in reserve", r.AttemptTotalTokens, r.RemainingReserve))
	}
	h.row("left out (T)", leftOut(last))
	for _, p := range last.LeftOut {
		h.row("", fmt.Sprintf("~%d  %s", p.Tokens, h.conv.chat.UserText(p.Seq)))
	}
}

// leftOut says how much of what was included the last send left out.
func leftOut(last assistant.LastSend) string {
	if len(last.LeftOut) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s, ~%d tokens", assistant.Counted(len(last.LeftOut), "pair"), last.Tokens)
}

// failure says why the last attempt failed, and the focused pair.
func (h *hud) failure() {
	records := h.session.Records()
	failed := len(records) > 0 && records[len(records)-1].LastErrorMessage != ""
	p, ok := h.conv.chat.Focused()
	ended := ok && p.State == assistant.PairError
	h.group("ERROR")
	if !failed && !ended {
		h.row("last attempt", "no error")
		return
	}
	if failed {
		r := records[len(records)-1]
		h.row("last attempt", r.LastErrorMessage)
		h.row("taken for an overflow", map[bool]string{true: "yes", false: "no"}[r.OverflowMatched])
	}
	if ended {
		h.row(p.ErrorCode, p.ErrorMessage)
	}
}

// draftCost is what sending the draft would take. It is computed when the text
// is another, not for each frame.
func (i *input) draftCost() assistant.DraftCost {
	key := costKey{i.draft.Shown(), i.session.Recomputes(), i.now().Truncate(time.Second)}
	if i.cost.key != key {
		i.cost.key, i.cost.DraftCost = key, i.session.Draft(i.draft.Text())
	}
	return i.cost.DraftCost
}

// costKey is what the cost of a draft depends on: the text, what is included,
// and the quota, which is full again some seconds later.
type costKey struct {
	text       string
	recomputes int
	second     time.Time
}

// estimate is the size of the draft, near the box, and what it would do to what
// is sent with it; "" for an empty one.
func (i *input) estimate() string {
	if i.draft.Empty() {
		return ""
	}
	c := i.draftCost()
	text := fmt.Sprintf("~%d", c.AUT)
	switch {
	case c.OverBudget:
		text += " · too long for the model"
	case c.OverQuota:
		text += " · over the provider's limit"
	case c.OverReserve && c.Trims > 0:
		text += " · " + assistant.Counted(c.Trims, "old pair") + " will not fit"
	}
	return " " + text + " "
}

// quotaLines tell why the provider would likely refuse a message now.
func quotaLines(c assistant.DraftCost) []string {
	q := c.Quota
	var lines []string
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

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/textwidth"
)

// pickers are the lists to choose from, with what they know of earlier runs.
type pickers struct {
	*shared
	topics []string  // paths
	models modelList // what the list of models shows first
}

// onPickers is the action that opens one.
func onPickers(do func(*pickers) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return do(&m.pickers) }
}

// openSessions lists the sessions of the history.
func (m *Model) openSessions() tea.Cmd { return loadSessions(m.work) }

// resumeKey continues a session of the list.
const resumeKey = "alt+o"

// A title has the cells that frame, sign, date and count of a line leave, which
// tell sessions apart as well; on any screen the first words.
const (
	leastTitle  = 16
	besideTitle = 42
)

// onSessions shows the sessions that have pairs, by folder, the one used last
// first. Choosing one shows its pairs; another key continues it.
func (m *Model) onSessions(msg sessionsLoadedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	if len(msg.sessions) == 0 {
		return m.info("there is no session with messages yet")
	}
	entries := make([]overlay.Entry, len(msg.sessions))
	room := max(leastTitle, m.width*9/10-besideTitle)
	for i, s := range byFolder(msg.sessions) {
		entries[i] = overlay.Entry{
			Value: s.ID, Text: textwidth.Truncate(orElse(oneLine(s.Title), "(no text)"), room, m.styles.Icons.Ellipsis), Group: orElse(s.Folder, "no folder"),
			Extra: s.Used.Local().Format("2006-01-02 15:04") + " · " + assistant.Counted(s.Pairs, "pair"),
		}
		if s.ID == m.session.ID() {
			entries[i].Mark = m.styles.Icons.Marked
		}
	}
	picker := overlay.NewPicker("Sessions", entries, 0).WithKeys("enter shows its pairs · "+resumeKey+" continues it", resumeKey)
	return m.open(overlay.Sessions, picker, func(c overlay.Chosen) tea.Cmd {
		switch {
		case c.Value == m.session.ID():
			return m.runLine("x")
		case c.Key == resumeKey:
			return switchSession(m.work, c.Value)
		}
		return m.runLine("x'" + c.Value + "'")
	})
}

// byFolder brings the sessions of a folder together, without another order.
func byFolder(all []history.Session) []history.Session {
	var folders []string
	for _, s := range all {
		if !slices.Contains(folders, s.Folder) {
			folders = append(folders, s.Folder)
		}
	}
	slices.SortStableFunc(all, func(a, b history.Session) int {
		return slices.Index(folders, a.Folder) - slices.Index(folders, b.Folder)
	})
	return all
}

// openTopics selects the topic of the pairs to come, and edits the tree.
func (p *pickers) openTopics() tea.Cmd {
	picker := p.topicPicker("Topic of new messages")
	if p.opts.History != nil {
		picker = picker.WithKeys("enter selects · alt+n new · alt+r rename · alt+d delete", "alt+r", "alt+d").WithNew("alt+n")
	}
	return p.open(overlay.Topics, picker, func(c overlay.Chosen) tea.Cmd {
		switch c.Key {
		case "alt+n":
			return p.newTopic(c.Query, c.Value)
		case "alt+r":
			return p.renameTopic(c.Value)
		case "alt+d":
			return p.deleteTopic(c.Value)
		}
		p.session.SetTopic(c.Value)
		return p.info("new messages go to " + topicName(c.Value))
	})
}

// openPairTopic gives the pair with the focus a topic.
func (m *Model) openPairTopic() tea.Cmd {
	p, ok := m.conv.chat.Focused()
	if !ok {
		return nil
	}
	picker := m.pickers.topicPicker("Topic of this pair")
	if m.opts.History != nil {
		picker = picker.WithNew("alt+n").WithKeys("enter selects · alt+n the path that is typed, as a new topic")
	}
	return m.open(overlay.Topics, picker, func(c overlay.Chosen) tea.Cmd {
		to := c.Value
		if c.Key == "alt+n" {
			if to = history.TopicPath(c.Query); to == "" {
				return m.info("type the path of the new topic, then alt+n")
			}
		}
		return m.change(markPair(p.Seq, func(ctx context.Context) (string, error) {
			return "topic: " + topicName(to), m.work.SetTopic(ctx, p.Seq, to)
		}))
	})
}

func (p *pickers) topicPicker(title string) *overlay.Picker {
	entries := []overlay.Entry{{Value: "", Text: topicName("")}}
	at := 0
	for _, t := range p.topics {
		if t == p.session.Topic() {
			at = len(entries)
		}
		depth := strings.Count(t, history.TopicSeparator)
		entries = append(entries, overlay.Entry{Value: t, Text: strings.Repeat("  ", depth) + lastName(t), Extra: t})
	}
	return overlay.NewPicker(title, entries, at)
}

func topicName(path string) string { return orElse(path, "no topic") }

// lastName is the name of a topic without those above it.
func lastName(path string) string {
	if i := strings.LastIndex(path, history.TopicSeparator); i >= 0 {
		return path[i+len(history.TopicSeparator):]
	}
	return path
}

// above is the path of the topic above; "" for one at the top.
func above(path string) string {
	return path[:max(strings.LastIndex(path, history.TopicSeparator), 0)]
}

// newTopic makes the topic whose path stands in the search line, and asks for
// the path when nothing does.
func (p *pickers) newTopic(path, parent string) tea.Cmd {
	if path = history.TopicPath(path); path != "" {
		return p.editTopics("new messages go to "+oneLine(path), "", path, func(ctx context.Context, h history.Store) error {
			return h.CreateTopic(ctx, path)
		})
	}
	if parent != "" {
		parent += history.TopicSeparator
	}
	return p.open(overlay.TopicName, overlay.NewLine("New topic", parent, "the path, as in AI > Agents · enter creates it"), func(c overlay.Chosen) tea.Cmd {
		return p.newTopic(c.Value, "")
	})
}

// renameTopic asks for another name; what lies below moves along.
func (p *pickers) renameTopic(path string) tea.Cmd {
	if path == "" {
		return p.info("pairs without a topic have no name to change")
	}
	return p.open(overlay.TopicName, overlay.NewLine("Rename "+oneLine(path), lastName(path), "a name, or a path to move it · enter renames"), func(c overlay.Chosen) tea.Cmd {
		to := history.TopicPath(c.Value)
		if up := above(path); up != "" && lastName(to) == to {
			to = up + history.TopicSeparator + to
		}
		return p.editTopics(oneLine(path+" is now "+to), path, to, func(ctx context.Context, h history.Store) error {
			return h.MoveTopic(ctx, path, to)
		})
	})
}

// deleteTopic asks; pairs and topics below go to the topic above.
func (p *pickers) deleteTopic(path string) tea.Cmd {
	if path == "" {
		return p.info("pairs without a topic are in none to delete")
	}
	to := above(path)
	return p.ask("Delete the topic "+oneLine(path)+"?", []string{
		"No pair is deleted: its pairs and the topics below it", "go to " + oneLine(topicName(to)) + ".",
	}, "delete", "keep", func() tea.Cmd {
		return p.editTopics(oneLine(path)+" is deleted", path, to, func(ctx context.Context, h history.Store) error {
			return h.DeleteTopic(ctx, path)
		})
	})
}

// editTopics changes the tree.
func (p *pickers) editTopics(notice, from, to string, change func(context.Context, history.Store) error) tea.Cmd {
	h, w := p.opts.History, p.work
	return func() tea.Msg {
		ctx, done := context.Background(), topicsChangedMsg{notice: notice, from: from, to: to}
		if done.err = change(ctx, h); done.err == nil {
			done.topics, done.saved = w.Names(ctx)
		}
		return done
	}
}

// modelList is what the list of models shows first.
type modelList struct{ recent, favourites []string }

// openModels lets the user choose the model: favourites and recent ones first,
// then by provider. It asks the endpoints for what is new meanwhile.
func (p *pickers) openModels() tea.Cmd {
	return tea.Batch(p.showModels(""), refreshModels(p.work))
}

// showModels shows the models that are known; selected is the first, "" the
// current one.
func (p *pickers) showModels(selected string) tea.Cmd {
	const favourite = "alt+f"
	entries, at := p.modelEntries(orElse(selected, p.session.Model()))
	picker := overlay.NewPicker("Model", entries, at).WithKeys("enter selects · "+favourite+" favourite or not", favourite)
	return p.open(overlay.Models, picker, func(c overlay.Chosen) tea.Cmd {
		if c.Key != favourite {
			return pickModel(p.work, c.Value)
		}
		w := p.work
		return func() tea.Msg {
			all, err := w.ToggleFavourite(context.Background(), c.Value)
			return favouritesStoredMsg{id: c.Value, favourites: all, err: err}
		}
	})
}

// onFavourites shows the list again, with the mark that has changed.
func (p *pickers) onFavourites(msg favouritesStoredMsg) tea.Cmd {
	if msg.err != nil {
		return p.fail(msg.err)
	}
	p.models.favourites = msg.favourites
	return p.showModels(msg.id)
}

// modelEntries are the lines of the selector, and the place of a model among
// those of its provider.
func (p *pickers) modelEntries(selected string) (entries []overlay.Entry, at int) {
	byID := map[string]assistant.ModelInfo{}
	all := p.session.Registry().Models()
	for _, info := range all {
		byID[info.ID] = info
	}
	add := func(group string, ids []string) {
		for _, id := range ids {
			if info, ok := byID[id]; ok {
				entries = append(entries, p.modelEntry(info, group, id))
			}
		}
	}
	add("favourites", p.models.favourites)
	add("recent", p.models.recent)
	for _, info := range all {
		if info.NoChat {
			continue
		}
		provider, name, _ := strings.Cut(info.ID, "/")
		if info.ID == selected {
			at = len(entries)
		}
		entries = append(entries, p.modelEntry(info, provider, name))
	}
	return entries, at
}

func (p *pickers) modelEntry(info assistant.ModelInfo, group, text string) overlay.Entry {
	var extra []string
	if info.Tools {
		extra = append(extra, "tools")
	}
	if info.Reasons {
		extra = append(extra, "reasons")
	}
	if info.PriceIn > 0 || info.PriceOut > 0 {
		extra = append(extra, fmt.Sprintf("$%.4g/$%.4g", info.PriceIn, info.PriceOut))
	}
	context := "~"
	if info.Context > 0 {
		context = tokens(info.Context)
	}
	e := overlay.Entry{Value: info.ID, Text: safetext.Visible(text), Group: safetext.Visible(group), Extra: strings.Join(append(extra, context), " · ")}
	if info.ID == p.session.Model() {
		e.Mark = p.styles.Icons.Marked
	}
	return e
}

// tokens says a number of tokens for people.
func tokens(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.3gM", float64(n)/1_000_000)
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

func (p *pickers) onModelPicked(msg modelPickedMsg) tea.Cmd {
	if msg.err != nil {
		return p.fail(msg.err)
	}
	p.models = msg.models
	p.notice.info(safetext.Visible(msg.id) + " answers from the next message on")
	return computeBoundary(p.session)
}

// onModels shows the models that have come.
func (p *pickers) onModels(msg modelsLoadedMsg) tea.Cmd {
	for name, err := range msg.failed {
		p.notice.fail(name + ": its models could not be listed: " + sentence(err))
	}
	o, open := p.overlay.Find(overlay.Models)
	if !open {
		return nil
	}
	entries, _ := p.modelEntries(p.session.Model())
	o.(*overlay.Picker).SetEntries(entries)
	return computeBoundary(p.session)
}

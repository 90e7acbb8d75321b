package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
)

// command is what a line that begins with / does.
type command struct {
	name string
	args string // as help shows them
	help string
	idle bool // refused while a turn runs
	run  func(c *console, args string)
}

// commands are all of them, in the order in which help reads them.
func commands() []command {
	return []command{
		{"help", "", "read this", false, (*console).help},
		{"1", "", "choose the first choice, /2 the second", true, nil},
		{"cancel", "", "cancel the answer, as Ctrl+C does", false, (*console).cancel},
		{"retry", "", "send again what failed or was cancelled; else regenerate the last answer", true, (*console).retry},
		{"reask", "[TEXT]", "send TEXT, or the next message, in place of what failed", true, (*console).reAsk},
		{"queue", "[send|drop]", "the queued message", false, (*console).queued},
		{"pairs", "[N]", "the last 10, or N, messages with their numbers", false, (*console).listPairs},
		{"pair", "[N]", "read pair N with its answer; the last one", false, (*console).readPair},
		{"star", "N 0-3", "give pair N that many stars", false, (*console).star},
		{"flag", "N", "set or remove the flag of pair N", false, (*console).flag},
		{"topic", "[PATH|none]", "the topic of new messages, and those there are", false, (*console).topic},
		{"delete", "N", "delete pair N for good", true, (*console).deletePair},
		{"rules", "", "the rules of the window", false, (*console).listRules},
		{"changes", "", "what a save would change", true, (*console).listChanges},
		{"save", "", "show what would be written, ask, and write", true, (*console).save},
		{"discard", "", "return to what is saved", true, (*console).discard},
		{"undo", "", "undo the newest change, whoever made it", true, (*console).undo},
		{"undo-pairs", "", "undo the last :command of a filter line", false, (*console).undoPairs},
		{"checkpoints", "", "the points to go back to", false, (*console).listCheckpoints},
		{"rollback", "N [rules|conversation]", "go back to checkpoint N, with both or one", true, (*console).rollback},
		{"undo-rollback", "", "undo the last rollback", true, (*console).undoRollback},
		{"models", "[TEXT]", "the models, or those with TEXT in their name", false, (*console).listModels},
		{"model", "N|PROVIDER/NAME", "choose a model for the next message", false, (*console).chooseModel},
		{"filter", "[LINE]", "see, and send, only the pairs that LINE matches; LINE :star 2, :topic NAME, :export … does it to them", false, (*console).filter},
		{"all", "", "see the pairs of all sessions", false, func(c *console, _ string) { c.setFilter("") }},
		{"sessions", "[TEXT]", "the sessions, or those with TEXT in their first message or folder", false, (*console).listSessions},
		{"session", "N", "resume session N", true, (*console).resume},
		{"new", "", "start a new session", true, (*console).newSession},
		{"thinking", "[on|off]", "show the reasoning, or not", false, (*console).setThinking},
		{"request", "[TEXT]", "the exact request that TEXT would send", true, (*console).showRequest},
		{"status", "", "model, context, filter, what is unsaved", false, (*console).showStatus},
		{"quit", "", "end", false, (*console).quit},
	}
}

func commandNamed(name string) *command {
	for _, cmd := range commands() {
		if cmd.name == name && cmd.run != nil {
			return &cmd
		}
	}
	return nil
}

// command runs a line that begins with a slash.
func (c *console) command(text string) {
	name, args, _ := strings.Cut(strings.TrimSpace(text[1:]), " ")
	if c.turn == nil {
		c.dropQuestion() // the user wants something else
	}
	c.endLine()
	number := name != "" && strings.Trim(name, "0123456789") == ""
	cmd := commandNamed(name)
	switch {
	case c.turn != nil && (number || cmd != nil && cmd.idle):
		c.fail(assistant.ErrBusy)
	case number:
		c.choose(name)
	case cmd == nil:
		c.out.line(unknownText(name))
	default:
		cmd.run(c, strings.TrimSpace(args))
	}
}

// unknownText says which commands may have been meant.
func unknownText(name string) string {
	var near []string
	for _, cmd := range commands() {
		if cmd.run != nil && name != "" && strings.HasPrefix(cmd.name, name[:1]) {
			near = append(near, "/"+cmd.name)
		}
	}
	text := "There is no command /" + visibleLine(name) + "."
	if len(near) > 0 {
		text += " There is " + strings.Join(near, ", ") + "."
	}
	return text + " /help lists all. Two slashes begin a message with one."
}

func (c *console) help(string) {
	c.out.line("One line is one message. A backslash at the end of a line continues on the next line; \"\"\" begins a message of many lines and ends it.")
	c.out.line("While the assistant works, a message waits for the end of its answer. Ctrl+C cancels the answer; twice with nothing to cancel, it quits.")
	c.out.line("A number alone is a message; a slash and a number choose. What is permanent is asked about, and only the word yes does it.")
	for _, cmd := range commands() {
		c.indented(strings.TrimSpace("/"+cmd.name+" "+cmd.args) + ": " + cmd.help)
	}
}

// advice is what to do about an error, in the words of this console.
var advice = []struct {
	err  error
	text string
}{
	{assistant.ErrBusy, "the assistant is working; Ctrl+C or /cancel cancels it"},
	{assistant.ErrNoModel, "no model is selected; /models lists them, /model chooses one, /retry then sends the message"},
	{workspace.ErrNoHistory, "there is no history in this run, only this session"},
}

// fail shows an error.
func (c *console) fail(err error) {
	text := namedKeys(err.Error())
	for _, a := range advice {
		if errors.Is(err, a.err) {
			text = a.text
		}
	}
	label := "Error"
	var syntax *filter.Error
	if errors.As(err, &syntax) {
		label = "Filter"
	}
	c.complain(label, text)
}

func (c *console) complain(label, text string) {
	c.endLine()
	c.out.fresh()
	c.err.raw(c.err.painted(redOn, label+":") + " " + c.err.safe(text) + "\n")
}

// namedKeys names the keys of this console where a text of the core names those
// of the screen.
func namedKeys(text string) string {
	return strings.ReplaceAll(text, "esc cancels", "Ctrl+C or /cancel cancels")
}

// index is the index of an entry that the user calls by its number from 1; what
// is wrong is shown.
func (c *console) index(number string, n int, wrong string) (i int, ok bool) {
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > n {
		c.out.line(wrong)
		return 0, false
	}
	return i - 1, true
}

// filter shows the filter, or sets it.
func (c *console) filter(line string) {
	if line == "" {
		c.out.labelled("Filter", filterName(c.s.Filter()))
		return
	}
	c.setFilter(line)
}

func filterName(line string) string {
	switch line {
	case "":
		return "none, all pairs of all sessions"
	case "x":
		return "x, the pairs of this session"
	}
	return line
}

// setFilter makes what a line matches the view, or executes its :command.
func (c *console) setFilter(line string) {
	if q, err := filter.Parse(line); err == nil && q.Command != nil {
		c.execute(line)
		return
	}
	var found workspace.Filtered
	if !c.run(func(ctx context.Context) (err error) { found, err = c.w.SetFilter(ctx, line); return err }) {
		return
	}
	for _, h := range found.Hints {
		c.out.line(h.String())
	}
	c.choices, c.counter = nil, c.s.Counter()
	c.out.line(assistant.Counted(len(found.Refs), "pair") + ". " + c.contextText())
}

// execute executes the :command of a filter line. A change of many pairs, or for
// good, is asked about.
func (c *console) execute(line string) {
	var o history.Command
	if !c.run(func(ctx context.Context) (err error) { o, err = c.w.PlanCommand(ctx, line); return err }) {
		return
	}
	does := upperFirst(o.Does())
	switch o.Confirm() {
	case history.ConfirmNewTopic:
		c.out.labelled("Question", "There is no topic "+o.Topic+". Create it? "+does+".")
	case history.ConfirmDelete:
		c.out.labelled("Question", does+" for good?")
	case history.ConfirmMany:
		c.out.labelled("Question", does+"?")
	default:
		c.executed(o, line)
		return
	}
	if c.turn != nil { // its question may come
		c.fail(assistant.ErrBusy)
		return
	}
	c.askYes("Type yes to do it: ", func() { c.executed(o, line) })
}

func (c *console) executed(o history.Command, line string) {
	var out history.Outcome
	if !c.run(func(ctx context.Context) (err error) { out, err = c.w.Execute(ctx, o, line); return err }) {
		return
	}
	for _, f := range out.Filters {
		c.indented("@" + f.Name + ": " + f.Line)
	}
	if out.Text != "" {
		c.out.line(upperFirst(out.Text) + ".")
	}
	if out.CanUndo() {
		c.out.line("/undo-pairs undoes it.")
	}
	c.showChanges()
}

func (c *console) undoPairs(string) {
	out, err := c.w.UndoCommand(c.ctx)
	switch {
	case errors.Is(err, workspace.ErrNothingToUndo):
		c.out.line("There is no command on pairs to undo.")
	case err != nil:
		c.fail(err)
	default:
		c.out.line("Undone: " + out.Undone() + ".")
		c.showChanges()
	}
}

func (c *console) setThinking(word string) {
	c.thinking = word == "on" || word == "" && !c.thinking
	if c.thinking {
		c.out.line("The reasoning is shown.")
	} else {
		c.out.line("The reasoning is not shown.")
	}
}

// showRequest shows the exact request that a text would send.
func (c *console) showRequest(text string) {
	if text == "" {
		text = c.unsent
	}
	_, body, err := c.w.Request(c.ctx, text)
	if err != nil {
		c.fail(err)
		return
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "", "  ") != nil {
		pretty.Reset()
		pretty.Write(body)
	}
	c.out.line(pretty.String())
}

// showStatus shows what a screen always shows.
func (c *console) showStatus(string) {
	c.o.Window.Changed()
	st, b := c.o.Window.Status(), c.s.Boundary()
	about := ""
	if !b.Known {
		about = "about "
	}
	c.out.labelled("Window", strings.TrimSpace(st.Title+" "+st.Subtitle))
	c.out.line(c.modelText() + ".")
	c.out.line(c.contextText() + fmt.Sprintf(" The model takes %s%d tokens, %d are for the system prompt and tools, %d are the history, %d are kept for the next message.",
		about, b.ML, b.SYS, b.HistoryTokens, c.s.Settings().Budget.URA()))
	c.out.labelled("Filter", filterName(c.s.Filter()))
	if topic := c.s.Topic(); topic != "" {
		c.out.labelled("Topic", topic)
	}
	c.out.labelled("Checkpoints", strconv.Itoa(len(c.s.Checkpoints())))
	if st.Unsaved {
		c.out.line("There are unsaved changes.")
	} else {
		c.out.line("Nothing is unsaved.")
	}
	if c.turn != nil {
		c.out.line("The assistant is working.")
	}
	if p, waits := c.w.Queued(); waits {
		c.out.labelled("Queued", oneLine(p.Text))
	}
}

package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/llm"
	"winnow/assistant/workspace"
	"winnow/tui/pane"
)

// command is what a line that begins with / does.
type command struct {
	name      string
	args      string // as help shows them
	help      string
	needsIdle bool // refused while a turn runs
	run       func(c *console, args string) error
}

// commands are all of them, in the order in which help reads them.
func commands() []command {
	return []command{
		{"help", "", "read this", false, (*console).help},
		{"cancel", "", "cancel the answer, as Ctrl+C does", false, (*console).cancel},
		{"retry", "", "send again what failed or was cancelled; else regenerate the last answer", true, (*console).retry},
		{"reask", "[TEXT]", "send TEXT, or the next message, in place of what failed", true, (*console).reAsk},
		{"queue", "[send|drop]", "the queued message", false, (*console).queued},
		{"pairs", "[N]", "the last 10, or N, messages with their numbers", false, (*console).listPairs},
		{"pair", "[N]", "read pair N, or the last one, with its answer", false, (*console).readPair},
		{"star", "N 0-3", "give pair N that many stars", false, (*console).star},
		{"flag", "N", "set or remove the flag of pair N", false, (*console).flag},
		{"topic", "[PATH|none]", "show or set the topic of new messages", false, (*console).topic},
		{"delete", "N", "delete pair N for good", true, (*console).deletePair},
		{"rules", "", "the rules of the window", false, (*console).listRules},
		{"changes", "", "what a save would change", true, func(c *console, _ string) error { _, err := c.planSave(); return err }},
		{"save", "", "show what would be written, ask, and write", true, func(c *console, _ string) error { return c.saveThen(func() {}) }},
		{"discard", "", "return to what is saved", true, (*console).discard},
		{"undo", "", "undo the newest change, whoever made it", true, (*console).undo},
		{"undo-pairs", "", "undo the last :command of a filter line", false, (*console).undoPairs},
		{"checkpoints", "", "the points to go back to", false, (*console).listCheckpoints},
		{"rollback", "N [rules|conversation]", "go back to checkpoint N, with both or one", true, (*console).rollback},
		{"undo-rollback", "", "undo the last rollback", true, (*console).undoRollback},
		{"models", "[TEXT]", "the models, or those with TEXT in their name", false, (*console).listModels},
		{"model", "N|PROVIDER/NAME", "choose a model for the next message", false, (*console).chooseModel},
		{"filter", "[LINE]", "see, and send, only the pairs that LINE matches; LINE :star 2, :topic NAME, :export … does it to them", false, (*console).filter},
		{"all", "", "see the pairs of all sessions", false, func(c *console, _ string) error { return c.setFilter("") }},
		{"sessions", "[TEXT]", "the sessions, or those with TEXT in their first message or folder", false, (*console).listSessions},
		{"session", "N", "resume session N", true, (*console).resume},
		{"new", "", "start a new session", true, (*console).newSession},
		{"thinking", "[on|off]", "show or hide the reasoning", false, (*console).setThinking},
		{"request", "[TEXT]", "the exact request that TEXT would send", true, (*console).showRequest},
		{"status", "", "model, context, filter, what is unsaved", false, (*console).showStatus},
		{"quit", "", "quit winnow", false, (*console).quit},
	}
}

func commandNamed(name string) *command {
	for _, cmd := range commands() {
		if cmd.name == name {
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
	case c.turn != nil && (number || cmd != nil && cmd.needsIdle):
		c.fail(assistant.ErrBusy)
	case number:
		c.fail(c.choose(name))
	case cmd == nil:
		c.out.line(unknownText(name))
	default:
		c.fail(cmd.run(c, strings.TrimSpace(args)))
	}
}

// unknownText says which commands may have been meant.
func unknownText(name string) string {
	var near []string
	for _, cmd := range commands() {
		if name != "" && strings.HasPrefix(cmd.name, name[:1]) {
			near = append(near, "/"+cmd.name)
		}
	}
	text := "There is no command /" + visibleLine(name) + "."
	if len(near) > 0 {
		text += " There is " + strings.Join(near, ", ") + "."
	}
	return text + " /help lists all. Two slashes begin a message that starts with one."
}

func (c *console) help(string) error {
	c.out.line("One line is one message. A backslash at the end of a line continues on the next line; \"\"\" begins a message of many lines and ends it.")
	c.out.line("While the assistant works, a message waits for the end of its answer. Ctrl+C cancels the answer; twice with nothing to cancel, it quits.")
	c.out.line("A number alone is a message; a slash and a number, as in /1, chooses what is offered. winnow asks before it does anything permanent, and only the word yes confirms.")
	for _, cmd := range commands() {
		c.out.indented(strings.TrimSpace("/"+cmd.name+" "+cmd.args) + ": " + cmd.help)
	}
	return nil
}

// reply is a text for the user that a command returns in place of an error.
type reply string

func (h reply) Error() string { return string(h) }

// advice is what to do about an error, in the words of this console.
var advice = map[error]string{
	assistant.ErrBusy:          "the assistant is working; Ctrl+C or /cancel cancels it",
	assistant.ErrNoModel:       "no model is selected; /models lists them, /model chooses one, /retry then sends the message",
	llm.ErrModelGone:           "the endpoint no longer offers this model; /models lists them, /model chooses another",
	workspace.ErrNoHistory:     "there is no history in this run, only this session",
	workspace.ErrNothingToUndo: "there is nothing to undo",
	fs.ErrExist:                "that file is there already; --force overwrites it",
}

// commandNames names the commands that take the place of keys in the way out of an
// error. /retry and /reask are offered after every error, in a line of their own.
var commandNames pane.Keys = func(action string) string {
	return map[string]string{"models": "/model"}[action]
}

// fail shows an error, if there is one.
func (c *console) fail(err error) {
	var wrong reply
	var syntax *filter.Error
	switch {
	case err == nil:
		return
	case errors.As(err, &wrong):
		c.out.line(string(wrong))
		return
	case errors.As(err, &syntax):
		c.printError("Filter", err.Error())
		return
	}
	text := consoleKeys(err.Error())
	for known, words := range advice {
		if errors.Is(err, known) {
			text = words
		}
	}
	c.printError("Error", text)
}

func (c *console) printError(label, text string) {
	c.endLine()
	c.out.endLine()
	c.err.styled(redOn, label, text)
}

// consoleKeys replaces the keys that a text for the screen names.
func consoleKeys(text string) string {
	return strings.ReplaceAll(text, "esc cancels", "Ctrl+C or /cancel cancels")
}

// index is the index of the entry that the user gives by its number from 1; usage
// is the reply when there is none.
func index(number string, n int, usage string) (int, error) {
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > n {
		return 0, reply(usage)
	}
	return i - 1, nil
}

// maxListed is how many models or sessions are listed at once; a TEXT finds others.
const maxListed = 20

// numbered lists entries with their numbers; more says how to find the others.
func (c *console) numbered(title string, n int, entry func(i int) string, more string) {
	c.out.line(title)
	for i := range min(n, maxListed) {
		c.out.indented(fmt.Sprintf("%d %s", i+1, entry(i)))
	}
	if n > maxListed {
		c.out.line(fmt.Sprintf("%d more; %s.", n-maxListed, more))
	}
}

func (c *console) listModels(text string) error {
	c.models = nil
	for _, m := range c.session.Registry().Models() {
		if !m.NoChat && strings.Contains(strings.ToLower(m.ID), strings.ToLower(text)) {
			c.models = append(c.models, m.ID)
		}
	}
	if len(c.models) == 0 {
		return reply("No model is known by that name. /model PROVIDER/NAME chooses one that is not listed.")
	}
	c.numbered("Models, /model and the number chooses:", len(c.models), func(i int) string {
		if c.models[i] == c.session.Model() {
			return visibleLine(c.models[i]) + ", chosen"
		}
		return visibleLine(c.models[i])
	}, "/models TEXT finds those with TEXT in their name")
	return nil
}

func (c *console) chooseModel(id string) error {
	if _, err := strconv.Atoi(id); err == nil {
		i, err := index(id, len(c.models), "There is no model of that number; /models lists and numbers them.")
		if err != nil {
			return err
		}
		id = c.models[i]
	}
	if id == "" {
		return reply(c.modelText() + ".")
	}
	if err := c.workspace.PickModel(c.ctx, id); err != nil {
		return err
	}
	c.out.line(c.modelText() + " from the next message on.")
	c.showChanges()
	return nil
}

func (c *console) setThinking(word string) error {
	c.showReasoning = word == "on" || word == "" && !c.showReasoning
	if c.showReasoning {
		return reply("The reasoning is shown.")
	}
	return reply("The reasoning is not shown.")
}

// showRequest shows the exact request that a text would send.
func (c *console) showRequest(text string) error {
	if text == "" {
		text = c.unsent
	}
	_, body, err := c.workspace.Request(c.ctx, text)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "", "  "); err != nil {
		return err
	}
	c.out.line(pretty.String())
	return nil
}

// showStatus shows what a screen always shows.
func (c *console) showStatus(string) error {
	c.opts.Window.Changed()
	st, b := c.opts.Window.Status(), c.session.Boundary()
	about := map[bool]string{false: "about "}[b.Known]
	c.out.labelled("Window", strings.TrimSpace(st.Title+" "+st.Subtitle))
	c.out.line(c.modelText() + ".")
	c.out.line(c.contextText() + fmt.Sprintf(" The model takes %s%d tokens, %d are for the system prompt and tools, %d are the history, %d are reserved for the next message.",
		about, b.ML, b.SYS, b.HistoryTokens, c.session.Settings().Budget.URA()))
	c.out.labelled("Filter", filterName(c.session.Filter()))
	if topic := c.session.Topic(); topic != "" {
		c.out.labelled("Topic", topic)
	}
	c.out.labelled("Checkpoints", strconv.Itoa(len(c.session.Checkpoints())))
	c.out.line(map[bool]string{true: "There are unsaved changes.", false: "Nothing is unsaved."}[st.Unsaved])
	if c.turn != nil {
		c.out.line("The assistant is working.")
	}
	if p, waits := c.workspace.Queued(); waits {
		c.out.labelled("Queued", oneLine(p.Text))
	}
	return nil
}

// contextText is the context counter as a sentence.
func (c *console) contextText() string {
	return "Context " + strings.ReplaceAll(c.session.Counter(), "/", " of ") + "."
}

func (c *console) modelText() string {
	if id := c.session.Model(); id != "" {
		return "Model " + visibleLine(id)
	}
	return "No model is selected; /models lists them"
}

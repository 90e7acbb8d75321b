package plain

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/llm"
	"winnow/assistant/nearest"
	"winnow/assistant/workspace"
	"winnow/tui/lines"
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
		{"topic", "[PATH|none]", "show or set the topic of new messages", false, (*console).topic},
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
		{"filter", "[LINE]", "see, and send, only the pairs that LINE matches; LINE :star 2, :flag, :topic NAME, :delete, :export … does it to them", false, (*console).filter},
		{"all", "", "see the pairs of all sessions", false, func(c *console, _ string) error { return c.setFilter("") }},
		{"sessions", "[TEXT]", "the sessions, or those with TEXT in their first message or folder", false, (*console).listSessions},
		{"session", "N", "resume session N", true, (*console).resume},
		{"new", "", "start a new session", true, (*console).newSession},
		{"thinking", "[on|off]", "show or hide the reasoning", false, (*console).setThinking},
		{"status", "", "model, context, filter, what is unsaved", false, (*console).showStatus},
		{"quit", "", "quit winnow", false, (*console).quit},
	}
}

// command runs a line that begins with a slash.
func (c *console) command(text string) {
	name, args, _ := strings.Cut(strings.TrimSpace(text[1:]), " ")
	if c.turn == nil {
		c.dropQuestion() // the user wants something else
	}
	c.endLine()
	number := name != "" && strings.Trim(name, "0123456789") == ""
	cmd, names := command{}, []string(nil)
	for _, known := range commands() {
		if names = append(names, known.name); known.name == name {
			cmd = known
		}
	}
	switch {
	case c.turn != nil && (number || cmd.needsIdle):
		c.fail(assistant.ErrBusy)
	case number:
		c.fail(c.choose(name))
	case cmd.run == nil:
		c.out.Line("There is no command /" + lines.Name(name) + "." + nearest.Hint(name, names) + " Two slashes begin a message that starts with one.")
	default:
		c.fail(cmd.run(c, strings.TrimSpace(args)))
	}
}

func (c *console) help(string) error {
	c.out.Line("One line is one message. A backslash at the end of a line continues on the next line; \"\"\" begins a message of many lines and ends it.")
	c.out.Line("While the assistant works, a message waits for the end of its answer. Ctrl+C cancels the answer; twice with nothing to cancel, it quits.")
	c.out.Line("A number alone is a message; a slash and a number, as in /1, chooses what is offered. winnow asks before it does anything permanent, and only the word yes confirms.")
	for _, cmd := range commands() {
		c.out.Indent(strings.TrimSpace("/"+cmd.name+" "+cmd.args) + ": " + cmd.help)
	}
	return nil
}

// reply is a sentence that a command returns in place of an error: it was used
// wrongly, or there is nothing to do.
type reply string

func (r reply) Error() string { return string(r) }

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
	if err == nil {
		return
	}
	if answer, isReply := errors.AsType[reply](err); isReply {
		c.out.Line(string(answer))
		return
	}
	label, text := "Error", err.Error()
	if _, isSyntax := errors.AsType[*filter.Error](err); isSyntax {
		label = "Filter"
	}
	for known, words := range advice {
		if errors.Is(err, known) {
			text = words
		}
	}
	c.printError(label, text)
}

func (c *console) printError(label, text string) {
	c.endLine()
	c.out.End()
	c.err.Error(label, text)
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

// numbered lists n entries with their numbers; more says how to find those beyond
// maxListed.
func (c *console) numbered(title string, n int, entry func(i int) string, more string) {
	c.out.Line(title)
	for i := range min(n, maxListed) {
		c.out.Indent(fmt.Sprintf("%d %s", i+1, entry(i)))
	}
	if n > maxListed {
		c.out.Line(fmt.Sprintf("%d more; %s.", n-maxListed, more))
	}
}

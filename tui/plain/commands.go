package plain

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/llm"
	"winnow/assistant/nearest"
	"winnow/assistant/workspace"
	"winnow/tui/lines"
	"winnow/tui/pane"
	"winnow/tui/slash"
)

// command is what a command of the table does here.
type command struct {
	run       func(c *console, args string) error
	needsIdle bool // refused while a turn runs
}

// commands are all of slash.Table, by name.
func commands() map[string]command {
	return map[string]command{
		"help":          {run: (*console).help},
		"cancel":        {run: (*console).cancel},
		"retry":         {(*console).retry, true},
		"reask":         {(*console).reAsk, true},
		"queue":         {run: (*console).queued},
		"pairs":         {run: (*console).listPairs},
		"pair":          {run: (*console).readPair},
		"topic":         {run: (*console).topic},
		"rules":         {run: (*console).listRules},
		"changes":       {(*console).showUnsaved, true},
		"save":          {func(c *console, _ string) error { return c.saveThen(func() {}) }, true},
		"discard":       {(*console).discard, true},
		"undo":          {(*console).undo, true},
		"undo-pairs":    {run: (*console).undoPairs},
		"checkpoints":   {run: (*console).listCheckpoints},
		"rollback":      {(*console).rollback, true},
		"undo-rollback": {(*console).undoRollback, true},
		"connect":       {(*console).connect, true},
		"models":        {run: (*console).listModels},
		"model":         {run: (*console).chooseModel},
		"filter":        {run: (*console).filter},
		"all":           {run: func(c *console, _ string) error { return c.setFilter("") }},
		"sessions":      {run: (*console).listSessions},
		"session":       {(*console).resume, true},
		"new":           {(*console).newSession, true},
		"thinking":      {run: (*console).setThinking},
		"status":        {run: (*console).showStatus},
		"quit":          {run: (*console).quit},
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
	all := commands()
	cmd := all[name]
	switch {
	case c.turn != nil && (number || cmd.needsIdle):
		c.fail(assistant.ErrBusy)
	case number:
		c.fail(c.choose(name))
	case cmd.run == nil:
		c.out.Line("There is no command /" + lines.Name(name) + "." + nearest.Hint(name, slices.Sorted(maps.Keys(all))) + " Two slashes begin a message that starts with one.")
	default:
		c.fail(cmd.run(c, strings.TrimSpace(args)))
	}
}

// help explains a topic, or lists the commands.
func (c *console) help(topic string) error {
	if topic != "" {
		page, err := slash.TopicNamed(topic, c.opts.Topics)
		if err == nil {
			c.out.Line(strings.Join(page.Lines(), "\n"))
		}
		return err
	}
	c.out.Line("One line is one message. A backslash at the end of a line continues on the next line; \"\"\" begins a message of many lines and ends it.")
	c.out.Line("While the assistant works, a message waits for the end of its answer. Ctrl+C cancels the answer; twice with nothing to cancel, it quits.")
	c.out.Line("A number alone is a message; a slash and a number, as in /1, chooses what is offered. winnow asks before it does anything permanent, and only the word yes confirms.")
	for _, cmd := range slash.Table() {
		if cmd.Help != "" {
			c.out.Indent(strings.TrimSpace("/"+cmd.Name+" "+cmd.Console) + ": " + cmd.Help)
		}
	}
	var topics []string
	for _, t := range c.opts.Topics {
		topics = append(topics, t.Name)
	}
	if topics != nil {
		c.out.Line("/help and one of these explains it: " + strings.Join(topics, ", ") + ".")
	}
	return nil
}

// connect connects a model by questions.
func (c *console) connect(string) error {
	if c.opts.Connect == nil || !c.opts.Interactive {
		return reply("winnow config connect connects a model.")
	}
	d := lines.Dialogue{Out: c.out, In: c.input, Interrupt: c.opts.Interrupt, Now: c.opts.Now, Hide: c.opts.Hide}
	return d.Run(c.ctx, c.opts.Connect)
}

// reply is a sentence that a command returns in place of an error: it was used
// wrongly, or there is nothing to do.
type reply string

func (r reply) Error() string { return string(r) }

// advice is what to do about an error, in the words of this console.
var advice = map[error]string{
	assistant.ErrBusy:          "the assistant is working; Ctrl+C or /cancel cancels it",
	assistant.ErrNoModel:       "no model is selected; /models lists them, /model chooses one, /retry then sends the message",
	llm.ErrNoVision:            "the model cannot see pictures; /models lists others, /model chooses one",
	llm.ErrModelGone:           "/models lists those that are, /model chooses another",
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
	if errors.Is(err, llm.ErrModelGone) { // which one, and since when
		text = err.Error() + "; " + text
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

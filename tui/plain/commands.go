package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/advice"
	"winnow/assistant/filter"
	"winnow/assistant/nearest"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// commands returns the functions that carry out the commands of keymap.CommandTable, by name.
func commands() map[string]func(c *console, ctx context.Context, args string) error {
	return map[string]func(c *console, ctx context.Context, args string) error{
		"help":     (*console).help,
		"model":    (*console).model,
		"connect":  (*console).connect,
		"filter":   (*console).filter,
		"session":  (*console).switchSession,
		"hide":     ruleCommand(keymap.AddIgnore),
		"allow":    ruleCommand(keymap.AddAllow),
		"why":      ruleCommand(keymap.WhyModel),
		"save":     func(c *console, ctx context.Context, _ string) error { _, err := c.save(ctx); return err },
		"undo":     (*console).undo,
		"discard":  (*console).discard,
		"rollback": (*console).rollback,
		"retry":    (*console).retry,
		"answer":   (*console).answers,
		"cost":     (*console).cost,
		"keep":     (*console).keep,
		"again":    (*console).again,
		"branch":   (*console).branch,
		"title":    (*console).title,
		"rules":    (*console).listRules,
		"status":   (*console).showStatus,
		"messages": (*console).listPairs,
		"message":  (*console).readPair,
		"quit":     (*console).quit,
	}
}

// formerNames maps former names of commands to their current names; the former names still
// work.
var formerNames = map[string]string{"pairs": "messages", "pair": "message"}

// command runs a line that begins with a slash.
func (c *console) command(ctx context.Context, text string) error {
	name, args, _ := strings.Cut(strings.TrimSpace(text[1:]), " ")
	if name != "" && strings.Trim(name, "0123456789") == "" {
		return c.choose(ctx, name)
	}
	all := commands()
	run := all[cmp.Or(formerNames[name], name)]
	if run == nil {
		return reply("There is no command /" + Name(name) + "." + nearest.Hint(name, slices.Sorted(maps.Keys(all))) + " To send a message that begins with a slash, begin it with two.")
	}
	return run(c, ctx, strings.TrimSpace(args))
}

// help explains a topic, or lists the commands.
func (c *console) help(_ context.Context, topic string) error {
	if topic != "" {
		page, err := keymap.TopicNamed(topic, c.opts.Topics)
		if err == nil {
			c.out.Line(strings.Join(page.Lines(), "\n"))
		}
		return err
	}
	c.out.Line("One line is one message. A backslash at the end of a line continues the message on the next line; \"\"\" begins and ends a message of several lines.")
	c.out.Line("What you type while the assistant is working is handled after its answer. Ctrl+C cancels the answer; pressed twice when nothing is running, it quits.")
	c.out.Line("A number alone is a message; a slash and a number, as in /1, picks one of the numbered choices. winnow asks before it does anything permanent, and only the word yes confirms.")
	for _, cmd := range keymap.CommandTable() {
		if cmd.Console != "" {
			c.out.Indent("/" + cmd.Console + ": " + cmd.Help)
		}
	}
	var topics []string
	for _, t := range c.opts.Topics {
		topics = append(topics, t.Name)
	}
	if topics != nil {
		c.out.Line("/help TOPIC explains one of these topics: " + strings.Join(topics, ", ") + ".")
	}
	return nil
}

// connect connects a model: it asks the user for what it needs.
func (c *console) connect(ctx context.Context, _ string) error {
	if c.opts.Connect == nil || !c.opts.Interactive {
		return reply("To connect a model, run winnow config connect.")
	}
	return c.opts.Connect(ctx, c.out.Line, func(ctx context.Context, prompt safetext.Text, hidden bool) (string, error) {
		return c.reply(ctx, string(prompt), hidden, false)
	})
}

// offer prints the choices of a pair, with the same numbers as on the screen.
func (c *console) offer(seq int64) {
	p, err := c.pair(c.ctx, seq)
	if seq == 0 || err != nil {
		return // the answer has been printed; only its choices are missing
	}
	c.choices, c.choicesSeq = pane.Choices(p, func(t string) bool { return t == pane.RuleProposal }), seq
	c.listChoices("Choices")
}

func (c *console) listChoices(title string) {
	if len(c.choices) == 0 {
		return
	}
	c.out.Line(title + " (/NUMBER chooses):")
	for i, ch := range c.choices {
		text := fmt.Sprintf("/%d %s", i+1, choiceText(ch))
		if sends := ch.Unlabelled(); len(sends) == 1 {
			text += ": " + sends[0]
		} else if len(sends) > 1 {
			text += ":\n     " + strings.Join(sends, "\n     ")
		}
		c.out.Indent(text)
	}
}

// choiceText returns the label of a choice. For a choice that accepts a proposal, the
// summary of the proposal follows.
func choiceText(ch pane.Choice) string {
	if ch.Accept {
		return ch.Label + ": " + Name(ch.Summary)
	}
	return ch.Label
}

// choose carries out the choice with the given number.
func (c *console) choose(ctx context.Context, number string) error {
	i, err := index(number, len(c.choices), fmt.Sprintf("There is no choice %s; choices offered: %d.", Name(number), len(c.choices)))
	if err != nil {
		return err
	}
	ch := c.choices[i]
	switch {
	case ch.Proposals != nil:
		return c.decide(ctx, ch)
	case ch.Message != "":
		if c.opts.Interactive {
			c.out.Label("You", ch.Message)
		}
		return c.send(ctx, assistant.Prompt{Text: ch.Message}, ch.Message)
	case ch.Action.Action == "show_changes" || ch.Action.Action == "open_save":
		_, err = c.save(ctx)
		return err
	}
	return c.listRules(ctx, "")
}

// decide accepts or rejects a proposal. Accepting starts a turn.
func (c *console) decide(ctx context.Context, ch pane.Choice) error {
	seq := c.choicesSeq
	after, err := c.workspace.Decide(context.WithoutCancel(ctx), seq, ch.Proposals, ch.Accept, nil)
	switch {
	case err != nil:
		return err
	case !ch.Accept:
		c.out.Line("Rejected; the assistant learns of it with your next message.")
		c.offer(seq)
	default:
		c.follow(ctx, after, assistant.Prompt{}, choiceText(ch))
	}
	return nil
}

// reply is a sentence that a command returns instead of an error: the command was used
// incorrectly, or it had nothing to do.
type reply string

func (r reply) Error() string { return string(r) }

// commandNames returns the command or option that advice about an error names in place of a
// key; "" if there is none. It omits /retry, which is offered on a separate line after
// every error.
func commandNames(action string) string {
	switch action {
	case advice.Models:
		return "/model"
	case advice.Force:
		return "--force"
	}
	return ""
}

// fail prints an error; nil prints nothing.
func (c *console) fail(err error) {
	if err == nil {
		return
	}
	if answer, isReply := errors.AsType[reply](err); isReply {
		c.out.Line(string(answer))
		return
	}
	label := "Error"
	if _, isSyntax := errors.AsType[*filter.Error](err); isSyntax {
		label = "Filter"
	}
	cause, next := advice.ForError(err, commandNames)
	if next != "" {
		cause += "; " + next
	}
	c.printError(label, cause)
}

func (c *console) printError(label, text string) {
	c.out.End()
	c.err.Error(label, text)
}

// nothingDone reports that the user answered a question with no.
func (c *console) nothingDone() { c.out.Line("Nothing was done.") }

// index converts a number typed by the user, which counts n entries from 1, to an index. If
// there is no such entry, it returns usage as a reply.
func index(number string, n int, usage string) (int, error) {
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > n {
		return 0, reply(usage)
	}
	return i - 1, nil
}

// maxListed is how many models or sessions are listed at once; the user finds the others by
// text.
const maxListed = 20

// numbered lists the first maxListed of n entries with numbers. If there are more, it says how
// many, followed by more, which says how to find them.
func (c *console) numbered(title string, n int, entry func(i int) string, more string) {
	c.out.Line(title)
	for i := range min(n, maxListed) {
		c.out.Indent(fmt.Sprintf("%d %s", i+1, entry(i)))
	}
	if n > maxListed {
		c.out.Line(fmt.Sprintf("%d more; %s.", n-maxListed, more))
	}
}

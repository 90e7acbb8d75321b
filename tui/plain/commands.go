package plain

import (
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
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
		{"cancel", "", "break off the answer, as Ctrl+C does", false, (*console).cancelAsked},
		{"retry", "", "send again what failed or was cancelled; else make the last answer anew", true, (*console).retry},
		{"reask", "[TEXT]", "send TEXT, or the next message, in the place of what failed", true, (*console).reAsk},
		{"queue", "[send|drop]", "the message that waits", false, (*console).queueDo},
		{"pairs", "[N]", "the last 10, or N, messages with their numbers", false, (*console).listPairs},
		{"pair", "[N]", "read pair N with its answer; the last one", false, (*console).readPair},
		{"star", "N 0-3", "give pair N that many stars", false, (*console).star},
		{"flag", "N", "turn the flag of pair N over", false, (*console).flag},
		{"topic", "[PATH|none]", "the topic of new messages, and those there are", false, (*console).topic},
		{"delete", "N", "delete pair N for good", true, (*console).deletePair},
		{"rules", "", "the rules of the window", false, (*console).listRules},
		{"changes", "", "what a save would change", true, (*console).showChanges},
		{"save", "", "show what would be written, ask, and write", true, (*console).save},
		{"discard", "", "go back to what is saved", true, (*console).discard},
		{"undo", "", "take back the newest change, whoever made it", true, (*console).undo},
		{"undo-pairs", "", "take back what the last :command of a filter line did to pairs", false, (*console).undoPairs},
		{"checkpoints", "", "the points to go back to", false, (*console).listCheckpoints},
		{"rollback", "N [rules|conversation]", "go back to checkpoint N, with both or one", true, (*console).rollback},
		{"undo-rollback", "", "take the last rollback back", true, (*console).undoRollback},
		{"models", "[TEXT]", "the models, or those with TEXT in their name", false, (*console).listModels},
		{"model", "N|PROVIDER/NAME", "choose a model for the next message", false, (*console).chooseModel},
		{"filter", "[LINE]", "see, and send, only the pairs that LINE selects; LINE :star 2, :topic NAME, :export … does it to them", false, (*console).filter},
		{"all", "", "see the pairs of all sessions", false, (*console).showAll},
		{"sessions", "[TEXT]", "the sessions, or those with TEXT in their first message or folder", false, (*console).listSessions},
		{"session", "N", "go on with session N", true, (*console).goOn},
		{"new", "", "begin a new session", true, (*console).renew},
		{"thinking", "[on|off]", "read the text of the thinking, or not", false, (*console).setThinking},
		{"request", "[TEXT]", "the exact request that TEXT would send", true, (*console).showRequest},
		{"status", "", "model, context, filter, what is unsaved", false, (*console).readStatus},
		{"quit", "", "end", false, (*console).quitAsked},
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

// command carries out a line that begins with a slash.
func (c *console) command(text string) {
	name, args, _ := strings.Cut(strings.TrimSpace(text[1:]), " ")
	args = strings.TrimSpace(args)
	if c.turn == nil {
		c.dropQuestion() // something else was wanted
	}
	c.settle()
	number := name != "" && strings.Trim(name, "0123456789") == ""
	cmd := commandNamed(name)
	switch {
	case c.turn != nil && (number || (cmd != nil && cmd.idle)):
		c.fail(assistant.ErrBusy)
	case number:
		c.choose(name)
	case cmd == nil:
		c.out.line(unknown(name))
	default:
		cmd.run(c, args)
	}
}

// unknown says what may have been meant.
func unknown(name string) string {
	var near []string
	for _, cmd := range commands() {
		if cmd.run != nil && name != "" && strings.HasPrefix(cmd.name, name[:1]) {
			near = append(near, "/"+cmd.name)
		}
	}
	said := "There is no command /" + safetext.Line(name, maxLabel) + "."
	if len(near) > 0 {
		said += " There is " + strings.Join(near, ", ") + "."
	}
	return said + " /help lists all. Two slashes begin a message with one."
}

func (c *console) help(string) {
	c.out.line("One line is one message. A backslash at the end of a line goes on with the next line; \"\"\" begins a message of many lines and ends it.")
	c.out.line("While the assistant works, a message waits for the end of its answer. Ctrl+C breaks the answer off; twice with nothing to break off, it quits.")
	c.out.line("A number alone is a message; a slash and a number choose. What lasts is asked about, and only the word yes does it.")
	for _, cmd := range commands() {
		c.out.line("  " + strings.TrimSpace("/"+cmd.name+" "+cmd.args) + ": " + cmd.help)
	}
}

func (c *console) cancelAsked(string) {
	if c.turn == nil {
		c.out.line("Nothing runs.")
		return
	}
	c.cancel()
}

func (c *console) quitAsked(string) { c.quit() }

// readStatus says what the screen shows all the time.
func (c *console) readStatus(string) {
	c.o.Window.Changed()
	st := c.o.Window.Status()
	b, set := c.s.Boundary(), c.s.Settings().Budget
	about := ""
	if !b.Known {
		about = "about "
	}
	c.out.labelled("Window", strings.TrimSpace(st.Title+" "+st.Subtitle))
	c.out.line(c.modelWords() + ".")
	c.out.line(c.contextWords() + fmt.Sprintf(" The model takes %s%d tokens, %d are for the system prompt and tools, %d are the history, %d are kept for the next message.",
		about, b.ML, b.SYS, b.HistoryTokens, set.URA()))
	c.out.labelled("Filter", filterName(c.s.Filter()))
	if topic := c.s.Topic(); topic != "" {
		c.out.labelled("Topic", topic)
	}
	c.out.labelled("Checkpoints", fmt.Sprint(len(c.s.Checkpoints())))
	if st.Unsaved {
		c.out.line("There are unsaved changes.")
	} else {
		c.out.line("Nothing is unsaved.")
	}
	if c.turn != nil {
		c.out.line("The assistant is working.")
	}
	if p, waits := c.s.Queued(); waits {
		c.out.labelled("Queued", oneLine(p.Text))
	}
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

package filter

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Verb is the name of a command.
type Verb string

// The commands.
const (
	Export   Verb = "export"
	SetTopic Verb = "topic"
	Star     Verb = "star"
	FlagOn   Verb = "flag"
	FlagOff  Verb = "unflag"
	Delete   Verb = "delete"
	Save     Verb = "save"
	Forget   Verb = "forget"
	Filters  Verb = "filters"
)

// Command is what a line does to the selected pairs. Only the fields that its verb uses are set.
type Command struct {
	Verb   Verb
	Format string // Export: json, md, txt or html
	Path   string // Export: empty for the default name
	Topic  string // SetTopic: the path; empty for the selected topic
	Stars  int    // Star: 0 to 3
	Name   string // Save, Forget

	Base      bool // act on the base, that is, the line without o
	Force     bool // Export may overwrite a file; Delete may delete more than 50 pairs
	DryRun    bool // only report what would happen
	NoConfirm bool // do not ask for confirmation
}

// formats lists the formats of Export; the first is the default.
var formats = []string{"json", "md", "txt", "html"}

// commandFlags lists the flags and the fields that they set, in the order in which Print writes them.
var commandFlags = []struct {
	name  string
	field func(*Command) *bool
}{
	{flagBase, func(c *Command) *bool { return &c.Base }},
	{flagForce, func(c *Command) *bool { return &c.Force }},
	{flagDryRun, func(c *Command) *bool { return &c.DryRun }},
	{flagNoConfirm, func(c *Command) *bool { return &c.NoConfirm }},
}

const (
	flagBase      = "--base"
	flagForce     = "--force"
	flagDryRun    = "--dry-run"
	flagNoConfirm = "--no-confirm"
)

// verb describes the syntax of a command.
type verb struct {
	name  Verb
	args  func(*parser, *Command, []word) // parses the words that are not flags
	flags []string
	help  string
	usage string // syntax of the arguments
}

var changeFlags = []string{flagBase, flagDryRun, flagNoConfirm}

// verbs lists the commands in the order in which completion offers them.
var verbs = []verb{
	{Export, exportArgs, []string{flagBase, flagForce, flagDryRun}, "write the messages to a file", "[json|md|txt|html] [PATH]"},
	{SetTopic, topicArgs, changeFlags, "move the messages to a topic", "[PATH]"},
	{Star, starArgs, changeFlags, "set the stars", "0|1|2|3"},
	{FlagOn, noArgs, changeFlags, "flag the messages", ""},
	{FlagOff, noArgs, changeFlags, "unflag the messages", ""},
	{Delete, noArgs, []string{flagBase, flagForce, flagDryRun, flagNoConfirm}, "delete the messages", ""},
	{Save, nameArgs, nil, "save the line under a name", "NAME"},
	{Forget, nameArgs, nil, "delete a saved filter", "NAME"},
	{Filters, noArgs, nil, "list the saved filters", ""},
}

// Usage returns a line with the syntax and the effect of a command, or "" for an unknown verb.
func Usage(name Verb) string {
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == name })
	if i < 0 {
		return ""
	}
	text := ":" + string(name)
	if verbs[i].usage != "" {
		text += " " + verbs[i].usage
	}
	return text + ": " + verbs[i].help
}

// word is one of the words after the name of a command: an argument or a flag.
type word struct {
	text   string
	pos    int
	quoted bool
}

// excerpt returns the word, cut to maxFound characters, as shown in errors.
func (w word) excerpt() string {
	if w.text == "" {
		return "an empty string"
	}
	if text := []rune(w.text); len(text) > maxFound {
		return string(text[:maxFound]) + "…"
	}
	return w.text
}

// command reads from the colon to the end of the line.
func (p *parser) command() *Command {
	p.pos++
	p.space()
	at := p.pos
	name := p.name()
	i := slices.IndexFunc(verbs, func(v verb) bool { return string(v.name) == strings.ToLower(name) })
	if i < 0 {
		p.pos = at
		p.failAt(at, p.found(), "a command: "+nearestOr(name, verbNames()))
		return nil
	}
	if r := p.peek(); r != eol && !unicode.IsSpace(r) {
		p.fail("a space after :" + name)
	}
	v, c := verbs[i], &Command{Verb: verbs[i].name}
	var rest []word
	for _, w := range p.words() {
		if w.quoted || !strings.HasPrefix(w.text, "--") {
			rest = append(rest, w)
			continue
		}
		if !slices.Contains(v.flags, w.text) {
			want := "a flag: " + nearestOr(w.text, v.flags)
			if len(v.flags) == 0 {
				want = "no flag: :" + string(v.name) + " has no flags"
			}
			p.failAt(w.pos, w.excerpt(), want)
			return nil
		}
		for _, f := range commandFlags {
			if f.name == w.text {
				*f.field(c) = true
			}
		}
	}
	if p.err == nil {
		v.args(p, c, rest)
	}
	return c
}

func verbNames() []string {
	names := make([]string, len(verbs))
	for i, v := range verbs {
		names[i] = string(v.name)
	}
	return names
}

// words splits the rest of the line at white space outside quotes.
func (p *parser) words() []word {
	var words []word
	for p.err == nil {
		p.space()
		w := word{pos: p.pos, quoted: isQuote(p.peek())}
		switch {
		case p.peek() == eol:
			return words
		case w.quoted:
			w.text = p.plainString()
		default:
			for r := p.peek(); r != eol && !unicode.IsSpace(r); r = p.peek() {
				w.text += string(r)
				p.pos++
			}
		}
		words = append(words, w)
	}
	return nil
}

func noArgs(p *parser, c *Command, words []word) {
	if len(words) > 0 {
		p.failAt(words[0].pos, words[0].excerpt(), "no argument: :"+string(c.Verb)+" has no arguments")
	}
}

// failExtra records an error at an unexpected extra word.
func (p *parser) failExtra(c *Command, w word) {
	p.failAt(w.pos, w.excerpt(), "nothing after :"+string(c.Verb)+" and its arguments")
}

func exportArgs(p *parser, c *Command, words []word) {
	if len(words) > 0 && !words[0].quoted && slices.Contains(formats, words[0].text) {
		c.Format, words = words[0].text, words[1:]
	}
	if len(words) > 0 {
		c.Path = words[0].text
		if c.Path == "" {
			p.failAt(words[0].pos, "an empty path", "the path of a file")
		}
	}
	if len(words) > 1 {
		w := words[0]
		if c.Format == "" {
			p.failAt(w.pos, w.excerpt(), "a format: "+nearestOr(w.text, formats))
		}
		p.failExtra(c, words[1])
	}
	if c.Format == "" {
		c.Format = formats[0]
		if ext := strings.TrimPrefix(filepath.Ext(c.Path), "."); slices.Contains(formats, ext) {
			c.Format = ext
		}
	}
}

func topicArgs(p *parser, c *Command, words []word) {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	levels := splitPath(strings.Join(texts, " "))
	if slices.Contains(levels, "") {
		p.failAt(words[0].pos, "a topic path with an empty level", `a topic, as in :topic "AI > Agents"`)
	}
	c.Topic = strings.Join(levels, pathSeparator)
}

func starArgs(p *parser, c *Command, words []word) {
	w := p.oneWord(c, words, "a number of stars from 0 to 3, as in :star 2", func(text string) bool {
		return len(text) == 1 && text[0] >= '0' && text[0] <= '0'+MaxStars
	})
	if w != "" {
		c.Stars = int(w[0] - '0')
	}
}

func nameArgs(p *parser, c *Command, words []word) {
	c.Name = p.oneWord(c, words, "a name of letters, digits, _ and -", func(text string) bool {
		return text != "" && strings.IndexFunc(text, func(r rune) bool { return !isNameRune(r) }) < 0
	})
}

// oneWord returns the only argument of a command, for which fits must be true, or "" after recording an error.
func (p *parser) oneWord(c *Command, words []word, want string, fits func(string) bool) string {
	switch {
	case len(words) == 0:
		p.fail(want)
	case !fits(words[0].text):
		p.failAt(words[0].pos, words[0].excerpt(), want)
	case len(words) > 1:
		p.failExtra(c, words[1])
	default:
		return words[0].text
	}
	return ""
}

package topics

import (
	"strings"

	"winnow/assistant/filter"
)

// filterLanguage is written from what the language completes: terms, commands, flags.
func filterLanguage(p *page, _ Facts) {
	p.text("A filter line decides which pairs of message and answer are shown, and so which can be sent. An empty line shows all. In the program f opens it; winnow history search takes it too.")
	p.head("Terms")
	var rows [][]string
	for _, c := range filter.Complete("", 0, filter.Sources{}) {
		rows = append(rows, []string{c.Label, c.Help})
	}
	p.rows(rows)
	p.head("Together")
	rows = nil
	for _, e := range Examples {
		rows = append(rows, []string{e.Line, e.Means})
	}
	p.rows(rows)
	p.text("Parentheses bind first, then !, then terms side by side (and), then | or + (or). Space between terms means nothing. " +
		"In quotes * stands for any text and \\* for a star. Upper and lower case are the same.")
	p.head("Commands act on the pairs that the line before them selects")
	rows = nil
	for _, c := range filter.Complete(":", 1, filter.Sources{}) {
		usage, help, _ := strings.Cut(filter.Usage(filter.Verb(c.Text)), ": ")
		line := ":" + c.Text + " --"
		for _, flag := range filter.Complete(line, len(line), filter.Sources{}) {
			usage += " [" + flag.Text + "]"
		}
		rows = append(rows, []string{usage, help})
	}
	p.table(rows)
}

// table adds rows of two cells, the second below the first where that is long.
func (p *page) table(rows [][]string) {
	p.gap()
	const column = 20
	for _, row := range rows {
		if len(row[0]) < column {
			p.lines = append(p.lines, "  "+row[0]+strings.Repeat(" ", column-len(row[0]))+row[1])
			continue
		}
		p.lines = append(p.lines, wrapped(row[0], indent)...)
		p.lines = append(p.lines, wrapped(row[1], indent+column)...)
	}
}

// Example is a line of the filter language.
type Example struct{ Line, Means string }

// Examples show how terms go together.
var Examples = []Example{
	{"s>=2 d<7d", "two stars or more, of the last seven days"},
	{"t'AI...' | c'agent'", "a topic and all below it, or a text"},
	{"!e !(s0 | i)", "without an error, with a star, without attachments"},
	{"r50 m'claude*'", "of the last fifty pairs those of one family of models"},
	{"d2026-03-04 u'anna'", "one day, one author"},
	{"@mine o", "of a saved filter what the next request would hold"},
	{"s3 :export md", "writes the pairs with three stars as Markdown"},
}

// PatternExample is a rule and an id that it matches or does not.
type PatternExample struct {
	Pattern, ID string
	Matches     bool
}

// PatternExamples show what patterns match.
var PatternExamples = []PatternExample{
	{"*-preview*", "openai/gpt-4-turbo-preview", true},
	{"gpt-4*", "openai/gpt-4o-mini", true},
	{"gpt-4", "openai/gpt-4o", false},
	{"openai/gpt-4", "openai/gpt-4", true},
	{"o?-mini", "openai/o3-mini", true},
	{"gpt-[45]*", "openai/gpt-5.1", true},
	{"gpt-[!5]*", "openai/gpt-5.1", false},
	{"*/llama-3", "groq/meta/llama-3", true},
	{"{o3,o4}", "openai/o3", false},
	{"GPT-4", "openai/gpt-4", false},
}

func rules(p *page, _ Facts) {
	p.text("The proxy reads two lists for each provider from its .env when it starts:")
	p.rows([][]string{
		{"IGNORE_MODELS_OPENAI=gpt-3.5*,*-preview*", ""},
		{"WHITELIST_MODELS_OPENAI=gpt-4o-audio-preview", ""},
	})
	p.text("A model that a pattern of the allow list (WHITELIST_MODELS) matches is shown. Else one that a pattern of the ignore list matches is hidden. " +
		"All others are shown. A hidden model is missing from the proxy's list of models; who calls it by its name still gets it.")
	p.text("A pattern is compared with the id without its provider and with the whole id. * stands for any characters, also /, ? for one character, " +
		"[abc] and [a-c] for one of a set, [!abc] for one that is not in it. Everything else stands for itself, also braces and backslashes. Case counts. " +
		"A pattern cannot hold a comma, a line break or ${.")
	p.head("Examples")
	var rows [][]string
	for _, e := range PatternExamples {
		verb := "matches"
		if !e.Matches {
			verb = "does not match"
		}
		rows = append(rows, []string{e.Pattern, verb, e.ID})
	}
	p.rows(rows)
	p.text("winnow rules lists, tests, changes and saves them: winnow rules --help.")
}

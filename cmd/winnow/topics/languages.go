package topics

import (
	"strings"

	"winnow/adapters/modelfilter/condition"
	"winnow/assistant/filter"
)

// filterLanguage writes the page from the completions of the language: terms, commands, flags.
func filterLanguage(p *page, _ Facts) {
	p.text("A filter line decides which messages and their answers are shown, and therefore which can be sent. An empty line shows all of them. On the screen, f opens the line; winnow history search accepts the same language, except commands.")
	p.head("Terms")
	var rows [][]string
	for _, c := range filter.Complete("", 0, filter.Sources{}) {
		rows = append(rows, []string{c.Label, c.Help})
	}
	p.rows(rows)
	p.head("Examples")
	rows = nil
	for _, e := range Examples {
		rows = append(rows, []string{e.Line, e.Meaning})
	}
	p.rows(rows)
	p.text("Three or more letters in a row form a word to search for in messages, answers and reasoning. b u g are three terms, bug is a word; several words must all occur.")
	p.text("Precedence: parentheses, !, adjacent terms (and), | or + (or). Spaces between terms are ignored. " +
		"In quotes, * matches any text and \\* an asterisk. Case is ignored.")
	p.head("Commands (they act on the messages that the terms before them select)")
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

// table adds rows of two cells; the second cell goes below a first cell that is too long.
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

// Example is a line of the filter language with its meaning.
type Example struct{ Line, Meaning string }

// Examples show how terms are combined.
var Examples = []Example{
	{"s>=2 d<7d", "two or more stars, from the last seven days"},
	{"t'AI...' | c'agent'", "the topic AI and its subtopics, or messages that contain agent"},
	{"!e !(s0 | i)", "no error, at least one star and no attachments"},
	{"r50 m'claude*'", "one model family among the last fifty messages"},
	{"kubernetes ingress s>0", "messages with both words and at least one star"},
	{"d2026-03-04 u'anna'", "one day, one author"},
	{"@mine o", "the messages of the saved filter mine that the next request would contain"},
	{"s3 :export md", "exports the messages with three stars as Markdown"},
}

// PatternExample is a pattern, a model id, and whether the pattern matches the id.
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
	p.text("When it starts, the proxy reads two lists per provider from its .env:")
	p.rows([][]string{
		{"IGNORE_MODELS_OPENAI=gpt-3.5*,*-preview*", ""},
		{"WHITELIST_MODELS_OPENAI=gpt-4o-audio-preview", ""},
	})
	p.text("A model that matches the allow list (WHITELIST_MODELS) is shown; any other model that matches the ignore list (IGNORE_MODELS) is hidden; " +
		"all others are shown. The proxy leaves a hidden model out of its model list, but still answers requests that name it.")
	p.text("A pattern is compared with the id without its provider and with the whole id. * matches any characters including /, ? one character, " +
		"[abc] and [a-c] one character of a set, [!abc] one character outside the set. Everything else is literal, including braces and backslashes. Case matters. " +
		"A pattern cannot contain a comma, a line break or ${.")
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
	p.text("winnow rules lists, tests, changes and saves rules; see winnow rules --help.")
}

// conditions writes the page from the vocabulary of package condition.
func conditions(p *page, _ Facts) {
	p.text("A condition selects models by their properties and their use. Its words are separated by spaces, and all of them must hold; ! negates a word. " +
		"winnow models --where lists the models, winnow rules plan --where shows the rules that would hide them, winnow rules hide --where stages these rules, " +
		"and winnow rules check --where exits with status 3 when a shown model matches.")
	p.head("Words")
	var rows [][]string
	for _, w := range condition.Words() {
		rows = append(rows, []string{w.Example, w.Help})
	}
	p.rows(rows)
	p.text("Any other word is a pattern for the name, such as *mini*. Numbers may end in k or m, ages in min, h, d, w, mo or y. Numbers are compared with > >= < <= or =, as are dates such as 2025-01-31 or 2025-01.")
	p.text("Properties come from the proxy's model list or, if missing there, from the built-in catalogue; use comes from usage/usage_PROVIDER.json in the proxy's data folder (setting proxy_data) or, without such a file, from the running proxy (/v1/quota-stats). " +
		"If a property of a model is unknown, the model matches neither the word nor its negation and is counted separately.")
}

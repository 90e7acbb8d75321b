// Package topics is the pages of `winnow help TOPIC`.
//
// A Topic is one page. It is plain text of at most Width columns, written from the
// tables that the program itself works with: the key map, the settings, the terms of the filter
// language, the files of a home. Facts are those tables as they are in this run.
//
// Everything here is safe from any goroutine. The files page looks up where links lead.
package topics

import (
	"cmp"
	_ "embed" // the news
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/adapters/home"
	"winnow/assistant/attachment"
	"winnow/assistant/filter"
	"winnow/tui/keymap"
	"winnow/tui/mention"
)

// Width bounds the lines of a page, in columns, as far as its words allow.
const Width = 80

// Facts are what the pages are written from.
type Facts struct {
	Keys     []keymap.Use     // as bound
	Settings []config.Setting // all there are
	Flags    []string         // the flags that override a setting, without dashes
	Home     home.Home
	Config   string // the settings file in use
	Exits    []Exit // how commands end
	Root     *cobra.Command
}

// Exit is an exit status.
type Exit struct {
	Status int
	Means  string
}

// Topic is one page.
type Topic struct {
	Name, Short string
	write       func(*page, Facts)
}

// All lists the topics.
func All() []Topic {
	return []Topic{
		{"keys", "the keys of the screen, as bound", keys},
		{"input", "what can be typed where messages are written: /help, /model …", typed},
		{"attach", "files and pictures that go with a message: @PATH", attach},
		{"filter", "the filter language: which messages are shown and sent", filterLanguage},
		{"rules", "the rules of the .env: patterns and what they hide", rules},
		{"settings", "all settings: type, default, variable, flag", settings},
		{"commands", "all commands", commands},
		{"files", "what winnow stores, and where", files},
		{"team", "a history that several share, in PostgreSQL", team},
		{"exit", "the exit statuses", exits},
		{"news", "what has changed, the newest first", news},
	}
}

// Lines is the page.
func (t Topic) Lines(f Facts) []string {
	p := &page{}
	t.write(p, f)
	return p.lines
}

// List is the page that names all topics.
func List() []string {
	p := &page{}
	p.text("winnow help TOPIC tells more about one of these, winnow COMMAND --help about a command, and winnow --help lists the commands.")
	var rows [][]string
	for _, t := range All() {
		rows = append(rows, []string{t.Name, t.Short})
	}
	p.rows(rows)
	return p.lines
}

// page collects the lines of a page.
type page struct{ lines []string }

// head begins a part of the page.
func (p *page) head(text string) { p.gap(); p.lines = append(p.lines, text) }

// gap separates two parts of the page.
func (p *page) gap() {
	if len(p.lines) > 0 {
		p.lines = append(p.lines, "")
	}
}

// text adds a paragraph.
func (p *page) text(text string) {
	p.gap()
	p.lines = append(p.lines, wrap(text, Width)...)
}

const (
	indent = 2 // columns before a row
	space  = 2 // columns between two cells
	widest = 32
)

// rows adds rows of aligned cells. The last cell of a row is wrapped; a cell before it
// that is wider than widest does not move the others.
func (p *page) rows(rows [][]string) {
	p.gap()
	var widths []int
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			if len(widths) == i {
				widths = append(widths, 0)
			}
			if w := ansi.StringWidth(cell); w <= widest {
				widths[i] = max(widths[i], w)
			}
		}
	}
	left := indent + space*len(widths)
	for _, w := range widths {
		left += w
	}
	for _, row := range rows {
		line := strings.Repeat(" ", indent)
		for i, cell := range row[:len(row)-1] {
			line += fmt.Sprintf("%-*s", widths[i]+space, cell) // runes are cells here
		}
		for i, part := range wrap(row[len(row)-1], Width-left) {
			if i > 0 {
				line = strings.Repeat(" ", left)
			}
			p.lines = append(p.lines, strings.TrimRight(line+part, " "))
		}
	}
}

// wrap cuts a text at its spaces into lines of at most w columns where they allow it.
func wrap(text string, w int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case ansi.StringWidth(*last)+1+ansi.StringWidth(word) <= w:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// wrapped is a paragraph behind n columns.
func wrapped(text string, n int) []string {
	lines := wrap(text, Width-n)
	for i := range lines {
		lines[i] = strings.Repeat(" ", n) + lines[i]
	}
	return lines
}

// typed lists the commands that begin with a slash.
func typed(p *page, _ Facts) {
	p.text("A message is sent with the send key. @ and a path attach a file or a picture (winnow help attach); @ also completes rules and models. " +
		"A line that begins with / and a name is a command: tab or enter takes an entry of the list above it, enter then runs it, esc closes the list. " +
		"A command that does not exist, or that is refused, stays where it was typed.")
	p.text("/etc/hosts or /^a+$/ begin a message, as does every text of several lines. For a message that would be a command, type // or a space in place of its /. " +
		"/1 chooses suggestion 1.")
	p.head("Commands, the same as those of the palette")
	var rows [][]string
	for _, c := range keymap.Commands(false) {
		rows = append(rows, []string{c.Usage(), c.Help})
	}
	p.rows(rows)
}

// attach is made from the limits that attaching a file checks.
func attach(p *page, f Facts) {
	take := "tab"
	if i := slices.IndexFunc(f.Keys, func(u keymap.Use) bool { return u.Mode == "INPUT" && u.Action == "next-region" }); i >= 0 {
		take = f.Keys[i].Line[0]
	}
	p.text("@ and a path in a message attach the file. The path begins in the folder in which winnow was started, with ~/ in your home, or with /. " +
		"While it is typed, a list shows what can follow, with sizes: ↑ and ↓ choose, " + take + " takes an entry, and then lists what a folder holds. " +
		"The same list completes rules and models; these are words of the message and attach nothing.")
	p.head("What names a file")
	p.text("A word that begins with @ and has a dot or a slash in it. It cannot hold white space; one of , ; : ! ? and ) at its end belongs to the sentence.")
	var rows [][]string
	for _, e := range MentionExamples {
		rows = append(rows, []string{e.Text, cmp.Or(strings.Join(e.Files, " and "), "no file")})
	}
	p.rows(rows)
	p.text("Files are read when the message is sent. If one cannot be read or is too large, nothing is sent and the message returns to its box.")
	p.head("Text")
	p.text("The text of a file is added to the message, under its name. It is UTF-8 of at most " + attachment.SizeText(mention.MaxText) + ".")
	p.head("Pictures")
	p.text(fmt.Sprintf("A picture goes beside the message: %s, whatever the name says, of at most %s and %d pixels a side, %d in one message. The history stores it once.",
		attachment.PictureKinds, attachment.SizeText(attachment.MaxPictureBytes), attachment.MaxPictureSide, attachment.MaxPictures))
	p.text("A model that is known not to see pictures refuses the message before anything is sent: select another one and send it again. " +
		"Of the pictures of earlier messages it gets the names. A model of which this is not known gets the pictures.")
	p.head("Afterwards")
	for _, c := range filter.Complete("", 0, filter.Sources{}) {
		if c.Text == "i" {
			p.rows([][]string{{c.Text, c.Help + ": a term of the filter language, for files of both kinds; !" + c.Text + " is the others"}})
		}
	}
	p.text("Only the screen attaches files. With --plain, in winnow ask and over SSH, @PATH is text like any other.")
}

// MentionExample is a part of a message and the files that it attaches.
type MentionExample struct {
	Text  string
	Files []string
}

// MentionExamples show what attaches a file.
var MentionExamples = []MentionExample{
	{"explain @main.go, please", []string{"main.go"}},
	{"compare @a.md and @~/b.md", []string{"a.md", "~/b.md"}},
	{"what is in @./Makefile?", []string{"./Makefile"}},
	{"ask @someone", nil},
	{"mail x@example.org", nil},
}

// keys lists the keys by the modes in which they do the same.
func keys(p *page, f Facts) {
	type use struct {
		keymap.Use
		modes []string
	}
	var uses []use
	for _, u := range f.Keys {
		same := func(o use) bool { return o.Action == u.Action && slices.Equal(o.Keys, u.Keys) }
		if i := slices.IndexFunc(uses, same); i >= 0 {
			uses[i].modes = append(uses[i].modes, u.Mode)
		} else if u.Line[0] != "" {
			uses = append(uses, use{u, []string{u.Mode}})
		}
	}
	groups, byModes := []string{}, map[string][][]string{}
	for _, u := range uses {
		where := strings.Join(u.modes, ", ")
		if len(u.modes) == allModes {
			where = "anywhere"
		}
		if byModes[where] == nil {
			groups = append(groups, where)
		}
		byModes[where] = append(byModes[where], []string{u.Line[0], u.Action, u.Line[1]})
	}
	p.text("INPUT writes a message, VIEW walks through the conversation, COMMAND holds the filter line, PANE works on the rules, HUD lists the pairs and what each costs. " +
		"The second column is the name of the action: [keys.view] of the settings with next-item = [\"j\", \"down\"] gives it other keys, and winnow doctor keys shows which keys arrive here.")
	for _, where := range groups {
		p.head(where)
		p.rows(byModes[where])
	}
}

// allModes is how many modes there are.
const allModes = 5

func settings(p *page, f Facts) {
	p.text("The order is flag, environment, file, default. The file is " + f.Config + "; winnow config edit opens it, and winnow config show says where each value comes from.")
	for _, s := range f.Settings {
		from := s.Env()
		if flag := strings.ReplaceAll(s.Key, "_", "-"); slices.Contains(f.Flags, flag) {
			from += ", --" + flag
		}
		standard := ""
		if s.Default != "" {
			standard = ", default " + s.Default
		}
		p.head(s.Key + "  " + s.Type() + standard)
		for _, line := range []string{from, s.Help} {
			p.lines = append(p.lines, wrapped(line, 4)...)
		}
	}
	p.head("Besides these the file may hold")
	p.rows([][]string{
		{"[keys.MODE]", "other keys for actions: ACTION = [\"KEY\", …]; winnow help keys lists them"},
		{"[[provider]]", "an endpoint: name, base_url, api_key, headers, models, context_window. A key may be env:NAME, cmd:COMMAND or keyring:NAME."},
	})
}

func commands(p *page, f Facts) {
	p.text("winnow COMMAND --help lists the flags of one.")
	p.rows(usage(f.Root))
}

// usage lists a command and those below it, without those that only hold others.
func usage(c *cobra.Command) (rows [][]string) {
	if !c.HasSubCommands() || c.LocalNonPersistentFlags().HasFlags() {
		rows = append(rows, []string{strings.TrimSuffix(c.UseLine(), " [flags]"), c.Short})
	}
	for _, sub := range c.Commands() {
		rows = append(rows, usage(sub)...)
	}
	return rows
}

func files(p *page, f Facts) {
	p.text("All of it is for you alone: folders have the mode 0700, files 0600. --home DIR and WINNOW_HOME put everything below one folder, else the XDG base directories hold it.")
	for _, file := range f.Home.Files() {
		if file.Path == f.Home.Settings() {
			file.Path = f.Config
		}
		p.head(file.Path)
		p.lines = append(p.lines, wrapped(file.Help, 4)...)
	}
	p.text("A .env file is changed only by a save and by winnow env. For an instant its new text lies beside it, under its name and .winnow-ID.")
}

func team(p *page, _ Facts) {
	p.text("history = \"postgres://USER@HOST/DATABASE\" in the settings keeps the history in PostgreSQL 14 or newer; --history and WINNOW_HISTORY name another one for one run. The first start creates the tables, in a schema named winnow. Where the extension pg_trgm can be installed, an index finds texts.")
	p.head("Password and encryption")
	p.text("An address holds no password: give it as history_password = \"env:NAME\", \"cmd:COMMAND\" or \"keyring:NAME\", or as PostgreSQL's own programs take it, in PGPASSWORD, the service file or ~/.pgpass. To another machine the connection is encrypted; sslmode=verify-full in the address also checks whose it is.")
	p.head("Whose pairs")
	p.text("Every pair has an author: who sent it to winnow serve, else the setting user or the database role. u selects your own pairs, u'NAME' those of another; visibility = \"own\" or \"team\" is what a new session shows first. What others send, mark and delete is on your screen within a second, and a deletion says whose it was.")
	p.head("Private pairs")
	p.text("winnow history private on makes the database itself show each role its own pairs only, in SQL too, until private off. Who owns the tables can switch it: so grant others rights on the tables instead of membership in the role that owns them. Each of your texts is read for a search then, because PostgreSQL uses an index only for comparisons that cannot reveal what a policy hides, which LIKE may.")
	p.head("Who changed which rule")
	p.text("winnow serve copies the log of the rules that it serves into this history: each change once, with host and file, who made it, in which session, and the values; no message is in it. Changes that are made while the database is away follow later. winnow log --team lists those of all served files, on any machine, and -f goes on with new ones. In a private history a role sees the changes of what it serves itself. A history in a file has no such log: there winnow log lists the changes of this folder.")
	p.head("Moving a history")
	p.text("winnow history migrate --from sqlite --to postgres://… copies a history there, and with the two exchanged back. It can be interrupted and run again, adds nothing twice, and compares both at the end. The log of the rules stays where it is.")
	p.head("When the server cannot be reached")
	p.text("Nothing is sent, and what is loaded stays readable. A message that could not be stored stays in its box and is sent again by itself.")
}

// older are the changes that the README no longer tells, a line each.
//
//go:embed news.txt
var older string

func news(p *page, _ Facts) {
	p.text("The README of this version tells the newest. Before that:")
	p.gap()
	for line := range strings.Lines(older) {
		lines := wrapped(line, indent)
		lines[0] = "-" + lines[0][1:]
		p.lines = append(p.lines, lines...)
	}
}

func exits(p *page, f Facts) {
	p.text("Data goes to standard output, everything else to standard error.")
	var rows [][]string
	for _, e := range f.Exits {
		rows = append(rows, []string{fmt.Sprint(e.Status), e.Means})
	}
	p.rows(rows)
}

// Package topics writes the pages of `winnow help TOPIC`.
//
// A Topic is one page: plain text, at most Width columns wide, generated from the program's own tables, such as the
// key map, the settings, the terms of the filter language and the files of a home. Facts holds these tables for the
// current run.
//
// All functions are safe for concurrent use. The files page resolves symbolic links.
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
	"winnow/assistant/attachment"
	"winnow/assistant/filter"
	"winnow/tui/composer"
	"winnow/tui/keymap"
)

// Width is the maximum width of a line in columns; a longer word may exceed it.
const Width = 80

// Facts contains the data that the pages show.
type Facts struct {
	Keys     []keymap.Use // including rebindings
	Settings []config.Setting
	Flags    []string // flags that override a setting, without leading dashes
	Home     config.Home
	Config   string // the settings file in use
	Exits    []Exit
	Root     *cobra.Command
}

// Exit is an exit status.
type Exit struct {
	Status  int
	Meaning string
}

// Topic is one page.
type Topic struct {
	Name, Short string
	write       func(*page, Facts)
}

// All lists the topics.
func All() []Topic {
	return []Topic{
		{"keys", "the keys of the screen, including your own bindings", keys},
		{"input", "what you can type in the message box: /help, /model …", typed},
		{"attach", "how to attach files and pictures: @PATH", attach},
		{"filter", "the filter language: choose which messages are shown and sent", filterLanguage},
		{"rules", "the rules in the .env: patterns and what they hide", rules},
		{"conditions", "selecting models by price, ability, age and use: --where", conditions},
		{"settings", "all settings: type, default, environment variable, flag", settings},
		{"commands", "all commands", commands},
		{"files", "what winnow stores, and where", files},
		{"fleet", "comparing and changing several proxies: [[target]]", fleet},
		{"team", "sharing a history in PostgreSQL", team},
		{"mcp", "tools of MCP servers for the assistant: [[mcp]]", mcpServers},
		{"http", "the requests that winnow serve --http accepts, and their errors", overHTTP},
		{"exit", "the exit statuses", exits},
		{"news", "what changed, newest first", news},
	}
}

// Lines returns the lines of the page.
func (t Topic) Lines(f Facts) []string {
	p := &page{}
	t.write(p, f)
	return p.lines
}

// List returns the page that names all topics.
func List() []string {
	p := &page{}
	p.text("winnow help TOPIC explains one of these topics, winnow COMMAND --help a command; winnow --help lists all commands.")
	var rows [][]string
	for _, t := range All() {
		rows = append(rows, []string{t.Name, t.Short})
	}
	p.rows(rows)
	return p.lines
}

// page collects the lines of a page as it is written.
type page struct{ lines []string }

// head starts a section.
func (p *page) head(text string) { p.gap(); p.lines = append(p.lines, text) }

// gap adds an empty line, except at the top of the page.
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
	indent = 2  // columns before a row
	space  = 2  // columns between two cells
	widest = 32 // columns of the widest cell that can widen its column
)

// rows adds rows of aligned cells. The last cell of a row is wrapped; a cell wider than widest moves the rest of its
// row to the right.
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
			line += fmt.Sprintf("%-*s", max(widths[i], ansi.StringWidth(cell))+space, cell) // every rune is one cell wide
		}
		for i, part := range wrap(row[len(row)-1], Width-max(left, ansi.StringWidth(line))) {
			if i > 0 {
				line = strings.Repeat(" ", left)
			}
			p.lines = append(p.lines, strings.TrimRight(line+part, " "))
		}
	}
}

// wrap breaks text at spaces into lines of at most w columns; a longer word is not broken.
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

// wrapped wraps a paragraph and indents it by n columns.
func wrapped(text string, n int) []string {
	lines := wrap(text, Width-n)
	for i := range lines {
		lines[i] = strings.Repeat(" ", n) + lines[i]
	}
	return lines
}

// typed writes the page of the commands that start with a slash.
func typed(p *page, _ Facts) {
	p.text("The send key sends the message. @PATH attaches a file or a picture (winnow help attach); @ also completes rules and models. " +
		"A line that starts with / and a name is a command: tab or enter accepts an entry from the list above the line, enter then runs the command, and esc closes the list. " +
		"If a command does not exist or is refused, the line stays in the box.")
	p.text("/etc/hosts, /^a+$/ and any text of several lines are messages. To send a message that looks like a command, start it with // or a space. " +
		"/1 chooses suggestion 1.")
	p.head("Commands (also in the palette)")
	var rows [][]string
	for _, c := range keymap.Commands(false) {
		rows = append(rows, []string{c.Usage(), c.Help})
	}
	p.rows(rows)
}

// attach writes the page from the limits that attaching a file checks.
func attach(p *page, f Facts) {
	take := "tab"
	if i := slices.IndexFunc(f.Keys, func(u keymap.Use) bool { return u.Mode == "INPUT" && u.Action == "next-region" }); i >= 0 {
		take = f.Keys[i].Line[0]
	}
	p.text("@PATH in a message attaches the file. The path is relative to the folder in which winnow was started, or begins with ~/ (your home) or /. " +
		"While you type, a list shows matching files with their sizes: ↑ and ↓ choose, " + take + " accepts an entry; accepting a folder lists its files. " +
		"The same list completes rules and models, which are inserted as plain text and attach nothing.")
	p.head("What counts as a file")
	p.text("A word that starts with @ and contains a dot or a slash. It cannot contain spaces; a trailing , ; : ! ? or ) is not part of the path.")
	var rows [][]string
	for _, e := range MentionExamples {
		rows = append(rows, []string{e.Text, cmp.Or(strings.Join(e.Files, " and "), "no file")})
	}
	p.rows(rows)
	p.text("Files are read when the message is sent. If one cannot be read or is too large, nothing is sent and the message returns to the box.")
	p.head("Text")
	p.text("The text of a file is added to the message under its name. It must be UTF-8, at most " + attachment.SizeText(composer.MaxAttachment) + ".")
	p.head("Pictures")
	p.text(fmt.Sprintf("Pictures are sent with the message: %s (detected from the content), at most %s and %d pixels per side, up to %d per message. The history stores each picture once.",
		attachment.PictureKinds, attachment.SizeText(attachment.MaxPictureBytes), attachment.MaxPictureSide, attachment.MaxPictures))
	p.text("If the model is known not to accept pictures, nothing is sent: select another model and send again. " +
		"Such a model gets only the names of pictures in earlier messages. A model whose support is unknown gets the pictures.")
	p.head("Finding them later")
	for _, c := range filter.Complete("", 0, filter.Sources{}) {
		if c.Text == "i" {
			p.rows([][]string{{c.Text, c.Help + ": a term of the filter language for text files and pictures; !" + c.Text + " matches messages without them"}})
		}
	}
	p.text("Files can be attached on the screen, with --plain on a terminal and in the arguments of winnow ask. In text from a pipe, and over SSH, @PATH has no special meaning.")
}

// MentionExample is a part of a message and the files that it attaches.
type MentionExample struct {
	Text  string
	Files []string
}

// MentionExamples show which words attach a file.
var MentionExamples = []MentionExample{
	{"explain @main.go, please", []string{"main.go"}},
	{"compare @a.md and @~/b.md", []string{"a.md", "~/b.md"}},
	{"what is in @./Makefile?", []string{"./Makefile"}},
	{"ask @someone", nil},
	{"mail x@example.org", nil},
}

// keys lists the keys, grouped by the modes in which they do the same.
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
	p.text("INPUT writes a message, VIEW moves through the conversation, COMMAND edits the filter line, PANE edits the rules, HUD lists the messages with their tokens; the other modes are for lists, texts, questions and text fields. " +
		"The second column is the name of the action. To rebind an action, write [keys.view] and next-item = [\"j\", \"down\"] in the settings file. winnow doctor keys shows which keys your terminal sends.")
	for _, where := range groups {
		p.head(where)
		p.rows(byModes[where])
	}
}

// allModes is the number of modes of the screen, from INPUT to HUD.
const allModes = 5

func settings(p *page, f Facts) {
	p.text("A flag overrides the environment, which overrides the file, which overrides the default. The file is " + f.Config + "; winnow config edit opens it, and winnow config show prints where each value comes from. The model last used in a folder overrides the model setting in the file.")
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
	p.head("The file may also contain")
	p.rows([][]string{
		{"[keys.MODE]", "key bindings: ACTION = [\"KEY\", …]; winnow help keys lists the actions"},
		{"[[provider]]", "an endpoint: name, base_url, api_key, headers, models, context_window. A key may be env:NAME, cmd:COMMAND or keyring:NAME. allow_http = true allows an unencrypted connection to another machine."},
		{"[[mcp]]", "an MCP server whose tools the assistant may use: winnow help mcp"},
		{"[[target]]", "another proxy, to compare and change: winnow help fleet"},
	})
	p.head("Other environment variables")
	p.rows(variables)
}

// variables describes the environment variables that are not settings.
var variables = [][]string{
	{"OPENAI_API_KEY", "the key of OpenAI or, with OPENAI_BASE_URL, of that endpoint"},
	{"OPENAI_BASE_URL", "the URL of an OpenAI-compatible endpoint; its key may be missing"},
	{"PROXY_BASE_URL", "the URL of the proxy of this folder (default http://127.0.0.1:8000/v1); also read from its .env"},
	{"PROXY_API_KEY", "the key of this proxy; also read from its .env"},
	{"WINNOW_BASE_URL", "--base-url"},
	{"WINNOW_CONFIG", "--config"},
	{"WINNOW_ENV_FILE", "--env-file"},
	{"WINNOW_HOME", "--home"},
	{"WINNOW_PROVIDER", "--provider, for the endpoint"},
	{"NO_COLOR", "--no-color, if not empty"},
	{"VISUAL, EDITOR", "the editor for drafts and settings"},
}

func commands(p *page, f Facts) {
	p.text("winnow COMMAND --help lists the flags of a command.")
	p.rows(usage(f.Root))
}

// usage lists a command and its subcommands, except commands that only group others.
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
	p.text("Only you can read these files: folders have mode 0700, files 0600. --home DIR or WINNOW_HOME puts everything below one folder; otherwise the XDG base directories are used.")
	for _, file := range f.Home.Files() {
		if file.Path == f.Home.Settings() {
			file.Path = f.Config
		}
		p.head(file.Path)
		p.lines = append(p.lines, wrapped(file.Help, 4)...)
	}
	p.text("Only a save, winnow rules restore and winnow env change a .env file. During a save, the new text is in a file in the same folder, with the same name plus .winnow-ID.")
}

func team(p *page, _ Facts) {
	p.text("history = \"postgres://USER@HOST/DATABASE\" in the settings keeps the history in PostgreSQL 14 or newer; --history and WINNOW_HISTORY override it for one run. The first start creates the tables in a schema named winnow. If the extension pg_trgm can be installed, text searches use an index.")
	p.head("Password and encryption")
	p.text("The address must not contain the password: set history_password = \"env:NAME\", \"cmd:COMMAND\" or \"keyring:NAME\", or use PGPASSWORD, the service file or ~/.pgpass as with PostgreSQL's own programs. Connections to other machines are encrypted; sslmode=verify-full in the address also verifies the server's certificate.")
	p.head("Behind pgbouncer")
	p.text("A pooler in transaction mode is recognised and needs no further settings. Behind it, other users' changes appear within two seconds, or at once if history_listen is an address that reaches the server directly. A program opens at most 3 connections, winnow serve at most 6.")
	p.head("Readers")
	p.text("A role that may only read opens the history read-only. GRANT USAGE ON SCHEMA winnow TO NAME; GRANT SELECT ON ALL TABLES IN SCHEMA winnow TO NAME lets a role read. Comments in the database describe its tables and columns.")
	p.head("Backup")
	p.text("pg_dump -Fc -f winnow.dump DATABASE saves everything while programs are running; createdb NEW and pg_restore -d NEW winnow.dump restore it. winnow history check then verifies every message. Other formats and a copy of the whole server work as well.")
	p.head("Authors")
	p.text("Every message has an author: the user of winnow serve, otherwise the user setting, otherwise the database role. u selects your own messages, u'NAME' another author's; visibility = \"own\" or \"team\" chooses what a new session shows first. What others send, mark or delete appears on your screen within a second; a deletion names who did it. Everyone who can use the database can read everything in it, for example with SQL: keep private messages in a separate database.")
	p.head("Who changed which rule")
	p.text("winnow serve copies every rule change to this history, with host, file, author, session and values, but no messages. Changes made while the database is unreachable are copied later. winnow log --team lists the changes of all served files on any machine; -f follows new ones. A history in a file has no team log; winnow log lists the changes in this folder.")
	p.head("Moving a history")
	p.text("winnow history migrate --from sqlite --to postgres://… copies a history to the server; swap the two to copy it back. It can be interrupted and repeated without adding anything twice, and it compares both histories at the end. The log of rule changes is not copied.")
	p.head("When the server cannot be reached")
	p.text("Nothing is sent, and loaded messages stay readable. A message that could not be stored stays in the box and is sent again automatically.")
}

// older lists the changes before the ones in the README, one per line.
//
//go:embed news.txt
var older string

func news(p *page, _ Facts) {
	p.text("The README lists the newest changes. Before that:")
	p.gap()
	for line := range strings.Lines(older) {
		lines := wrapped(line, indent)
		lines[0] = "-" + lines[0][1:]
		p.lines = append(p.lines, lines...)
	}
}

func exits(p *page, f Facts) {
	p.text("Data is printed to standard output, everything else to standard error.")
	var rows [][]string
	for _, e := range f.Exits {
		rows = append(rows, []string{fmt.Sprint(e.Status), e.Meaning})
	}
	p.rows(rows)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/transfer"
	"winnow/assistant/safetext"
	"winnow/tui/plain"
)

// filterFlags supplies the values that, on the screen, a filter line takes from the program: the time, the topic and
// the number of included pairs.
type filterFlags struct {
	now, topic string
	newest     int // number of pairs that the term o selects; -1 means all
}

func (l *filterFlags) bind(c *cobra.Command) {
	c.Flags().StringVar(&l.now, "now", "", "compute ages relative to this TIME (RFC 3339; default now)")
	c.Flags().StringVar(&l.topic, "topic", "", "the PATH of the topic that the terms t and tN refer to, for example 'AI > Agents'")
	c.Flags().IntVar(&l.newest, "context", -1, "limit the term o to the newest N messages that the rest of the line selects; -1 means all")
}

// sessionStore is the part of the store that env needs.
type sessionStore interface {
	history.Sessions
	history.Settings
}

// env returns the environment for a query over the history. The model is --model or, without it, the model last
// selected in this folder; the session is the session last used in this folder.
func (l *filterFlags) env(ctx context.Context, a *app, store sessionStore) (history.Env, error) {
	s, err := a.config()
	if err != nil {
		return history.Env{}, err
	}
	e := history.Env{CharsPerToken: s.CharsPerToken}
	e.Now, e.SelectedTopic, e.SelectedModel = time.Now(), l.topic, a.flags.model
	if l.now != "" {
		if e.Now, err = time.Parse(time.RFC3339, l.now); err != nil {
			return e, &usageError{"winnow history", fmt.Sprintf("--now: %q is not a time such as 2026-03-04T15:04:05Z", l.now)}
		}
	}
	if e.SelectedModel == "" {
		if e.SelectedModel, err = store.Get(ctx, lastModelKey(a.folder())); err != nil {
			return e, err
		}
	}
	last, _, err := store.LastSession(ctx, a.folder())
	e.Session = last.ID
	if l.newest >= 0 {
		e.Fits = func(base []assistant.Ref) int { return min(l.newest, len(base)) }
	}
	return e, err
}

// withHistory returns a command action that opens the history and calls run.
func (a *app) withHistory(run func(ctx context.Context, store history.Store, args []string) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		store, err := a.openHistory(ctx)
		if err != nil {
			return err
		}
		return run(ctx, store, args)
	}
}

// selectSeqs returns the sequence numbers of the pairs that a line selects, and prints hints to standard error.
func (a *app) selectSeqs(ctx context.Context, store history.Store, line string, in *filterFlags) ([]int64, error) {
	usage := func(err error) error {
		if has[*filter.Error](err) {
			return advise(&usageError{"winnow history", fmt.Sprintf("the line %q: %v", safetext.Line(line, maxName), err)}, "winnow help filter explains the language")
		}
		return err
	}
	q, err := filter.Parse(line)
	if err != nil {
		return nil, usage(err)
	}
	if q.Command != nil {
		return nil, &usageError{"winnow history", "a line with a command such as :star works only in the program; remove the command"}
	}
	env, err := in.env(ctx, a, store)
	if err != nil {
		return nil, err
	}
	result, err := store.Filter(ctx, q, env)
	if err != nil {
		return nil, usage(err)
	}
	for _, h := range result.Hints {
		a.printErr("%s", h)
	}
	seqs := make([]int64, len(result.Refs))
	for i, r := range result.Refs {
		seqs[i] = r.Seq
	}
	return seqs, nil
}

func historySearchCommand(a *app) *cobra.Command {
	var in filterFlags
	c := command("search LINE", "List the messages that a line of the filter language selects", 1, 1, a.withHistory(func(ctx context.Context, store history.Store, args []string) error {
		return a.historySearch(ctx, store, args[0], &in)
	}))
	c.Example = `winnow history search "c'retry' & d<7d"`
	in.bind(c)
	return c
}

func (a *app) historySearch(ctx context.Context, store history.Store, line string, in *filterFlags) error {
	seqs, err := a.selectSeqs(ctx, store, line, in)
	if err != nil {
		return err
	}
	const atOnce = 200 // pairs loaded at a time, to bound memory
	ids := []string{}  // for JSON
	for part := range slices.Chunk(seqs, atOnce) {
		pairs, err := store.Load(ctx, part)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if a.flags.json {
				ids = append(ids, p.ID)
				continue
			}
			line := fmt.Sprintf("%s  %s  %s  %s", p.ID, p.CreatedAt.Local().Format(timeLayout), p.Model, strings.Repeat("*", p.Star))
			if p.State == assistant.PairError {
				line += " error: " + p.ErrorCode
			}
			if err := a.emit(nil, visible(strings.TrimRight(line, " ")), string("    "+safetext.Line(p.UserText, max(a.width()-4, 20)))); err != nil {
				return err
			}
		}
	}
	if a.flags.json {
		return a.printJSON(ids)
	}
	if len(seqs) == 0 {
		a.printErr("no message matches")
	}
	return nil
}

// formats maps the value of --format or a file extension to an export format.
var formats = map[string]transfer.Format{"json": transfer.JSON, "md": transfer.Markdown, "txt": transfer.Text, "html": transfer.HTML}

func historyExportCommand(a *app) *cobra.Command {
	var in filterFlags
	var format, line string
	var force bool
	c := command("export [FILE]", "Write messages to a file or to standard output", 0, 1, a.withHistory(func(ctx context.Context, store history.Store, args []string) (err error) {
		path := append(args, "-")[0]
		f, ok := formats[format]
		if !ok && format != "" {
			return &usageError{"winnow history export", fmt.Sprintf("--format: %q is not one of json, md, txt, html", format)}
		}
		if format == "" {
			f = cmp.Or(formats[strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))], transfer.JSON)
		}
		o := transfer.ExportOptions{Overwrite: force, Progress: func(done, total int) { a.progress("exporting %d of %d messages", done, total) }}
		if line != "" {
			if o.Seqs, err = a.selectSeqs(ctx, store, line, &in); err != nil {
				return err
			}
		}
		return a.export(ctx, store, path, f, o)
	}))
	c.Example = "winnow history export all.json\nwinnow history export --format md --filter 's>1' best.md"
	in.bind(c)
	c.Flags().StringVar(&format, "format", "", "the FORMAT: json (lossless), md, txt or html (default: by the name of the file, else json)")
	c.Flags().StringVar(&line, "filter", "", "export only the messages that this LINE of the filter language selects")
	c.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	return c
}

// export writes to the file at path, or to standard output if path is "-".
func (a *app) export(ctx context.Context, store transfer.Source, path string, f transfer.Format, o transfer.ExportOptions) error {
	defer a.progress("")
	if path == "-" {
		return transfer.Export(ctx, store, a.stdout, f, o)
	}
	if err := transfer.ExportFile(ctx, store, path, f, o); err != nil {
		return err
	}
	a.progress("")
	return a.emit(map[string]string{"path": path, "format": string(f)}, "exported to "+path)
}

func historyImportCommand(a *app) *cobra.Command {
	return command("import FILE…", "Add the messages of a JSON export; - is standard input", 1, -1, a.withHistory(func(ctx context.Context, store history.Store, files []string) error {
		defer a.progress("")
		var sum transfer.ImportReport
		for _, name := range files {
			r, err := a.importFile(ctx, store, name)
			sum.Added += r.Added
			sum.Known += r.Known
			if err != nil {
				if sum.Added == 0 {
					return err
				}
				return advise(err, "%s added before the error; importing again adds no duplicates", assistant.Counted(sum.Added, "message"))
			}
		}
		a.progress("")
		return a.emit(map[string]int{"added": sum.Added, "known": sum.Known},
			fmt.Sprintf("%s added, %d already present", assistant.Counted(sum.Added, "message"), sum.Known))
	}))
}

// importFile imports one file, or standard input if name is "-".
func (a *app) importFile(ctx context.Context, store transfer.ImportTarget, name string) (transfer.ImportReport, error) {
	from := plain.Input(ctx, a.stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return transfer.ImportReport{}, err
		}
		defer f.Close()
		from = io.Reader(f)
	}
	r, err := transfer.Import(ctx, store, from, func(done int) { a.progress("importing %s: %s", name, assistant.Counted(done, "message")) })
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return r, err
}

func (a *app) historyCheck(ctx context.Context, store history.Store, _ []string) error {
	a.progress("reading %s", store.Path())
	r, err := store.Check(ctx)
	a.progress("")
	if err != nil {
		return err
	}
	requests := assistant.Counted(r.Requests, "stored request")
	if r.DamagedRequests > 0 {
		requests += fmt.Sprintf(" (%d damaged)", r.DamagedRequests)
	}
	summary := fmt.Sprintf("%s: %s, %s, %s, %s", store.Path(), assistant.Counted(r.Pairs, "message"), assistant.Counted(r.Sessions, "session"), assistant.Counted(r.Topics, "topic"), requests)
	if len(r.Problems) == 0 {
		summary += "; no damage found"
	}
	err = a.emit(map[string]any{
		"path": store.Path(), "ok": len(r.Problems) == 0, "pairs": r.Pairs, "cut": r.Cut, "sessions": r.Sessions, "topics": r.Topics,
		"requests": r.Requests, "damaged_requests": r.DamagedRequests, "damaged": r.Damaged, "problems": nonNil(r.Problems),
	}, summary)
	if err != nil || len(r.Problems) == 0 {
		return err
	}
	var problems []error
	for _, p := range r.Problems {
		problems = append(problems, errors.New(p))
	}
	next := "winnow history export saves what can be read"
	switch {
	case r.Damaged:
		next = "restart winnow: it sets the damaged file aside and keeps what can be read"
	case r.DamagedRequests == len(r.Problems):
		next = "no conversation is damaged; only the recorded requests of some messages (key x) may be missing. Damaged requests are removed as new ones are stored"
	}
	return advise(errors.Join(problems...), "%s", next)
}

func (a *app) historySessions(ctx context.Context, store history.Store, _ []string) error {
	sessions, err := store.Sessions(ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range sessions {
		rows = append(rows, []string{s.ID, s.Used.Local().Format(timeLayout), fmt.Sprint(s.Pairs), windowName(s.Window), s.Model, string(safetext.Line(s.Title, maxName)), s.Folder})
	}
	return a.emit(map[string]any{"sessions": nonNil(sessions)},
		plain.Table("there are no sessions yet", []string{"session", "used", ">messages", "window", "model", "title", "folder"}, rows)...)
}

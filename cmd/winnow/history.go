package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

func historyCommand(a *app) *cobra.Command {
	return group("history", "Search, export, import and check what was said",
		historySearchCommand(a), historyExportCommand(a), historyImportCommand(a),
		&cobra.Command{Use: "check", Short: "Read the whole database and say whether it is sound", Args: args(0, 0), RunE: func(cmd *cobra.Command, _ []string) error { return a.historyCheck(cmd.Context()) }},
		&cobra.Command{Use: "sessions", Short: "List the sessions, the last used first", Args: args(0, 0), RunE: func(cmd *cobra.Command, _ []string) error { return a.historySessions(cmd.Context()) }},
	)
}

// stand is what a filter line depends on besides the pairs: what the program
// would have selected.
type stand struct {
	now, topic string
	context    int
}

func (s *stand) bind(c *cobra.Command) {
	c.Flags().StringVar(&s.now, "now", "", "TIME (RFC 3339) that ages count from; the clock without it")
	c.Flags().StringVar(&s.topic, "topic", "", "PATH of the topic that t and tN mean, for example 'AI > Agents'")
	c.Flags().IntVar(&s.context, "context", -1, "the newest N pairs of the line without o are the included ones; all without it")
}

// env is the stand as the history takes it. The model is that of --model, the
// session the last one of this folder.
func (s *stand) env(ctx context.Context, a *app, store history.Store) (history.Env, error) {
	var e history.Env
	e.Now = a.now()
	if s.now != "" {
		t, err := time.Parse(time.RFC3339, s.now)
		if err != nil {
			return e, &usageError{"winnow history", fmt.Sprintf("--now: %q is not a time such as 2026-03-04T15:04:05Z", s.now)}
		}
		e.Now = t
	}
	set, err := a.config()
	if err != nil {
		return e, err
	}
	e.CharsPerToken = set.CharsPerToken
	e.SelectedTopic = s.topic
	e.SelectedModel = a.flags.model
	if e.SelectedModel == "" {
		if e.SelectedModel, err = store.Get(ctx, lastModelKey(a.folder())); err != nil {
			return e, err
		}
	}
	last, _, err := store.LastSession(ctx, a.folder())
	if err != nil {
		return e, err
	}
	e.Session = last.ID
	if s.context >= 0 {
		e.Fits = func(base []assistant.Ref) int { return min(s.context, len(base)) }
	}
	return e, nil
}

// selected is the pairs that a line selects; hints go to standard error.
func (a *app) selected(ctx context.Context, store history.Store, line string, at *stand) ([]int64, error) {
	q, err := filter.Parse(line)
	if err != nil {
		return nil, lineFault(line, err)
	}
	if q.Command != nil {
		return nil, &usageError{"winnow history", "a line with a :command works in the program only; leave it out"}
	}
	env, err := at.env(ctx, a, store)
	if err != nil {
		return nil, err
	}
	result, err := store.Filter(ctx, q, env)
	if err != nil {
		return nil, lineFault(line, err)
	}
	for _, h := range result.Hints {
		a.say("%s", h)
	}
	seqs := make([]int64, len(result.Refs))
	for i, r := range result.Refs {
		seqs[i] = r.Seq
	}
	return seqs, nil
}

// lineFault says which line cannot be read, and why.
func lineFault(line string, err error) error {
	var at *filter.Error
	if !errors.As(err, &at) {
		return err
	}
	return &usageError{"winnow history", fmt.Sprintf("the line %q: %v", safetext.Line(line, maxName), err)}
}

func historySearchCommand(a *app) *cobra.Command {
	var at stand
	c := &cobra.Command{
		Use: "search LINE", Short: "List the pairs that a line of the filter language selects", Args: args(1, 1),
		Example: `winnow history search "c'retry' & d<7d"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.historySearch(cmd.Context(), args[0], &at)
		},
	}
	at.bind(c)
	return c
}

// loadedAtOnce is how many pairs are held in memory while they are printed.
const loadedAtOnce = 200

func (a *app) historySearch(ctx context.Context, line string, at *stand) error {
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	seqs, err := a.selected(ctx, store, line, at)
	if err != nil {
		return err
	}
	if a.flags.json {
		ids, err := store.IDs(ctx, seqs)
		if err != nil {
			return err
		}
		return a.printJSON(ids)
	}
	for part := range slices.Chunk(seqs, loadedAtOnce) {
		pairs, err := store.Load(ctx, part)
		if err != nil {
			return err
		}
		for i := range pairs {
			if err := a.printPair(&pairs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) printPair(p *assistant.Pair) error {
	marks := strings.Repeat("*", p.Star)
	if p.State == assistant.PairError {
		marks += " error: " + p.ErrorCode
	}
	line := fmt.Sprintf("%s  %s  %s  %s", p.ID, p.CreatedAt.Local().Format(timeShown), p.Model, strings.TrimSpace(marks))
	if err := a.print("%s", strings.TrimRight(line, " ")); err != nil {
		return err
	}
	return a.print("    %s", safetext.Line(p.UserText, max(a.width()-4, 20)))
}

func historyExportCommand(a *app) *cobra.Command {
	var at stand
	var format, line string
	var force bool
	c := &cobra.Command{
		Use: "export [FILE]", Short: "Write pairs to a file or to standard output", Args: args(0, 1),
		Example: "winnow history export all.json\nwinnow history export --format md --filter 's>1' best.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.historyExport(cmd.Context(), append(args, "-")[0], format, line, force, &at)
		},
	}
	at.bind(c)
	c.Flags().StringVar(&format, "format", "", "json (lossless), md, txt or html; by the name of the file without it")
	c.Flags().StringVar(&line, "filter", "", "only the pairs that this LINE selects")
	c.Flags().BoolVar(&force, "force", false, "write over a file that is there")
	return c
}

func (a *app) historyExport(ctx context.Context, to, format, line string, force bool, at *stand) error {
	f, err := exportFormat(format, to)
	if err != nil {
		return err
	}
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	o := history.ExportOptions{Progress: func(done, total int) { a.progress("exporting, %d of %d pairs", done, total) }}
	if line != "" {
		if o.Seqs, err = a.selected(ctx, store, line, at); err != nil {
			return err
		}
		if o.Seqs == nil {
			o.Seqs = []int64{}
		}
	}
	defer a.progressEnd()
	if to == "-" {
		return history.Export(ctx, store, a.stdout, f, o)
	}
	if err := history.ExportFile(ctx, store, to, force, f, o); err != nil {
		return err
	}
	a.progressEnd()
	if a.flags.json {
		return a.printJSON(map[string]string{"path": to, "format": string(f)})
	}
	return a.print("exported to %s", to)
}

func exportFormat(format, to string) (history.Format, error) {
	all := map[string]history.Format{"json": history.JSON, "md": history.Markdown, "txt": history.Text, "html": history.HTML}
	if format == "" {
		if f, ok := all[strings.ToLower(strings.TrimPrefix(filepath.Ext(to), "."))]; ok {
			return f, nil
		}
		return history.JSON, nil
	}
	if f, ok := all[format]; ok {
		return f, nil
	}
	return "", &usageError{"winnow history export", fmt.Sprintf("--format: %q is not one of json, md, txt, html", format)}
}

func historyImportCommand(a *app) *cobra.Command {
	var session string
	c := &cobra.Command{
		Use: "import FILE…", Short: "Add pairs of an export or of a message list; - is standard input", Args: args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.historyImport(cmd.Context(), args, session)
		},
	}
	c.Flags().StringVar(&session, "into", "", "ID of the session that takes the pairs of a message list")
	return c
}

func (a *app) historyImport(ctx context.Context, files []string, session string) error {
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	defer a.progressEnd()
	var sum history.ImportReport
	for _, name := range files {
		o := history.ImportOptions{Session: session, Progress: func(done int) { a.progress("importing %s, %s", name, assistant.Counted(done, "pair")) }}
		r, err := a.importFile(ctx, store, name, o)
		sum.Added += r.Added
		sum.Known += r.Known
		if err != nil {
			return advise(fmt.Errorf("%s: %w", name, err), "%s before the fault were added; importing again adds none twice", assistant.Counted(sum.Added, "pair"))
		}
	}
	a.progressEnd()
	if a.flags.json {
		return a.printJSON(map[string]int{"added": sum.Added, "known": sum.Known})
	}
	return a.print("%s added, %d were there already", assistant.Counted(sum.Added, "pair"), sum.Known)
}

func (a *app) importFile(ctx context.Context, store history.Store, name string, o history.ImportOptions) (history.ImportReport, error) {
	if name == "-" {
		return history.Import(ctx, store, a.stdin, o)
	}
	f, err := os.Open(name)
	if err != nil {
		return history.ImportReport{}, pathFault(err)
	}
	defer f.Close()
	return history.Import(ctx, store, f, o)
}

// pathFault is what the system said, without the path, which stands before it.
func pathFault(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func (a *app) historyCheck(ctx context.Context) error {
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	a.progress("reading %s", store.Path())
	r, err := store.Check(ctx)
	a.progressEnd()
	if err != nil {
		return err
	}
	if a.flags.json {
		err = a.printJSON(map[string]any{
			"path": store.Path(), "ok": len(r.Problems) == 0, "pairs": r.Pairs, "cut": r.Cut, "sessions": r.Sessions, "topics": r.Topics,
			"requests": r.Requests, "damaged_requests": r.DamagedRequests, "damaged": r.Damaged, "problems": append([]string{}, r.Problems...),
		})
	} else {
		requests := assistant.Counted(r.Requests, "kept request")
		if r.DamagedRequests > 0 {
			requests += fmt.Sprintf(" (%d damaged)", r.DamagedRequests)
		}
		err = a.print("%s: %s, %s, %s, %s", store.Path(), assistant.Counted(r.Pairs, "pair"), assistant.Counted(r.Sessions, "session"), assistant.Counted(r.Topics, "topic"), requests)
	}
	if err != nil || len(r.Problems) == 0 {
		return err
	}
	var faults []error
	for _, p := range r.Problems {
		faults = append(faults, errors.New(p))
	}
	next := "winnow history export saves what can be read"
	if r.DamagedRequests == len(r.Problems) {
		next = "the conversations are whole: a damaged request is only missed where the exact request is shown, and goes with time"
	}
	if r.Damaged {
		next = "start winnow again: it sets the damaged file aside and saves what can be read"
	}
	return advise(errors.Join(faults...), "%s", next)
}

// sessionJSON is a session as --json prints it.
type sessionJSON struct {
	ID      string `json:"id"`
	Folder  string `json:"folder"`
	Window  string `json:"window"`
	Model   string `json:"model"`
	Started string `json:"started"`
	Used    string `json:"used"`
	Pairs   int    `json:"pairs"`
}

func (a *app) historySessions(ctx context.Context) error {
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	sessions, err := store.Sessions(ctx)
	if err != nil {
		return err
	}
	all := []sessionJSON{}
	rows := [][]string{}
	for _, s := range sessions {
		all = append(all, sessionJSON{s.ID, s.Folder, s.Window, s.Model, s.Started.UTC().Format(timeJSON), s.Used.UTC().Format(timeJSON), s.Pairs})
		rows = append(rows, []string{s.ID, s.Used.Local().Format(timeShown), fmt.Sprint(s.Pairs), windowName(s.Window), s.Model, s.Folder})
	}
	if a.flags.json {
		return a.printJSON(map[string]any{"sessions": all})
	}
	if len(rows) == 0 {
		return a.print("there are no sessions yet")
	}
	return a.table([]column{{title: "session"}, {title: "used"}, {title: "pairs", right: true}, {title: "window"}, {title: "model"}, {title: "folder"}}, rows)
}

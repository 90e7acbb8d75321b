package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/doctor"
	"winnow/adapters/mcptools"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/plain"
)

// askToolsWait is how long winnow ask waits for MCP servers: its only turn uses the tools
// that are available when it starts.
const askToolsWait = 5 * time.Second

// openTools returns a client for the MCP servers in the settings. It has not connected yet.
func (a *app) openTools() (*mcptools.Client, error) {
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	c := mcptools.New(mcptools.Options{
		Servers: s.MCPServers, Environ: a.environ, Redactor: a.redactor, Version: version(), Log: a.logger(),
		Notify: func(text safetext.Text) {
			if notify := a.onNotice.Load(); notify != nil {
				(*notify)(text)
				return
			}
			a.printErr("%s", text)
		},
	})
	a.onClose(c.Close)
	return c, nil
}

// startTools connects to the MCP servers in the background, once, and returns their tools
// for sessions; nil if there are no servers.
func (a *app) startTools() (func() []assistant.Tool, error) {
	if len(a.settings.MCPServers) == 0 {
		return nil, nil
	}
	if a.tools == nil {
		c, err := a.openTools()
		if err != nil {
			return nil, err
		}
		a.tools = c
		c.Start()
	}
	return a.tools.Tools, nil
}

// waitForTools waits for the MCP servers and reports the servers whose tools are missing.
func (a *app) waitForTools(ctx context.Context) {
	if a.tools == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askToolsWait)
	defer cancel()
	for _, name := range a.tools.Wait(ctx) {
		a.printErr("the MCP server %s has not answered within %s: its tools are missing", name, askToolsWait)
	}
}

func toolsCommand(a *app) *cobra.Command {
	test := command("test [SERVER…]", "Connect to the MCP servers and report what each offers", 0, -1, a.toolsTest)
	test.Long = "test exits with status 1 if a server cannot be used. It lists the tools that the assistant\n" +
		"is not given, each with the reason, such as parameters whose schema is too large."
	return group("tools", "List and test the MCP servers whose tools the assistant has",
		command("list [SERVER…]", "List the tools of the MCP servers", 0, -1, a.toolsList), test)
}

// reports connects to the named servers, or to all if there are no names, and returns a report on each.
func (a *app) reports(ctx context.Context, names []string) ([]mcptools.Report, error) {
	c, err := a.openTools()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		known := false
		for _, s := range a.settings.MCPServers {
			known = known || s.Name == name
		}
		if !known {
			return nil, advise(fmt.Errorf("the settings have no MCP server %q", safetext.Line(name, maxName)), "winnow help mcp shows how to add one")
		}
	}
	found := c.Reports(ctx, names...)
	return found, ctx.Err()
}

// reportJSON is the JSON form of a report.
type reportJSON struct {
	mcptools.Report
	OK    bool   `json:"ok"`
	Error string `json:"error"`
}

func newReportJSON(found []mcptools.Report) []reportJSON {
	out := []reportJSON{}
	for _, r := range found {
		j := reportJSON{Report: r, OK: r.Err == nil}
		if r.Err != nil {
			j.Error = r.Err.Error()
		}
		out = append(out, j)
	}
	return out
}

const noServers = "the settings have no [[mcp]] server; winnow help mcp shows how to add one"

func (a *app) toolsList(ctx context.Context, names []string) error {
	found, err := a.reports(ctx, names)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, r := range found {
		if r.Err != nil {
			a.printErr("MCP server %s: %v", r.Name, r.Err)
		}
		for _, t := range r.Tools {
			asks := "asks"
			if !t.Asks {
				asks = "allowed"
			}
			_, description, _ := strings.Cut(t.Description, "] ")
			rows = append(rows, []string{r.Name, t.Tool, asks, string(safetext.Line(description, maxName))})
		}
	}
	empty := "no server offers a tool"
	if len(found) == 0 {
		empty = noServers
	}
	return a.emit(map[string]any{"servers": newReportJSON(found)}, plain.Table(empty, []string{"server", "tool", "calls", "description"}, rows)...)
}

func (a *app) toolsTest(ctx context.Context, names []string) error {
	found, err := a.reports(ctx, names)
	if err != nil {
		return err
	}
	var lines []string
	var failed error
	for _, r := range found {
		lines = append(lines, a.toolsFinding(r).Lines(a.displayable(stateIcons[a.toolsFinding(r).State]), a.displayable("→"))...)
		for _, l := range r.LeftOut {
			lines = append(lines, fmt.Sprintf("    %s is left out: %s", l.Tool, l.Reason))
		}
		for _, name := range r.Unknown {
			lines = append(lines, fmt.Sprintf("    allowed_tools names %s, which the server does not have", name))
		}
		if r.Err != nil {
			failed = statusError(statusFailed)
		}
	}
	if len(found) == 0 {
		lines = []string{noServers}
	}
	return cmp.Or(a.emit(map[string]any{"servers": newReportJSON(found), "ok": failed == nil}, lines...), failed)
}

// toolsFinding describes a server in one line.
func (a *app) toolsFinding(r mcptools.Report) doctor.Finding {
	about := "MCP " + r.Name
	if r.Err != nil {
		return doctor.Fail(about, doctor.NoTools, r.Err, r.Name)
	}
	text := fmt.Sprintf("%s from %s in %s", assistant.Counted(len(r.Tools), "tool"), r.Address, r.Took.Round(time.Millisecond))
	if problems := len(r.LeftOut) + len(r.Unknown); problems > 0 {
		return doctor.Problem(about, doctor.Warning, doctor.ToolsLeftOut, fmt.Sprintf("%s; %s", text, assistant.Counted(problems, "problem")), r.Name)
	}
	return doctor.Pass(about, "%s", text)
}

// examineTools connects to every MCP server. A server that does not answer in time is
// reported as failed.
func (a *app) examineTools(ctx context.Context) (found []doctor.Finding) {
	const limit = 8 * time.Second // shorter than the doctor's own limit
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	reports, err := a.reports(ctx, nil)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return []doctor.Finding{doctor.Fail("MCP", doctor.BadSettings, err, "")}
	}
	for _, r := range reports {
		if r.Took == 0 || errors.Is(r.Err, context.DeadlineExceeded) {
			r.Err = fmt.Errorf("no answer within %s", limit)
		}
		found = append(found, a.toolsFinding(r))
	}
	return found
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant/serve"
	"winnow/assistant/serve/api"
	"winnow/tui"
	"winnow/tui/overlay"
	"winnow/tui/rules"
	"winnow/tui/style"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// shownPlan is the plan of a save as a front end showed it.
type shownPlan struct {
	lines  map[string]string // by variable; "" if the save removes the line
	digest string            // "" if the front end does not show it
}

// planLine matches a line of the file in a plan of any front end.
var planLine = regexp.MustCompile(`([+−-]) ?((?:IGNORE|WHITELIST)_MODELS_[A-Z]+)(=\S*)`)

// readPlan extracts a plan from the output of a front end, or returns nil if there is none.
func readPlan(text string) *shownPlan {
	p := &shownPlan{lines: map[string]string{}}
	for _, l := range planLine.FindAllStringSubmatch(text, -1) {
		if l[1] == "+" {
			p.lines[l[2]] = l[2] + l[3]
		} else if p.lines[l[2]] == "" {
			p.lines[l[2]] = ""
		}
	}
	if len(p.lines) == 0 {
		return nil
	}
	return p
}

// saver is a front end as its user operates it.
type saver interface {
	// edit adds an ignore rule.
	edit(pattern string)
	// plan shows what a save would write; nil means nothing, or a conflict.
	plan() *shownPlan
	// save confirms the plan that was shown last. now is the plan shown instead of saving, if any.
	save(shown *shownPlan) (now *shownPlan)
}

// office is one window with all front ends: the serving program with the screen and HTTP, and separate programs for
// an agent and the command line.
type office struct {
	t    *testing.T
	file string
	p    *program
	app  *app
	end  []func()

	savers map[string]saver
}

func newOffice(t *testing.T) *office {
	t.Helper()
	t.Setenv("WINNOW_HOME", t.TempDir())
	o := &office{t: t, file: ".env"}
	o.write("OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nGEMINI_API_KEY=sk-test-bbbbbbbbbbbbbbbb\nIGNORE_MODELS_OPENAI=w0\n")
	o.app = newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	o.must(newRoot(o.app).ParseFlags([]string{"-m", "offline/rules"}))
	var err error
	o.p, err = o.app.openHub(o.app.ctx, serve.Limits{})
	o.must(err)
	hub := o.p.window.hub.Load()
	o.end = append(o.end, func() { o.must(hub.Close(context.WithoutCancel(t.Context()))); o.must(o.app.close()) })
	o.savers = map[string]saver{"screen": o.openScreen(hub), "http": o.openHTTP(hub), "mcp": o.openAgent(), "rules": &commandLine{o}}
	return o
}

func (o *office) close() {
	for _, end := range slices.Backward(o.end) {
		end()
	}
}

func (o *office) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) write(text string) {
	o.t.Helper()
	o.must(os.WriteFile(o.file, []byte(text), 0o600))
}

func (o *office) read() string {
	o.t.Helper()
	text, err := os.ReadFile(o.file)
	o.must(err)
	return string(text)
}

// screenSaver is the screen of anna.
type screenSaver struct {
	*tuitest.Screen
	o     *office
	clock *tuitest.Clock
}

// The size of the screen: no line outside of an overlay is wrapped, and each plan is shown without scrolling.
const (
	wide = 600 // columns
	tall = 100 // lines
)

func (o *office) openScreen(hub *serve.Hub) saver {
	o.t.Helper()
	s, err := hub.Open(o.t.Context(), serve.Join{User: "anna"})
	o.must(err)
	clock := tuitest.NewClock()
	model, err := tui.New(tui.Options{
		Context: o.t.Context(), Now: clock.Now, Clipboard: func(string) error { return nil },
		Parts:          tui.Parts{Source: usecase.Source{Work: s.Workspace, Served: s, History: o.p.store}, Pane: rules.New(rules.Options{})},
		ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Dark: true, Unicode: true}},
	})
	o.must(err)
	v := &screenSaver{Screen: tuitest.Start(o.t, model, wide, tall, tuitest.Options{Clock: clock}), o: o, clock: clock}
	o.end = append(o.end, v.Quit)
	v.Wait(" INPUT ")
	v.Type(tuitest.ShiftTab)
	v.Wait(" PANE ")
	return v
}

const saveQuestion = "Save these changes?"

// guardTime is longer than the time for which a new question ignores keys.
const guardTime = 1 << 30 // nanoseconds

// leave closes an open question.
func (v *screenSaver) leave() {
	v.o.t.Helper()
	if strings.Contains(v.Frame(), "don't save") {
		v.answer("n")
		v.WaitGone("don't save")
	}
}

// answer presses a key on a question once it accepts keys.
func (v *screenSaver) answer(key tuitest.Key) {
	v.o.t.Helper()
	v.clock.Advance(guardTime)
	v.Type(key)
}

// edit opens the input line for a new rule first, because a turn that has ended may still appear to run and a
// question may appear late.
func (v *screenSaver) edit(pattern string) {
	v.o.t.Helper()
	v.leave()
	v.Type("h")
	looks := 0
	v.Until(func(f string) bool {
		if looks++; looks%lookAgain == 0 {
			v.leave()
			v.Type("h")
		}
		return strings.Contains(f, "esc leaves") || strings.Contains(f, "esc clears")
	})
	v.Type(pattern, tuitest.Enter)
	v.Until(func(string) bool { return strings.Contains(fmt.Sprint(v.o.p.window.filter.Diff()), pattern) })
}

// lookAgain is the number of checks of a condition after which a key is pressed again.
const lookAgain = 50

func (v *screenSaver) plan() *shownPlan {
	v.o.t.Helper()
	v.leave()
	v.Type(tuitest.CtrlS)
	return v.shown(nil, v.o.read())
}

// shown waits until the question has changed, the file has been written or nothing is unsaved. It presses the key
// again if needed: notices of other users may replace the reply to a key in the footer, and a turn that has ended may
// still appear to run.
func (v *screenSaver) shown(before []string, file string) (now *shownPlan) {
	v.o.t.Helper()
	looks := 0
	v.Until(func(f string) bool {
		asks := strings.Contains(f, "don't save")
		switch looks++; {
		case v.o.read() != file || strings.Contains(f, "nothing to save"):
			return !asks
		case asks && !slices.Equal(questionOf(f), before):
			if strings.Contains(f, saveQuestion) {
				now = readPlan(sheetOf(f))
			}
			return true
		case !asks && looks%lookAgain == 0:
			v.Type(tuitest.CtrlS)
		}
		return false
	})
	if now == nil {
		v.leave()
	}
	return now
}

// sheetOf returns the text of the open overlay, with each list of rules on one line again: the sheet breaks it after
// commas. Without an overlay it returns the frame.
func sheetOf(frame string) string {
	var out strings.Builder
	left, right := -1, -1 // columns of the border
	for line := range strings.Lines(frame) {
		cells := []rune(strings.TrimRight(line, "\n"))
		if from := slices.Index(cells, '╭'); left < 0 && from >= 0 {
			left, right = from, slices.Index(cells, '╮')
			continue
		}
		if left < 0 || right >= len(cells) {
			continue
		}
		if cells[left] == '╰' {
			return out.String()
		}
		text := strings.TrimSpace(string(cells[left+1 : right]))
		out.WriteString(text)
		if !strings.HasSuffix(text, ",") {
			out.WriteString("\n")
		}
	}
	return frame
}

// questionOf returns what distinguishes the question in a frame from others.
func questionOf(frame string) []string {
	return append(planLine.FindAllString(sheetOf(frame), -1), fmt.Sprint(strings.Contains(frame, "after it was shown"), strings.Contains(frame, saveQuestion)))
}

func (v *screenSaver) save(*shownPlan) *shownPlan {
	v.o.t.Helper()
	file, question := v.o.read(), questionOf(v.Frame())
	v.answer("y")
	return v.shown(question, file)
}

// client is the user bert, over HTTP.
type client struct {
	o       *office
	handler *api.Server
	session string
}

func (o *office) openHTTP(hub *serve.Hub) saver {
	o.t.Helper()
	server, err := api.New(api.Options{Hub: hub, Token: "the-token-of-this-test", Address: "127.0.0.1:7777", Version: "test"})
	o.must(err)
	c := &client{o: o, handler: server}
	var info struct{ ID string }
	o.must(json.Unmarshal([]byte(c.call("/v1/sessions", map[string]any{}, 201)), &info))
	c.session = info.ID
	return c
}

// call makes a request and returns the answer, which must have one of these statuses.
func (c *client) call(path string, body map[string]any, status ...int) string {
	c.o.t.Helper()
	raw, err := json.Marshal(body)
	c.o.must(err)
	return c.request("POST", path, raw, status...)
}

func (c *client) request(method, path string, raw []byte, status ...int) string {
	c.o.t.Helper()
	req := httptest.NewRequestWithContext(c.o.t.Context(), method, "http://127.0.0.1:7777"+path, bytes.NewReader(raw))
	req.Header.Set("Authorization", "Bearer the-token-of-this-test")
	req.Header.Set("Content-Type", "application/json")
	resp := httptest.NewRecorder()
	c.handler.Handler().ServeHTTP(resp, req)
	if !slices.Contains(status, resp.Code) {
		c.o.t.Fatalf("%s: %d %s", path, resp.Code, resp.Body)
	}
	return resp.Body.String()
}

func (c *client) edit(pattern string) {
	c.o.t.Helper()
	c.call("/v1/window/edit", map[string]any{"session": c.session, "tool": "add_ignore_rule", "arguments": map[string]string{"pattern": pattern}}, 200, 422)
}

// send runs a turn of the offline model.
func (c *client) send(text string) {
	c.o.t.Helper()
	c.call("/v1/sessions/"+c.session+"/messages", map[string]any{"text": text}, 200)
}

// jsonPlan is the JSON form of a plan.
type jsonPlan struct {
	Digest   string
	Files    []struct{ Lines []struct{ Kind, Text string } }
	Conflict *struct{}
}

func (p jsonPlan) shown() *shownPlan {
	var text []string
	for _, f := range p.Files {
		for _, l := range f.Lines {
			text = append(text, l.Kind+l.Text)
		}
	}
	shown := readPlan(strings.Join(text, "\n"))
	if shown == nil || p.Conflict != nil {
		return nil
	}
	shown.digest = p.Digest
	return shown
}

func (c *client) plan() *shownPlan {
	c.o.t.Helper()
	var plan jsonPlan
	c.o.must(json.Unmarshal([]byte(c.request("GET", "/v1/window/plan?session="+c.session, nil, 200)), &plan))
	return plan.shown()
}

func (c *client) save(shown *shownPlan) *shownPlan {
	c.o.t.Helper()
	var problem struct{ Plan jsonPlan }
	c.o.must(json.Unmarshal([]byte(c.call("/v1/window/save", map[string]any{"session": c.session, "digest": shown.digest}, 200, 409)), &problem))
	return problem.Plan.shown()
}

// agentSaver is a client of winnow mcp that asks its user before a save.
type agentSaver struct {
	o       *office
	session *sdk.ClientSession
	asked   chan string    // questions
	yes     chan bool      // the answers to them
	done    chan toolReply // nil if no question is open
}

// toolReply is the result of save_changes.
type toolReply struct {
	text string
	err  error
}

func (o *office) openAgent() saver {
	o.t.Helper()
	in, there := io.Pipe()
	here, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.WithoutCancel(o.t.Context()))
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"mcp"}, in, out, io.Discard)
		_ = out.Close()
	}()
	a := &agentSaver{o: o, asked: make(chan string, 1), yes: make(chan bool)}
	var err error
	a.session, err = sdk.NewClient(&sdk.Implementation{Name: "Agent", Version: "1"}, &sdk.ClientOptions{ElicitationHandler: a.ask}).Connect(ctx, &sdk.IOTransport{Reader: here, Writer: there}, nil)
	o.must(err)
	o.end = append(o.end, func() {
		a.leave()
		_ = there.Close()
		if status := <-ended; status != 0 {
			o.t.Errorf("winnow mcp ends with status %d", status)
		}
		cancel()
		_ = a.session.Close()
	})
	return a
}

// ask is called by the server; the test provides the answer.
func (a *agentSaver) ask(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	a.asked <- req.Params.Message
	if !<-a.yes {
		return &sdk.ElicitResult{Action: "decline", Content: map[string]any{"confirm": false}}, nil
	}
	return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
}

func (a *agentSaver) call(tool string, args any) toolReply {
	res, err := a.session.CallTool(context.WithoutCancel(a.o.t.Context()), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return toolReply{err: err}
	}
	var r struct{ Message string }
	err = json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &r)
	return toolReply{r.Message, err}
}

func (a *agentSaver) leave() {
	if a.done != nil {
		a.yes <- false
		a.o.must((<-a.done).err)
		a.done = nil
	}
}

func (a *agentSaver) edit(pattern string) {
	a.o.t.Helper()
	a.o.must(a.call("add_ignore_rule", map[string]string{"pattern": pattern}).err)
}

func (a *agentSaver) plan() *shownPlan {
	a.o.t.Helper()
	a.leave()
	done := make(chan toolReply, 1)
	go func() { done <- a.call("save_changes", nil) }()
	select {
	case question := <-a.asked:
		a.done = done
		return readPlan(question)
	case r := <-done: // nothing to save, or a conflict
		a.o.must(r.err)
		return nil
	}
}

func (a *agentSaver) save(*shownPlan) *shownPlan {
	a.o.t.Helper()
	a.yes <- true
	select {
	case question := <-a.asked: // the server asks again
		return readPlan(question)
	case r := <-a.done:
		a.done = nil
		a.o.must(r.err)
		return nil // the new plan is only in the text and has to be requested again
	}
}

// commandLine is winnow rules.
type commandLine struct{ o *office }

func (c *commandLine) run(args ...string) string {
	c.o.t.Helper()
	return c.typed("", args...)
}

// typed runs a command with lines on standard input.
func (c *commandLine) typed(lines string, args ...string) string {
	c.o.t.Helper()
	var out bytes.Buffer
	if status := run(c.o.t.Context(), args, strings.NewReader(lines), &out, &out); status != statusDone && status != statusPending && !strings.Contains(out.String(), "refused") && !strings.Contains(out.String(), "changed by") {
		c.o.t.Fatalf("%q: status %d: %s", args, status, out.String())
	}
	return out.String()
}

func (c *commandLine) edit(pattern string) {
	c.o.t.Helper()
	c.run("rules", "add", pattern)
}

// planDigest matches the digest of a plan on the command line.
var planDigest = regexp.MustCompile(`--plan ([0-9a-f]+)`)

func (c *commandLine) plan() *shownPlan {
	c.o.t.Helper()
	return c.shown(c.run("rules", "diff"))
}

func (c *commandLine) shown(text string) *shownPlan {
	shown, digest := readPlan(text), planDigest.FindStringSubmatch(text)
	if shown == nil || digest == nil {
		return nil
	}
	shown.digest = digest[1]
	return shown
}

func (c *commandLine) save(shown *shownPlan) *shownPlan {
	c.o.t.Helper()
	return c.shown(c.run("rules", "save", "--plan", shown.digest))
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"
)

// benchEnv names the programs that TestProgramBench measures, as "NAME=PATH" separated by spaces. The others are
// compared with the first.
const benchEnv = "WINNOW_BENCH"

const askRow = "ask at 200 chunks/s, CPU µs a token"

// benchRows are the rows of the table in order, each with the number of decimals it is printed with.
var benchRows = []struct {
	name     string
	decimals int
}{
	{"--version, ms", 1},
	{"exec to first frame, ms", 1},
	{"exec to first echo, ms", 1},
	{"resident when idle, MB", 1},
	{"idle CPU, % of a core", 2},
	{"idle context switches a second", 0},
	{"key echo idle p50, ms", 1},
	{"key echo idle p95, ms", 1},
	{"CPU at 200 chunks/s from token 1,000, %", 1},
	{"CPU at 200 chunks/s from token 20,000, %", 1},
	{"context switches a second at 200 chunks/s", 0},
	{"key echo at 200 chunks/s p50, ms", 1},
	{"key echo at 200 chunks/s p95, ms", 1},
	{"CPU at 1,000 chunks/s, %", 1},
	{"key echo at 1,000 chunks/s p50, ms", 1},
	{"key echo at 1,000 chunks/s p95, ms", 1},
	{"50,000 tokens at full speed, ms", 0},
	{"50,000 tokens, CPU µs a token", 1},
	{"resident after 50,000 tokens, MB", 1},
	{askRow, 0},
	{"curl at 200 chunks/s, CPU µs a token", 0},
}

// afterStart is when the work after the start has finished and the memory that only the start used has been released.
const afterStart = 1500 * time.Millisecond

// TestProgramBench measures whole programs on a pseudo terminal of 160×50 and prints a table. It runs only if
// WINNOW_BENCH names programs, for "task bench:pty", and asserts nothing. The programs take turns, so that changes
// in the speed of the machine affect all of them equally.
func TestProgramBench(t *testing.T) {
	named := strings.Fields(os.Getenv(benchEnv))
	if len(named) == 0 {
		t.Skip(benchEnv + " names no program")
	}
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv(benchEnv + "_ROUNDS")); err == nil {
		rounds = n
	}
	server := newPacedServer(t)
	var programs []*benchProgram
	for _, one := range named {
		name, path, ok := strings.Cut(one, "=")
		if !ok {
			t.Fatalf("%s: %q is not NAME=PATH", benchEnv, one)
		}
		programs = append(programs, &benchProgram{t: t, name: name, path: path, url: server.URL + "/v1", samples: map[string][]float64{}})
	}
	for range rounds {
		for _, measure := range []func(*benchProgram){
			(*benchProgram).version, (*benchProgram).start, (*benchProgram).start, (*benchProgram).start,
			(*benchProgram).idle, (*benchProgram).paced, (*benchProgram).fullSpeed, (*benchProgram).ask,
		} {
			for _, p := range programs {
				measure(p)
			}
		}
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\t")
	for _, p := range programs {
		fmt.Fprintf(w, "%s\t", p.name)
	}
	fmt.Fprintln(w, "ratio to the first\t")
	for _, row := range benchRows {
		fmt.Fprintf(w, "%s\t", row.name)
		for _, p := range programs {
			fmt.Fprintf(w, "%.*f\t", row.decimals, median(p.samples[row.name]))
		}
		last := programs[len(programs)-1]
		fmt.Fprintf(w, "%.2f\t\n", median(last.samples[row.name])/median(programs[0].samples[row.name]))
	}
	w.Flush()
	fmt.Print(table.String())
}

// median returns the median of samples, or 0 if there are none.
func median(samples []float64) float64 { return quantile(samples, 0.5) }

func quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// newPacedServer returns an endpoint whose model names say how they answer: "p4000at200" means 4,000 chunks, 200 per
// second; "at0" means as fast as possible.
func newPacedServer(t *testing.T) *httptest.Server {
	t.Helper()
	words := strings.Fields("the models of this provider are listed *below* with `code`, a number like 42 and a few more words of prose.\n\n")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			fmt.Fprint(w, `{"object":"list","data":[{"id":"openai/p6000at200"},{"id":"openai/p30000at200"},{"id":"openai/p8000at1000"},{"id":"openai/p50000at0"},{"id":"openai/p400at200"},{"id":"openai/p200at200"},{"id":"openai/p1800at200"}]}`)
			return
		}
		var body struct{ Model string }
		var n, rate int
		err := json.NewDecoder(r.Body).Decode(&body)
		if err == nil {
			_, err = fmt.Sscanf(body.Model, "openai/p%dat%d", &n, &rate)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		var began time.Time
		burst := 0 // chunks sent at once, so that the later ones extend a long answer
		if n == 30_000 {
			burst = 20_000
		}
		for i := range n {
			if i == burst {
				began = time.Now()
			}
			if late := i - burst; rate > 0 && late > 0 {
				select {
				case <-time.After(time.Until(began.Add(time.Duration(late) * time.Second / time.Duration(rate)))):
				case <-r.Context().Done():
					return
				}
			}
			word := words[i%len(words)]
			if i%17 == 16 {
				word += `\n\n- `
			}
			fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s \"}}]}\n\n", word)
			if rate > 0 || i%64 == 63 {
				w.(http.Flusher).Flush()
			}
		}
		fmt.Fprint(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\n\\nQQEND\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return server
}

// benchProgram is one of the compared programs.
type benchProgram struct {
	t          *testing.T
	name, path string
	url        string // of the paced server
	samples    map[string][]float64
}

func (p *benchProgram) add(row string, value float64) {
	p.samples[row] = append(p.samples[row], value)
}

func (p *benchProgram) env(dir string) []string {
	return append(os.Environ(), "GOGC=", "TERM=xterm-256color", "WINNOW_HOME="+filepath.Join(dir, "home"), "WINNOW_LOCAL_SERVERS=false",
		"PROXY_BASE_URL="+p.url, "PROXY_API_KEY=sk-test-bench")
}

func (p *benchProgram) version() {
	began := time.Now()
	if err := exec.CommandContext(p.t.Context(), p.path, "--version").Run(); err != nil {
		p.t.Fatal(err)
	}
	p.add("--version, ms", ms(time.Since(began)))
}

func (p *benchProgram) start() {
	s := p.open("p400at200")
	defer s.close()
	s.wait(0, "\x1b[?1049h")
	s.wait(0, "INPUT")
	p.add("exec to first frame, ms", ms(time.Since(s.began)))
	s.echo('ß')
	p.add("exec to first echo, ms", ms(time.Since(s.began)))
}

func (p *benchProgram) idle() {
	s := p.open("p400at200")
	defer s.close()
	s.ready()
	<-time.After(afterStart)
	before, at := s.usage(), time.Now()
	<-time.After(4 * time.Second) // measure an idle program
	after, passed := s.usage(), time.Since(at).Seconds()
	p.add("idle CPU, % of a core", 100*(after.cpu-before.cpu)/passed)
	p.add("idle context switches a second", (after.switches-before.switches)/passed)
	p.add("resident when idle, MB", after.resident)
	p.echoes(s, "idle", 60)
}

// echoes types n keys at a normal pace and records how long each takes to appear.
func (p *benchProgram) echoes(s *benchScreen, when string, n int) {
	var took []float64
	for i := range n {
		at := time.Now()
		s.echo([]rune("αβγδεζηθικλμνξοπρστυφχψω")[i%24])
		took = append(took, ms(time.Since(at)))
		<-time.After(time.Duration(30+7*(i%5)) * time.Millisecond) // a typist's pace, out of step with frames
	}
	p.add("key echo "+when+" p50, ms", quantile(took, 0.5))
	p.add("key echo "+when+" p95, ms", quantile(took, 0.95))
}

func (p *benchProgram) paced() {
	for model, from := range map[string]string{"p6000at200": "1,000", "p30000at200": "20,000"} {
		s := p.open(model)
		s.ready()
		s.send()
		if from == "1,000" {
			<-time.After(5 * time.Second) // 1,000 tokens at 200 a second
		} else {
			<-time.After(3 * time.Second) // the burst is on the screen
		}
		before, at := s.usage(), time.Now()
		<-time.After(4 * time.Second)
		after, passed := s.usage(), time.Since(at).Seconds()
		p.add("CPU at 200 chunks/s from token "+from+", %", 100*(after.cpu-before.cpu)/passed)
		if from == "1,000" {
			p.add("context switches a second at 200 chunks/s", (after.switches-before.switches)/passed)
			p.echoes(s, "at 200 chunks/s", 60)
		}
		s.close()
	}
	s := p.open("p8000at1000")
	defer s.close()
	s.ready()
	s.send()
	<-time.After(time.Second)
	before, at := s.usage(), time.Now()
	<-time.After(2 * time.Second)
	p.add("CPU at 1,000 chunks/s, %", 100*(s.usage().cpu-before.cpu)/time.Since(at).Seconds())
	p.echoes(s, "at 1,000 chunks/s", 40)
}

func (p *benchProgram) fullSpeed() {
	s := p.open("p50000at0")
	defer s.close()
	s.ready()
	<-time.After(afterStart)
	before, at := s.usage(), time.Now()
	from := s.send()
	s.wait(from, "\x1b]2;winnow\a") // the title of an idle program, which is drawn with the last line
	p.add("50,000 tokens at full speed, ms", ms(time.Since(at)))
	after := s.usage()
	p.add("50,000 tokens, CPU µs a token", (after.cpu-before.cpu)/50_000*1e6)
	p.add("resident after 50,000 tokens, MB", after.resident)
}

// ask measures the cost of one more token, without the start: winnow ask into a pipe, and curl, which only copies
// what it receives.
func (p *benchProgram) ask() {
	perToken := func(command func(model string) *exec.Cmd) float64 {
		var used [2]time.Duration
		for i, model := range []string{"openai/p200at200", "openai/p1800at200"} {
			dir := p.folder()
			cmd := command(model)
			cmd.Dir, cmd.Env = dir, p.env(dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				p.t.Fatalf("%v: %v: %s", cmd.Args, err, out)
			}
			used[i] = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		return float64((used[1] - used[0]).Microseconds()) / 1600
	}
	p.add(askRow, perToken(func(model string) *exec.Cmd {
		return exec.CommandContext(p.t.Context(), p.path, "-m", "proxy/"+model, "ask", "go")
	}))
	curl, err := exec.LookPath("curl")
	if err != nil {
		p.t.Log("curl is not installed: its row stays 0")
		return
	}
	p.add("curl at 200 chunks/s, CPU µs a token", perToken(func(model string) *exec.Cmd {
		return exec.CommandContext(p.t.Context(), curl, "--silent", "--no-buffer", "--data", fmt.Sprintf(`{"model":%q}`, model), p.url+"/chat/completions")
	}))
}

func (p *benchProgram) folder() string {
	dir := p.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("OPENAI_API_KEY=sk-test-aaaaaaaaaaaa\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return dir
}

// benchScreen is a program on a pseudo terminal of 160×50.
type benchScreen struct {
	t           *testing.T
	began       time.Time
	master, tty *os.File
	cmd         *exec.Cmd
	stop        context.CancelFunc

	mu      sync.Mutex
	written []byte
	changed chan struct{} // closed and replaced on each write
}

func (p *benchProgram) open(model string) *benchScreen {
	master, tty := openPty(p.t)
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 160}); err != nil {
		p.t.Fatal(err)
	}
	dir := p.folder()
	ctx, stop := context.WithCancel(p.t.Context())
	s := &benchScreen{t: p.t, master: master, tty: tty, stop: stop, changed: make(chan struct{})}
	s.cmd = exec.CommandContext(ctx, p.path, "-m", "proxy/openai/"+model)
	s.cmd.Dir, s.cmd.Env = dir, p.env(dir)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	s.began = time.Now()
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go s.read()
	return s
}

func (s *benchScreen) close() {
	s.stop()
	_ = s.cmd.Wait() // always reports that the process was killed
	_ = s.tty.Close()
	_ = s.master.Close()
}

func (s *benchScreen) read() {
	buf := make([]byte, 1<<16)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.written = append(s.written, buf[:n]...)
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait waits until text has been written at or after byte offset from.
func (s *benchScreen) wait(from int, text string) {
	s.t.Helper()
	late := time.After(patience)
	for {
		s.mu.Lock()
		found, changed := bytes.Contains(s.written[from:], []byte(text)), s.changed
		s.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-late:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.t.Fatalf("%q never came; the terminal got last %q", text, s.written[max(0, len(s.written)-2000):])
		}
	}
}

// ready waits until the program has opened everything.
func (s *benchScreen) ready() {
	s.t.Helper()
	s.wait(0, "What ")
	s.echo('ß')
}

// echo types a character that nothing else draws and waits until it appears.
func (s *benchScreen) echo(key rune) {
	s.t.Helper()
	s.mu.Lock()
	from := len(s.written)
	s.mu.Unlock()
	s.keys(string(key))
	s.wait(from, string(key))
}

// send sends what was typed and waits for the answer to begin. It returns the number of bytes written before.
func (s *benchScreen) send() (from int) {
	s.t.Helper()
	s.mu.Lock()
	from = len(s.written)
	s.mu.Unlock()
	<-time.After(100 * time.Millisecond) // right after another key, ctrl+j may be taken for the end of a pasted line
	s.keys("\n")
	s.wait(from, "provider")
	return from
}

func (s *benchScreen) keys(text string) {
	s.t.Helper()
	if _, err := s.master.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// benchUsage is what a process has used so far.
type benchUsage struct {
	cpu      float64 // seconds
	switches float64 // context switches of all threads
	resident float64 // MB
}

func (s *benchScreen) usage() (u benchUsage) {
	s.t.Helper()
	proc := fmt.Sprintf("/proc/%d", s.cmd.Process.Pid)
	statm, err := os.ReadFile(proc + "/statm")
	if err != nil {
		s.t.Fatal(err)
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(statm))[1], 64)
	u.resident = pages * float64(os.Getpagesize()) / 1e6
	tasks, _ := filepath.Glob(proc + "/task/*")
	for _, task := range tasks {
		if sched, err := os.ReadFile(task + "/schedstat"); err == nil { // the first field is the nanoseconds on a processor
			n, _ := strconv.ParseFloat(strings.Fields(string(sched))[0], 64)
			u.cpu += n / 1e9
		}
		status, _ := os.ReadFile(task + "/status")
		for line := range strings.Lines(string(status)) {
			if name, value, _ := strings.Cut(line, ":"); strings.HasSuffix(name, "voluntary_ctxt_switches") {
				n, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
				u.switches += n
			}
		}
	}
	return u
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// team is a running winnow serve --ssh, with the keys of its users.
type team struct {
	*bench
	port    string
	running served // the running server
	process *exec.Cmd
}

// serveSSH starts a server for these users, each with a key. It ends with the test.
func serveSSH(t *testing.T, users ...string) *team {
	t.Helper()
	for _, program := range []string{"ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	s := &team{bench: newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")}
	var keys []byte
	for _, user := range append(users, "stranger") {
		s.must(exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", user, "-f", s.file(user)).Run())
		public, err := os.ReadFile(s.file(user) + ".pub")
		s.must(err)
		if user != "stranger" {
			keys = append(keys, public...)
		}
	}
	s.must(os.WriteFile(s.file("team.keys"), keys, 0o600))
	s.start()
	return s
}

// file returns the path of a file in the folder of the server.
func (s *team) file(name string) string { return filepath.Join(s.dir, name) }

// start starts the server.
func (s *team) start() {
	s.t.Helper()
	run := s.serve("--http", "127.0.0.1:0", "--ssh", "127.0.0.1:0", "--authorized-keys", "team.keys")
	s.running, s.process = run, run.process
	_, s.port, _ = strings.Cut(run.ssh, ":")
}

// log returns the server's log.
func (s *team) log() string {
	s.t.Helper()
	for _, e := range s.env {
		if home, ok := strings.CutPrefix(e, "WINNOW_HOME="); ok {
			raw, err := os.ReadFile(filepath.Join(home, "state", "log", "winnow.log"))
			s.must(err)
			return string(raw)
		}
	}
	return ""
}

// sshArgs returns the arguments of an ssh command that reads no configuration and leaves no trace on this machine.
func (s *team) sshArgs(user string, args ...string) []string {
	return append([]string{
		"-F", "none", "-p", s.port, "-i", s.file(user), "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "127.0.0.1",
	}, args...)
}

// ssh runs a command as a user and returns its output and status.
func (s *team) ssh(user, input string, args ...string) (out string, status int) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "ssh", s.sshArgs(user, args...)...)
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(input)
	raw, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited { //nolint:errorlint // as Run documents
		s.t.Fatal(err)
	}
	return string(raw), cmd.ProcessState.ExitCode()
}

// screen opens the screen of a user in a terminal.
func (s *team) screen(user string) *vterm {
	s.t.Helper()
	v := startVtermOf(s.t, s.dir, os.Environ(), "ssh", s.sshArgs(user)...)
	v.wait("What would you like to change?")
	return v
}

// resize changes the size of a terminal, as its window does.
func (v *vterm) resize(columns, rows uint16) {
	v.t.Helper()
	v.mu.Lock()
	v.emu.Resize(int(columns), int(rows))
	v.mu.Unlock()
	if err := unix.IoctlSetWinsize(int(v.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		v.t.Fatal(err)
	}
	if err := v.cmd.Process.Signal(syscall.SIGWINCH); err != nil {
		v.t.Fatal(err)
	}
}

// ruleMark matches the shape in front of a rule, which depends on the order in which a pane has seen the rules.
var ruleMark = regexp.MustCompile(`[●■▲▼○□◊◘] `)

// rulesOf returns the pane of a frame, with all shapes replaced by the same one.
func rulesOf(frame string) string {
	lines := strings.Split(frame, "\n")
	left, _, both := strings.Cut(lines[1], "│") // the line between the conversation and the rules
	if !both {
		return ""
	}
	column := utf8.RuneCountInString(left) + 1
	for i, line := range lines {
		runes := []rune(line)
		lines[i] = string(runes[min(column, len(runes)):])
	}
	return ruleMark.ReplaceAllString(strings.Join(lines[1:len(lines)-4], "\n"), "● ") // without the header, the box and the footer
}

// TestSSHShowsTheProgram follows two users who work over ssh.
func TestSSHShowsTheProgram(t *testing.T) {
	t.Parallel()
	s := serveSSH(t, "anna", "bert")
	anna, bert := s.screen("anna"), s.screen("bert")
	anna.press("hide every mini model")
	anna.press("\n")
	anna.wait("7 models hidden")
	bert.wait("*mini*") // in the pane of rules

	bert.resize(40, 12)
	if !bert.until("the small frame", func(f string) bool {
		return strings.Contains(f, "\n"+strings.Repeat("─", 40)+"\n")
	}) {
		t.Error("the screen ended")
	}
	if frame, _ := bert.frame(); strings.Contains(frame, "*mini*") {
		t.Errorf("the rules have room beside the conversation: %s", frame)
	}
	bert.press("a draft of bert")
	bert.wait("a draft of bert")
	bert.kill() // the connection is lost
	again := s.screen("bert")
	again.wait("a draft of bert")

	anna.wait("unsaved")
	anna.press("\x11") // ctrl+q asks nothing: the rules stay unsaved for the others
	<-anna.ended
	again.press("\x0f") // ctrl+o
	again.wait("no editor")
	again.press("\x10suspend") // ctrl+p
	again.wait("Suspend winnow")
	again.press("\r")
	again.wait("cannot be suspended")
	again.to("VIEW")
	again.press("f\x15:export secret.md\r")
	again.wait("cannot be exported to files on the server")
	if _, err := os.Stat(s.file("secret.md")); err == nil {
		t.Error("a file was written")
	}
}

// TestSSHEndsInOrder stops the server while a screen is open; the terminal must be restored.
func TestSSHEndsInOrder(t *testing.T) {
	t.Parallel()
	s := serveSSH(t, "anna")
	anna := s.screen("anna")
	anna.press("not sent")
	anna.wait("not sent")
	s.must(s.process.Process.Signal(syscall.SIGTERM))
	<-anna.ended
	anna.mu.Lock()
	alternate := anna.emu.IsAltScreen()
	anna.mu.Unlock()
	frame, _ := anna.frame()
	if alternate || !strings.Contains(frame, "the server is shutting down") {
		t.Errorf("the terminal is left with (alternate screen: %v):\n%s", alternate, frame)
	}
	s.must(s.process.Wait())
	s.start()
	s.screen("anna").wait("not sent")
}

// TestSSHRunsAskAndRules runs the allowed commands and some that are not allowed.
func TestSSHRunsAskAndRules(t *testing.T) {
	t.Parallel()
	s := serveSSH(t, "anna")
	for _, c := range []struct {
		input, line, want string
		status            int
	}{
		{"", "rules list", "there are no rules", 0},
		{"", "winnow rules add '*mini*' gpt-4*", "added ignore rule *mini*", 0},
		{"", "winnow rules list --json", `"pattern":"*mini*"`, 0},
		{"", "rules diff", "IGNORE_MODELS_OPENAI", 3},
		{"", "ask hide every nano model", "hidden", 0},
		{"hide every pro model", "ask", "hidden", 0},
		{"every codex model", "ask hide -", "hidden", 0},
		{"", "ask save", "needs --yes here", 3},
		{"", "ask --yes save", "aved", 0},
		{"", "rules plan --add 'o3*'", "1 model becomes hidden", 3},
		{"", "rules discard", "nothing is staged", 0},
		{"", "rules add", "PATTERN", 2},
		{"", "rules list --env-file /etc/passwd", "there is no flag --env-file", 2},
		{"", "rules list --home /tmp", "there is no flag --home", 2},
		{"", "ask --telemetry here hello", "there is no flag --telemetry", 2},
		{"", "ask --base-url http://127.0.0.1:1 hello", "there is no flag --base-url", 2},
		{"", "ls", "only these commands are available", 2},
		{"", "sh -c 'touch it'", "only these commands are available", 2},
		{"", "winnow", "only these commands are available", 2},
		{"", "winnow history export --out it", "only these commands are available", 2},
		{"", "rules list; touch it", "", 1},
		{"", "rules list `touch it`", "", 1},
		{"", "ask 'open", "unbalanced quotes in the command", 2},
	} {
		out, status := s.ssh("anna", c.input, c.line)
		if c.line == "rules list; touch it" || strings.Contains(c.line, "`") {
			if status == 0 && !strings.Contains(out, "unexpected argument") {
				t.Errorf("%s: status %d, %s", c.line, status, out)
			}
			continue
		}
		if status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, want %d with %q: %s", c.line, status, c.status, c.want, out)
		}
	}
	if entries, _ := filepath.Glob(s.file("it")); entries != nil {
		t.Error("a command was run by a shell")
	}
	if got := s.envFile(); !strings.Contains(got, "codex") || strings.Contains(got, "o3") {
		t.Errorf("the file: %s", s.envFile())
	}
	if out := s.run(0, "log", "--json"); !strings.Contains(string(out), `"user":"anna"`) {
		t.Errorf("the log does not name who changed the rules: %s", out)
	}
}

// TestSSHRefuses checks that everything else is refused without giving a reason.
func TestSSHRefuses(t *testing.T) {
	t.Parallel()
	s := serveSSH(t, "anna")
	secret := s.file("team.keys")
	for name, args := range map[string][]string{
		"a wrong key":  s.sshArgs("stranger", "rules list"),
		"no key":       append([]string{"-o", "PubkeyAuthentication=no"}, s.sshArgs("anna", "rules list")...),
		"sftp":         append([]string{"-s"}, s.sshArgs("anna", "sftp")...),
		"a subsystem":  append([]string{"-s"}, s.sshArgs("anna", "netconf")...),
		"no terminal":  append([]string{"-T"}, s.sshArgs("anna")...),
		"a port there": append([]string{"-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:1"}, s.sshArgs("anna", "rules list")...),
		"a tunnel":     append([]string{"-W", "127.0.0.1:1"}, s.sshArgs("anna")...),
	} {
		cmd := exec.CommandContext(t.Context(), "ssh", args...)
		out, err := cmd.CombinedOutput()
		if err == nil || strings.Contains(string(out), secret) || strings.Contains(string(out), "PATTERN") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	log := s.log()
	for _, want := range []string{"ssh: key refused", "ssh: login failed", `"what":"subsystem"`, `"what":"tcpip-forward"`, `"what":"direct-tcpip"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s: %s", want, log)
		}
	}
}

// TestReadmeServesSSH runs the commands of the README.
func TestReadmeServesSSH(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin = "```sh\nwinnow serve --ssh :2222 --authorized-keys team.keys\nssh -p 2222 server.example\nssh -p 2222 server.example "
	_, rest, ok := strings.Cut(string(raw), begin)
	command, _, _ := strings.Cut(rest, "\n")
	if !ok {
		t.Fatal("the README does not serve over ssh")
	}
	s := serveSSH(t, "anna") // runs the first command
	s.screen("anna")
	out, status := s.ssh("anna", "", strings.Fields(command)...)
	if status != 0 || !strings.Contains(out, "7 models hidden") {
		t.Errorf("%q: status %d, %s", command, status, out)
	}
}

// TestManySSHSessionsAgree opens many screens at once, which change the rules at random. In the end all show the
// same. WINNOW_SSH_SESSIONS and WINNOW_SSH_EDITS set the numbers.
func TestManySSHSessionsAgree(t *testing.T) {
	t.Parallel()
	sessions, edits := number("WINNOW_SSH_SESSIONS", 8), number("WINNOW_SSH_EDITS", 64)
	users := []string{"anna", "bert", "cleo"}
	for len(users) < sessions/8 { // one user may open ten
		users = append(users, fmt.Sprint("user", len(users)))
	}
	s := serveSSH(t, users...)
	began, idle := time.Now(), s.cpu()
	screens := make([]*vterm, sessions)
	var all sync.WaitGroup
	for i := range screens {
		all.Go(func() { screens[i] = s.screen(users[i%len(users)]) })
	}
	all.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d sessions open after %v, CPU of the server %v", sessions, time.Since(began).Round(time.Millisecond), s.cpu()-idle)
	began, idle = time.Now(), s.cpu()
	for i, v := range screens {
		all.Go(func() { v.live(i, edits/sessions) })
	}
	all.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d edits took %v, CPU of the server %v", edits, time.Since(began).Round(time.Millisecond), s.cpu()-idle)
	out, status := s.ssh("anna", "", "rules list --json")
	var listed struct {
		Providers []struct{ Ignore []struct{ Pattern string } }
	}
	s.must(json.Unmarshal([]byte(out), &listed))
	if status != 0 || len(listed.Providers) != 1 || len(listed.Providers[0].Ignore) == 0 {
		t.Fatalf("status %d, the rules: %s", status, out)
	}
	rules := listed.Providers[0].Ignore
	want := regexp.MustCompile(fmt.Sprintf(`(?s)ignore +\+%d\s.*› \S+ +%s `, len(rules), regexp.QuoteMeta(rules[0].Pattern)))
	last := ""
	for _, v := range screens {
		v.press("g")
		if !v.until("all the rules", func(f string) bool { return want.MatchString(rulesOf(f)) && (last == "" || rulesOf(f) == last) }) {
			t.Error("a screen has ended")
		}
		frame, _ := v.frame()
		last = rulesOf(frame)
	}
	t.Logf("%d rules: %s", len(rules), last)
}

// live changes the rules repeatedly, each time as soon as the previous change is visible.
func (v *vterm) live(seed, edits int) {
	random := rand.New(rand.NewPCG(uint64(seed), 1)) //nolint:gosec // the same edits each time
	press := func(keys, mode string) {
		v.press(keys)
		v.until(mode, func(f string) bool { return modeOf(f) == mode })
	}
	press("\t", "VIEW")
	for n := range edits {
		press("\t", "PANE")
		if random.IntN(3) > 0 {
			v.press(fmt.Sprintf("hs%02d-%02d*\r", seed, n))
		} else {
			v.press("gx") // delete the first rule, whoever added it
		}
		press("\x1b[Z", "VIEW") // shift+tab; keys wait for the previous change
	}
	press("\t", "PANE")
}

// number returns the value of an environment variable, or usual.
func number(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// cpu returns the CPU time of the server.
func (s *team) cpu() time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	s.must(err)
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	const tick = 10 * time.Millisecond // USER_HZ is 100 on all of Go's Linux ports
	return time.Duration(user+system) * tick
}

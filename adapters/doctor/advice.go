package doctor

import (
	"cmp"
	"context"
	"strings"
	"time"

	said "winnow/assistant/advice"
)

// Kind is the kind of problem in a Finding that is not OK. Each kind has advice.
type Kind int

// The kinds of problems.
const (
	PlainTerminal Kind = iota // the terminal cannot move the cursor
	MergedKeys                // ctrl+enter may arrive as enter
	FewColours
	NoUnicode
	TmuxSilent
	TmuxSettings
	BadSettings
	UnsafeFolder
	AccessibleFiles // other users have access to files
	Unreadable
	NotWritable
	BadEnvFile
	EnvLines
	NoEndpoint
	BadKey
	NoQuota
	NoAnswer
	NoSuchModel
	NoModels
	ModelGone
	Refused
	NoKey
	NoKeyring
	NewerSchema
	Damaged
	NoHistory
	NoHistoryServer
	WindowHeld
	StaleProxy
	NotApplied
	UsedHidden
	UnusedShown
	BadUsage
	SilentProxy
	KeyInFile
	NoTools
	ToolsLeftOut
	TooSlow
	kinds
)

// advice says what to do about each kind of problem, in lines: a command to paste, a setting to change or a line for a
// file. {what} is replaced with what the finding names.
var advice = [kinds]string{
	PlainTerminal: "winnow --plain",
	MergedKeys: "winnow doctor keys   shows which keys arrive\nwinnow config edit   and set send_key = \"enter\" to send with enter\n" +
		"kitty, Ghostty, foot, Alacritty, iTerm2, VS Code and WezTerm (enable_kitty_keyboard = true) report ctrl+enter",
	FewColours: "export COLORTERM=truecolor TERM=xterm-256color   if the terminal supports more colours",
	NoUnicode:  "export LC_ALL=C.UTF-8",
	TmuxSilent: "tmux kill-server   if no tmux command responds; then start tmux again",
	TmuxSettings: "add to ~/.tmux.conf, then: tmux source-file ~/.tmux.conf\nset -s extended-keys on\nset -as terminal-features 'xterm*:extkeys'\n" +
		"set -g focus-events on\nset -s set-clipboard on\nset -s escape-time 10",
	BadSettings:     "winnow config edit",
	UnsafeFolder:    "export WINNOW_HOME=$HOME/.winnow   uses a private folder",
	AccessibleFiles: "chmod go-rwx {what}",
	Unreadable:      "sudo chown -R $USER {what} && chmod -R u+rwX {what}",
	NotWritable:     "chmod u+rwx {what}   and check that its disk is not full: df {what}",
	BadEnvFile:      "winnow --env-file FILE   uses another file; or correct this one",
	EnvLines:        "winnow rules lint   and change these lines:\n{what}",
	NoEndpoint:      "winnow config edit   and add a [[provider]], or: winnow -m offline/rules",
	BadKey:          "winnow config show   shows where the key comes from; change the key there",
	NoQuota:         "winnow models --chat   and choose another model with -m, or wait",
	NoAnswer:        "start the server at {what}, or: winnow -m offline/rules",
	NoSuchModel:     "winnow models --chat   lists the available models",
	NoModels:        "load or pull a model on the server at {what}, then: winnow models --chat",
	ModelGone:       "winnow models --chat   lists the available models; change model = {what} with: winnow config edit",
	Refused:         "winnow --log-level debug ask hello   and read the log; winnow help files shows where it is",
	NoKey:           "winnow config connect   reconnects the endpoint; or set the variable or fix the command that the settings name for the key",
	NoKeyring:       "install secret-tool (libsecret-tools), or name the key as env:NAME or cmd:COMMAND with: winnow config edit",
	NewerSchema:     "use the newer winnow that wrote it, or: winnow --home ANOTHER_FOLDER",
	Damaged:         "winnow history export   exports what can be read",
	NoHistory:       "winnow history check   or start a new history with: winnow --home ANOTHER_FOLDER",
	NoHistoryServer: "winnow config show   shows the address in use; winnow help team   explains where the password comes from\n" +
		"or use a local file: winnow --history=''",
	WindowHeld:   "wait until {what} is done, or close it",
	StaleProxy:   "restart the proxy: it reads its rules when it starts\nwinnow models --drift   lists the models",
	NotApplied:   "run the after_save command\nwinnow models --drift   lists the models that still differ",
	UsedHidden:   "winnow rules lint   lists them; winnow rules remove PATTERN shows them again",
	UnusedShown:  "winnow models --where 'shown unused:90d'   lists them; winnow rules hide --where 'shown unused:90d' hides them",
	BadUsage:     "check that the proxy_data setting names the proxy's data folder, and update this program if the proxy is newer",
	SilentProxy:  "start the proxy, or change PROXY_BASE_URL and PROXY_API_KEY in {what}",
	KeyInFile:    "replace the key at its provider, then: rm {what}",
	NoTools:      "winnow config edit   and correct the [[mcp]] entry {what}, then: winnow tools test {what}",
	ToolsLeftOut: "winnow tools test {what}   names them",
	TooSlow:      "winnow doctor   runs the check again; if the result is the same, {what} is not responding",
}

// Advice returns the advice for every kind, with {what} replaced with example.
func Advice(example string) []string {
	all := make([]string, kinds)
	for k := range all {
		all[k] = adviceFor(Kind(k), example)
	}
	return all
}

// adviceFor returns the advice for a kind, with {what} replaced with name.
func adviceFor(kind Kind, name string) string {
	return strings.ReplaceAll(advice[kind], "{what}", name)
}

// Problem returns a finding of a problem, with advice about name, for example a path.
func Problem(about, state string, kind Kind, detail, name string) Finding {
	return Finding{about, state, strings.ReplaceAll(detail, "\n", "; "), adviceFor(kind, name)}
}

// Fail returns a finding for an error, with a line for each joined error and advice about name.
func Fail(about string, kind Kind, err error, name string) Finding {
	lines := ErrorLines(err)
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "\n", "; ")
	}
	f := Problem(about, Failed, kind, "", name)
	f.Detail = strings.Join(lines, "\n")
	return f
}

// ErrorLines returns a line for each joined error, without the package name.
func ErrorLines(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []string
		for _, e := range joined.Unwrap() {
			out = append(out, ErrorLines(e)...)
		}
		return out
	}
	return []string{said.Text(err)}
}

// Lines returns the finding as text, starting with the sign of its state and ending with what to do.
func (f Finding) Lines(sign, arrow string) []string {
	const column = 10 // column of the details, counted from the subject
	about := sign + " " + f.About + strings.Repeat(" ", max(1, column-len(f.About)))
	var lines []string
	for detail := range strings.SplitSeq(f.Detail, "\n") {
		lines = append(lines, about+detail)
		about = strings.Repeat(" ", column+2)
	}
	lead := "  " + arrow + " "
	for line := range strings.Lines(f.Next) {
		lines = append(lines, lead+strings.TrimRight(line, "\n"))
		lead = "    "
	}
	return lines
}

// Check examines one subject. Run stops waiting for a Check that does not end in time, but does not end it.
type Check struct {
	About string
	Do    func(context.Context) []Finding
}

// grace is how much longer than its deadline a check may take.
const grace = time.Second

// Run makes the checks concurrently and returns their findings in order. A check that does not end within the limit
// is reported as a problem.
func Run(ctx context.Context, limit time.Duration, checks ...Check) (found []Finding) {
	inTime, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	late, end := context.WithTimeout(ctx, limit+grace)
	defer end()
	results := make([]chan []Finding, len(checks))
	for i, c := range checks {
		results[i] = make(chan []Finding, 1)
		go func() { results[i] <- c.Do(inTime) }()
	}
	for i, c := range checks {
		select {
		case f := <-results[i]:
			found = append(found, f...)
		case <-late.Done():
			if len(results[i]) > 0 { // the check ended just in time
				found = append(found, <-results[i]...)
				continue
			}
			found = append(found, Problem(c.About, Failed, TooSlow, "no answer within "+limit.String(), cmp.Or(c.About, "the check")))
		}
	}
	return found
}

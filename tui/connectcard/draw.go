package connectcard

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/adapters/endpoints"
	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// Sentence says why a model could not be connected, with advice.
func Sentence(err error) string {
	var p *endpoints.Problem
	if !errors.As(err, &p) {
		return clean(err.Error())
	}
	cause := ""
	if p.Err != nil {
		cause = clean(p.Err.Error())
	}
	switch p.Code {
	case endpoints.BadAddress:
		if errors.Is(err, llm.ErrPlainHTTP) { // the address is written well
			return cause
		}
		return cause + "; for example http://localhost:8000/v1"
	case endpoints.KeyAsAddress:
		return "this looks like an API key and was not sent: select its provider first; a host name needs https:// before it"
	case endpoints.BadKey:
		return cause
	case endpoints.KeySource:
		return cause + "; name another source, or paste the key"
	case endpoints.NoAnswer:
		if !llm.Loopback(host(p.At)) {
			return fmt.Sprintf("nothing answers at %s: check the network, or correct the address", p.At)
		}
		return fmt.Sprintf("nothing answers at %s: start the server, or correct the address", p.At)
	case endpoints.WantsKey:
		return place(p.At, p.Endpoint) + " needs an API key"
	case endpoints.RefusedKey:
		return "Key rejected" + status(p) + ". Check it or create a new one."
	case endpoints.NotAnEndpoint:
		return fmt.Sprintf("%s does not answer like an OpenAI-compatible endpoint: its address usually ends with /v1", p.At)
	case endpoints.NoModels:
		return p.Endpoint + " has no model that can chat: load one there, then try again"
	case endpoints.NotStored:
		return cause + "; nothing was changed"
	case endpoints.Refused:
	}
	return fmt.Sprintf("%s returned an error: %s", p.Endpoint, cause)
}

// host returns the host of an address without its port; "" if there is none.
func host(address string) string {
	if at, err := url.Parse(address); err == nil {
		return at.Hostname()
	}
	return ""
}

// place names an endpoint by the host and port of its address, or by its name if there is no address.
func place(address, name string) string {
	if at, err := url.Parse(address); err == nil && at.Host != "" {
		return string(safetext.Visible(at.Host))
	}
	return name
}

// status returns the HTTP status of a response in brackets; "" if there was no response.
func status(err error) string {
	if r, ok := errors.AsType[*llm.RequestError](err); ok && r.Status > 0 {
		return fmt.Sprintf(" (%d)", r.Status)
	}
	return ""
}

func clean(text string) string { return string(safetext.Line(safetext.Visible(text), 400)) }

// Label describes a candidate in a line: its name and address, and what is known about it.
func Label(c endpoints.Candidate) (name, extra string) {
	if c.Kind == endpoints.KindCustom {
		return "Other server (URL)", ""
	}
	name = c.Name
	if at, err := url.Parse(c.BaseURL); err == nil {
		name += "  " + at.Host
	}
	switch c.Kind {
	case endpoints.KindResponds:
		return name, assistant.Counted(c.Models, "model")
	case endpoints.KindHasKey:
		return name, "use " + c.From
	case endpoints.KindSetUp:
		return name, "set up"
	case endpoints.KindVendor:
		return name, "needs a key"
	case endpoints.KindFails, endpoints.KindCustom:
	}
	return name, map[endpoints.Code]string{
		endpoints.WantsKey: "needs a key", endpoints.RefusedKey: "key rejected", endpoints.NoModels: "has no models", endpoints.NoAnswer: "does not answer",
	}[endpoints.CodeOf(c.Err)]
}

func candidateValue(c endpoints.Candidate) string { return c.Name + " " + c.BaseURL }

// addressValue is the Value of the entry for an address typed into the search.
const addressValue = "address"

// showCandidates lists the candidates and selects the first that can be connected,
// including servers that need a key.
func (c *Card) showCandidates() {
	c.list = nil // so that the new list starts without a query
	c.list = c.newList(c.candidates(), slices.IndexFunc(c.found, func(one endpoints.Candidate) bool {
		return one.Kind != endpoints.KindFails || endpoints.CodeOf(one.Err) == endpoints.WantsKey
	}))
}

// candidates returns an entry for each endpoint found, and one for a typed address.
func (c *Card) candidates() (entries []overlay.Entry) {
	for _, one := range c.found {
		e := overlay.Entry{Value: candidateValue(one), Group: "found"}
		if e.Text, e.Extra = Label(one); one.Kind == endpoints.KindHasKey {
			e.Short = "key found"
		}
		if one.Kind >= endpoints.KindVendor {
			e.Group = "by key or address"
		}
		entries = append(entries, e)
	}
	if query := c.query(); endpoints.IsAddress(query) {
		entries = append(entries, overlay.Entry{Value: addressValue, Text: query, Extra: c.keys.Hints(keymap.List, keymap.To("connects", keymap.LineAccept))})
	}
	return entries
}

// query returns what is typed into the list; "" before there is one.
func (c *Card) query() string {
	if c.list == nil {
		return ""
	}
	return c.list.Query()
}

func storageValue(s endpoints.Storage) string { return fmt.Sprint(int(s)) }

// showStorages lists the places where the key can be stored.
func (c *Card) showStorages() {
	var entries []overlay.Entry
	for _, s := range c.flow.Storages {
		e := overlay.Entry{Value: storageValue(s)}
		switch s {
		case endpoints.Keyring:
			e.Text, e.Detail = "in the keyring", "as keyring:"+c.flow.Checked.Name
		case endpoints.Variable:
			e.Text, e.Detail = "in a variable", "you set "+c.flow.Checked.KeyVariable()+" before each start"
		case endpoints.Plain:
			e.Text, e.Detail = "in the settings file", "as plain text"
		}
		entries = append(entries, e)
	}
	c.list = c.newList(entries, 0).WithoutSearch()
}

// showModels lists the models; the model that did not answer is selected again.
func (c *Card) showModels() {
	entries, at := make([]overlay.Entry, len(c.flow.Checked.Models)), 0
	for i, m := range c.flow.Checked.Models {
		entries[i] = overlay.Entry{Value: m.ID, Text: strings.TrimPrefix(m.ID, c.flow.Checked.Name+"/")}
		if m.Context > 0 {
			entries[i].Extra = fmt.Sprintf("%dk tokens", (m.Context+500)/1000)
		}
		if m.ID == c.flow.Refused {
			at = i
		}
	}
	c.list = c.newList(entries, at)
}

// head returns the paragraphs that say what the step is about.
func (c *Card) head() []string {
	if c.busy != "" {
		return []string{c.busy + "…"}
	}
	switch c.flow.Step {
	case endpoints.Choosing:
		if c.searching {
			return []string{"Looking for model servers on this machine…"}
		}
		return []string{"What would you like to connect?"}
	case endpoints.Addressing:
		return []string{"The address of an OpenAI-compatible endpoint, such as http://localhost:8000/v1:"}
	case endpoints.Keying:
		where := cmp.Or(c.flow.Candidate.BaseURL, c.flow.Address)
		text := []string{fmt.Sprintf("The key for %s. Paste it, or name it as env:NAME, cmd:COMMAND or keyring:NAME:", safetext.Visible(where))}
		if c.reason != "" {
			text = slices.Insert(text, 0, c.reason)
		}
		return text
	case endpoints.Storing:
		return []string{place(c.flow.Checked.BaseURL, c.flow.Checked.Name) + " answers. Where do you want to store the key?"}
	case endpoints.Consenting:
		return []string{"The key will be stored as plain text in " + c.flow.Source.SettingsPath() + ". Anyone who can read that file can use the key."}
	case endpoints.Picking:
		return []string{"Which model from " + place(c.flow.Checked.BaseURL, c.flow.Checked.Name) + " do you want to use?"}
	case endpoints.Done:
		return c.result()
	}
	return nil
}

// result returns the lines that say what was done.
func (c *Card) result() []string {
	text := []string{string(safetext.Visible(c.flow.Saved.Model) + " is now in use.")}
	switch {
	case c.flow.Saved.Folder:
		text = append(text, "winnow remembers this model for this folder, which contains the proxy.")
	case c.flow.Saved.Path != "":
		text = append(text, "Saved in "+c.flow.Saved.Path+".")
	}
	if c.flow.Saved.Variable != "" {
		text = append(text, "Set "+c.flow.Saved.Variable+" to the key before the next start.")
	}
	return append(text, "winnow doctor checks the model; winnow config connect connects another.")
}

// Hints implements overlay.Overlay.
func (c *Card) Hints() string {
	move, accept := keymap.To("move", keymap.LineUp, keymap.LineDown), func(text string) keymap.Hint { return keymap.To(text, keymap.LineAccept) }
	closes := func(text string) keymap.Hint { return keymap.To(text, keymap.LineClose) }
	if c.busy != "" {
		return c.keys.Hints(keymap.List, closes("stops"))
	}
	switch c.flow.Step {
	case endpoints.Choosing:
		return "search, or type an address · " + c.keys.Hints(keymap.List, accept("connects"), closes("closes"))
	case endpoints.Addressing, endpoints.Keying:
		return c.keys.Hints(keymap.Line, accept("tests it"), closes("goes back"))
	case endpoints.Storing, endpoints.Picking:
		return c.keys.Hints(keymap.List, move, accept("selects"), closes("goes back"))
	case endpoints.Consenting:
		return c.keys.Hints(keymap.Question, keymap.To("store it there", keymap.AnswerYes), keymap.To("elsewhere", keymap.AnswerNo))
	case endpoints.Done:
	}
	return c.keys.Hints(keymap.List, accept("closes"))
}

const (
	cardWidth = 64 // maximum width of a sentence in cells, so that it reads well
	listLines = 14 // maximum number of lines of a list
	unbounded = 1 << 20
)

// Size implements overlay.Overlay.
func (c *Card) Size(w, h int) (int, int) {
	w = min(cardWidth, w*9/10)
	lines := len(c.wrapped(w)) + 2
	if c.problem != "" {
		lines += 1 + len(style.Wrap(c.problem, w-2))
	}
	switch {
	case c.hasList():
		_, list := c.list.Size(w, unbounded)
		lines += min(list, listLines)
	case c.writes():
		lines += 2
	}
	return w, min(lines, h*9/10)
}

func (c *Card) wrapped(w int) (lines []string) {
	for _, text := range c.head() {
		lines = append(lines, style.Wrap(text, w)...)
	}
	return lines
}

// Body implements overlay.Overlay.
func (c *Card) Body(w, h int, st style.Styles) []string {
	o := st.Overlay
	var out, foot []string
	for _, l := range c.wrapped(w) {
		out = append(out, o.Text.Render(l))
	}
	if c.problem != "" {
		for i, l := range style.Wrap(c.problem, max(1, w-2)) {
			mark := "  "
			if i == 0 {
				mark = style.Fit(st.Icons.Error, 1, "") + " "
			}
			foot = append(foot, st.Chat.ToolBad.Render(mark+l))
		}
	}
	foot = append(foot, o.Muted.Render(style.Truncate(overlay.FitHints(c.Hints(), w), w, st.Icons.Ellipsis)))
	if out = out[:min(len(out), max(1, h-len(foot)))]; len(out)+len(foot)+c.listMin() < h {
		out = append(out, "")
	}
	c.top, c.width = len(out), w
	room := max(0, h-len(out)-len(foot))
	switch {
	case c.hasList():
		out = append(out, c.list.Body(w, room, st)...)
	case c.writes():
		out = append(out, o.Key.Render("> ")+o.Text.Render(c.masked(st).View(w-prompt)))
	}
	for len(out)+len(foot) < h {
		out = append(out, "")
	}
	return append(out, foot...)
}

const (
	prompt  = 2 // cells before the line
	minList = 5 // minimum lines for a list: the search, a rule, a heading and two entries
)

// listMin is the minimum number of lines for the list of the step.
func (c *Card) listMin() int {
	if c.flow.Step == endpoints.Storing {
		return 1
	}
	return minList
}

// masked returns the line as drawn. A key is drawn as dots, even on the line for an address; the
// name of a key is drawn as it is.
func (c *Card) masked(st style.Styles) *overlay.Editor {
	before, after := c.line.Split()
	if c.flow.Step == endpoints.Keying && !namesKey(c.line.Text()) || c.flow.Step == endpoints.Addressing && endpoints.LooksLikeKey(c.line.Text()) {
		dot := style.Fit(st.Icons.Bullet, 1, "")
		before, after = strings.Repeat(dot, utf8.RuneCountInString(before)), strings.Repeat(dot, utf8.RuneCountInString(after))
	}
	before, after = string(safetext.Visible(before)), string(safetext.Visible(after))
	line := &overlay.Editor{}
	line.Set(before + after)
	at := utf8.RuneCountInString(before)
	line.Replace(at, at, "")
	return line
}

// namesKey reports whether a text names a key or, like "cm", may become such a name. A key may
// begin in the same way, so its first characters may be drawn unmasked.
func namesKey(text string) bool {
	return slices.ContainsFunc([]string{"env:", "cmd:", "keyring:"}, func(kind string) bool {
		return strings.HasPrefix(text, kind) || strings.HasPrefix(kind, text)
	})
}

// Cursor implements overlay.Overlay.
func (c *Card) Cursor() (x, y int, ok bool) {
	switch {
	case c.writes():
		_, x = c.masked(style.Styles{}).Scroll(max(1, c.width-prompt))
		return prompt + x, c.top, true
	case c.hasList():
		x, y, ok = c.list.Cursor()
		return x, y + c.top, ok
	}
	return 0, 0, false
}

// Position implements overlay.Overlay.
func (c *Card) Position() string {
	if c.hasList() {
		return c.list.Position()
	}
	return ""
}

package rules

import (
	"strings"

	"winnow/tui/pane"
	"winnow/tui/style"
)

// sign is a symbol that the pane draws. It is an index into signs.
type sign uint8

const (
	signRule sign = iota
	signUnsaved
	signDeleted
	signShadowed
	signDead
	signAvailable
	signHidden
	signAllowed
	signHighlighted
	signTicked
	signSortedUp
	signSortedDown
	signNew
	signWarn
	signLock
	signProvider
	signChanges
	signBarShown
	signBarHidden
)

// signs contains the symbol that the pane draws for each sign, and its explanation in the
// help.
var signs = pane.SignTable{
	signRule:        {func(i *style.Icons) string { return i.RuleBar + strings.Join(i.RuleIcons, "") }, "a rule and its models"},
	signUnsaved:     {func(i *style.Icons) string { return i.Add }, "an unsaved rule"},
	signDeleted:     {func(i *style.Icons) string { return i.Remove }, "a removed rule or model"},
	signShadowed:    {func(i *style.Icons) string { return i.Shadowed }, "a rule without effect"},
	signDead:        {func(i *style.Icons) string { return i.Dead }, "a rule without matches"},
	signAvailable:   {func(i *style.Icons) string { return i.Available }, "a shown model"},
	signHidden:      {func(i *style.Icons) string { return i.Hidden }, "a hidden model"},
	signAllowed:     {func(i *style.Icons) string { return i.Allow }, "an allowed model"},
	signHighlighted: {func(i *style.Icons) string { return i.Bullet }, "a highlighted model"},
	signTicked:      {func(i *style.Icons) string { return i.Ticked }, "a selected line"},
	signSortedUp:    {func(i *style.Icons) string { return i.Above }, "ascending order"},
	signSortedDown:  {func(i *style.Icons) string { return i.New }, "descending order"},
	signNew:         {func(i *style.Icons) string { return i.New }, "a new model"},
	signWarn:        {func(i *style.Icons) string { return i.Warn }, "a warning"},
	signLock:        {func(i *style.Icons) string { return i.Lock }, "locked rules"},
	signProvider:    {func(i *style.Icons) string { return i.ToolOK }, "the current provider"},
	signChanges:     {func(i *style.Icons) string { return i.Unsaved }, "unsaved changes"},
	signBarShown:    {func(i *style.Icons) string { return i.BarFull }, "the share shown"},
	signBarHidden:   {func(i *style.Icons) string { return i.BarEmpty }, "the share hidden"},
}

// in returns the symbol of a sign in a set of icons.
func (s sign) in(icons *style.Icons) string { return signs[s].Icon(icons) }

// Legend implements pane.Legender.
func (p *Pane) Legend() []pane.Sign { return signs.Legend(&p.st.Icons) }

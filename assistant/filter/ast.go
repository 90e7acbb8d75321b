package filter

import "time"

// Expr is a condition on a pair: one of the types below, by value.
//
//sumtype:decl
type Expr interface {
	line() string // the expression as text that Parse accepts
}

// Combinations of expressions.
type (
	// And is x & y, with at least two terms, none of which is an And.
	And struct{ Terms []Expr }
	// Or is x | y, with at least two terms, none of which is an Or.
	Or struct{ Terms []Expr }
	// Not is !x.
	Not struct{ X Expr }
)

// The terms.
type (
	// Topic is t'NAME'. Path may be partial: it matches the end of the topic's path or, with Deep, also the end of an
	// ancestor's path.
	Topic struct {
		Path []Pattern // at least one
		Deep bool
	}
	// TopicSelected is t: the currently selected topic.
	TopicSelected struct{}
	// TopicLast is tN: the last N pairs in the selected topic and the topics below it.
	TopicLast struct{ N int }
	// Stars is sN with N from 0 to 3.
	Stars struct {
		Op Op
		N  int
	}
	// Recent is rN: the last N pairs of the whole history.
	Recent struct{ N int }
	// Flag is b if Flagged, otherwise g.
	Flag struct{ Flagged bool }
	// Model is m'NAME', or m, the currently selected model, if Name has no Parts.
	Model struct{ Name Pattern }
	// Author is u'NAME', or u, the user's own pairs, if Name has no Parts.
	Author struct{ Name Pattern }
	// Age is d<N with a unit; Op is never Equal.
	Age struct {
		Op   Op // Less means newer than N units
		N    int
		Unit Unit
	}
	// Day is d with a calendar day.
	Day struct {
		Op    Op
		Year  int
		Month time.Month
		Day   int
	}
	// Content is c'TEXT': the parts occur in this order in the user's or the assistant's text, ignoring case. No part
	// is empty; if there are no parts, any text matches.
	Content struct{ Parts []string }
	// Regexp is c/RE/, in RE2 syntax, ignoring case.
	Regexp struct{ Source string }
	// Word is an unquoted word that occurs in the user's or the assistant's text or in the reasoning, ignoring case.
	Word struct{ Text string }
	// Failed is e: the pair ended in an error.
	Failed struct{}
	// Attachments is i: the pair has attachments.
	Attachments struct{}
	// Session is x'ID', where ID is the beginning of a session's id.
	Session struct{ Prefix string }
	// SessionCurrent is x: the current session.
	SessionCurrent struct{}
	// Boundary is o if Extra is 0, otherwise oN: the included pairs and the N newest pairs outside the context.
	Boundary struct{ Extra int }
	// Saved is @NAME, a saved filter.
	Saved struct{ Name string }
)

// Op is a comparison operator.
type Op uint8

// The comparison operators.
const (
	Equal Op = iota
	Less
	LessEqual
	Greater
	GreaterEqual
)

// String returns the operator, or "" for Equal.
func (o Op) String() string { return [...]string{"", "<", "<=", ">", ">="}[o] }

// mirrored returns the operator that compares the same operands in the opposite order.
func (o Op) mirrored() Op { return [...]Op{Equal, Greater, GreaterEqual, Less, LessEqual}[o] }

// Unit is the unit of an Age, as written in a line.
type Unit string

// The units.
const (
	Minutes Unit = "min"
	Hours   Unit = "h"
	Days    Unit = "d"
	Weeks   Unit = "w"
	Months  Unit = "mo"
	Years   Unit = "y"
)

// units lists the units in the order in which the parser tries them, longer names first.
var units = []Unit{Minutes, Months, Hours, Days, Weeks, Years}

// Query is a parsed line: which pairs to select, and what to do with them.
type Query struct {
	Expr    Expr     // nil selects all pairs
	Command *Command // nil if the line only filters

	columns map[string]int // column in which each saved filter is first used, by name
}

// MaxStars is the highest star rating.
const MaxStars = 3

package filter

import "time"

// Expr is a condition on a pair: one of the types below, by value.
//
//sumtype:decl
type Expr interface {
	line() string // the expression as text that Parse accepts
}

// The ways to combine.
type (
	// And is x & y: at least two terms, none of them an And.
	And struct{ Terms []Expr }
	// Or is x | y: at least two terms, none of them an Or.
	Or struct{ Terms []Expr }
	// Not is !x.
	Not struct{ X Expr }
)

// The terms, by their letter.
type (
	// Topic is t'NAME': the path, from the root or partial, ends the topic's
	// path, or with Deep that of one of its ancestors.
	Topic struct {
		Path []Pattern // at least one
		Deep bool
	}
	// TopicSelected is t: the topic selected now.
	TopicSelected struct{}
	// TopicLast is tN: the last N pairs of the selected topic and below it.
	TopicLast struct{ N int }
	// Stars is sN with N from 0 to 3.
	Stars struct {
		Op Op
		N  int
	}
	// Recent is rN: the last N pairs of the whole history.
	Recent struct{ N int }
	// Flag is b when Flagged, else g.
	Flag struct{ Flagged bool }
	// Model is m'NAME'; without Parts it is m, the model selected now.
	Model struct{ Name Pattern }
	// Author is u'NAME'; without Parts it is u, the pairs of the user who asks.
	Author struct{ Name Pattern }
	// Age is d<N with a unit; Op is never Equal.
	Age struct {
		Op   Op // Less is newer
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
	// Content is c'TEXT': the parts occur in this order in the user's or the
	// assistant's text, case ignored. No part is empty; without parts any text
	// matches.
	Content struct{ Parts []string }
	// Regexp is c/RE/, RE2 syntax, case ignored.
	Regexp struct{ Source string }
	// Word is a word that is not in quotes: it occurs in the user's or the assistant's
	// text or in the reasoning, case ignored.
	Word struct{ Text string }
	// Failed is e: it ended in an error.
	Failed struct{}
	// Attachments is i: it has attachments.
	Attachments struct{}
	// Session is x'ID' with the beginning of a session's id.
	Session struct{ Prefix string }
	// SessionCurrent is x: this session.
	SessionCurrent struct{}
	// Boundary is o (Extra 0) and oN: included pairs and the newest Extra
	// off-context ones.
	Boundary struct{ Extra int }
	// Saved is @NAME.
	Saved struct{ Name string }
)

// Op compares.
type Op uint8

// The comparisons.
const (
	Equal Op = iota
	Less
	LessEqual
	Greater
	GreaterEqual
)

// String returns the sign, empty for Equal.
func (o Op) String() string { return [...]string{"", "<", "<=", ">", ">="}[o] }

// mirrored returns the comparison with its sides exchanged.
func (o Op) mirrored() Op { return [...]Op{Equal, Greater, GreaterEqual, Less, LessEqual}[o] }

// Unit is a unit of age.
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

// units are in the order in which the parser tries them, longer names first.
var units = []Unit{Minutes, Months, Hours, Days, Weeks, Years}

// Query is a line: which pairs, and what to do with them.
type Query struct {
	Expr    Expr     // nil shows all
	Command *Command // nil filters only

	columns map[string]int // the first column of each saved filter's name
}

// MaxStars is the highest star rating.
const MaxStars = 3

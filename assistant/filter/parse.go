package filter

import (
	"fmt"
	"slices"
	"strconv"
)

// maxDepth limits the nesting of parentheses and negations.
const maxDepth = 200

// Parse reads a line. The error is an *Error. An empty line is a Query that selects all pairs.
func Parse(line string) (*Query, error) {
	p := &parser{scanner: scanner{text: []rune(line)}, columns: map[string]int{}}
	q := &Query{columns: p.columns}
	p.space()
	if r := p.peek(); r != eol && r != ':' {
		q.Expr = p.or()
	}
	if p.err == nil && p.peek() == ')' {
		p.fail("a matching ( before this )")
	}
	if p.err == nil && p.peek() == ':' {
		q.Command = p.command()
	}
	if p.err != nil {
		return nil, p.err
	}
	return q, nil
}

// parser reads the grammar by recursive descent.
type parser struct {
	scanner
	depth   int
	columns map[string]int
}

// or reads alternatives up to the end, a colon or a closing parenthesis.
func (p *parser) or() Expr {
	terms := []Expr{p.and()}
	for p.err == nil && (p.accept('|') || p.accept('+')) {
		p.space()
		terms = append(terms, p.and())
	}
	return flatten(terms, func(x Expr) ([]Expr, bool) { o, ok := x.(Or); return o.Terms, ok },
		func(t []Expr) Expr { return Or{t} })
}

// and reads terms joined by & or by space.
func (p *parser) and() Expr {
	terms := []Expr{p.not()}
	for p.err == nil {
		p.space()
		if p.accept('&') {
			p.space()
		} else if r := p.peek(); r == eol || r == '|' || r == '+' || r == ')' || r == ':' {
			break
		}
		terms = append(terms, p.not())
	}
	return flatten(terms, func(x Expr) ([]Expr, bool) { a, ok := x.(And); return a.Terms, ok },
		func(t []Expr) Expr { return And{t} })
}

// flatten combines terms into one expression. It replaces each term of the expression's own kind, such as an And in an
// And, with the terms of that term.
func flatten(terms []Expr, same func(Expr) ([]Expr, bool), build func([]Expr) Expr) Expr {
	if len(terms) == 1 {
		return terms[0]
	}
	var flat []Expr
	for _, t := range terms {
		if inner, ok := same(t); ok {
			flat = append(flat, inner...)
		} else {
			flat = append(flat, t)
		}
	}
	return build(slices.Clip(flat))
}

// not reads a term, a negation, or an expression in parentheses.
func (p *parser) not() Expr {
	if p.depth++; p.depth > maxDepth {
		p.fail("fewer nested parentheses and negations")
		return nil
	}
	defer func() { p.depth-- }()
	p.space()
	switch {
	case p.accept('!'):
		return Not{p.not()}
	case p.peek() == '(':
		open := p.pos
		p.pos++
		x := p.or()
		p.space()
		if !p.accept(')') {
			p.fail(") for the ( in column " + strconv.Itoa(open+1))
		}
		return x
	}
	return p.term()
}

// Error says where and why a line is invalid.
type Error struct {
	Column int    // in characters, from 1
	Found  string // the text at that column
	Want   string // what was expected
}

// Error returns the message shown below the line.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d: found %s, want %s", e.Column, e.Found, e.Want)
}

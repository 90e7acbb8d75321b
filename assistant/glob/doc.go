// Package glob matches model ids against the proxy's patterns and decides
// exactly whether one pattern covers another.
//
// # Pattern
//
// A Pattern is what Python's fnmatch.fnmatchcase makes of a text on POSIX: `*`
// any run of characters (`/` and newlines included), `?` one character,
// `[seq]` one of them, `[!seq]` none of them, with ranges. Nothing escapes,
// braces are literal, an unclosed `[` is literal, `[z-a]` matches nothing,
// `[!z-a]` any character, and case counts. Compile never fails.
//
// # Rule
//
// A rule of the proxy tries its pattern on the id without its first `/`
// segment and on the whole id; either match will do. MatchID and RuleCovers
// are about rules, Match and Covers about plain patterns.
//
// # Coverage
//
// A pattern covers another when it matches every string the other matches.
// That is decided by searching the product of both automata, never by
// sampling; beyond MaxStates the answer is Undecided, and Covered is false.
//
// A Pattern is immutable: any number of goroutines may share it.
//
// # Caveats
//
// A character is a code point, not a grapheme. A byte that is not part of
// valid UTF-8 is one character of its own, which only the same bad byte, `?`,
// `*` or a class equals; in ranges and order it is at U+DC80 to U+DCFF, as
// with Python's surrogateescape. Coverage assumes that bad bytes can follow
// each other, even where two of them would read as one valid character: for
// patterns with bad bytes it may miss a coverage but never invents one.
package glob

// Package glob matches model ids against the patterns in the rules of the model proxy, and decides exactly
// whether one pattern covers another.
//
// # Pattern
//
// A Pattern follows Python's fnmatch.fnmatchcase on POSIX: `*` matches any run of characters (including `/` and
// newlines), `?` one character, `[seq]` one character of a set, `[!seq]` one character not in it; sets may contain
// ranges. There is no escape character; braces and an unclosed `[` are literal; `[z-a]` matches nothing and `[!z-a]`
// any character. Case matters. Compile never fails.
//
// # Rule
//
// A rule of the proxy tries its pattern on the id without its first `/` segment and on the whole id, and matches if
// either does. MatchID and RuleCovers work on rules, Match and Covers on plain patterns.
//
// # Coverage
//
// A pattern covers another if it matches every string that the other matches. This is decided by searching the
// product of both automata, never by sampling. Beyond MaxStates the answer is Undecided and Covered is false.
//
// A Pattern is immutable and may be shared by any number of goroutines.
//
// # Caveats
//
// A character is a code point, not a grapheme. A byte that is not part of valid UTF-8 counts as one character, which
// only the same bad byte, `?`, `*` or a class matches; in ranges and comparisons it counts as a code point from
// U+DC80 to U+DCFF, as in Python's surrogateescape. Coverage assumes that bad bytes can follow each other even if two
// of them would form one valid character. For patterns with bad bytes, the search may therefore miss a coverage, but
// it never reports a false one.
package glob

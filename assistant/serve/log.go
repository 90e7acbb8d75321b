package serve

import (
	"errors"
	"sync"
)

// ErrGone means that entries after the given number are no longer stored, or that the log never had this number.
var ErrGone = errors.New("the entries after the given number are not stored")

// Log stores the newest entries that were added to it, numbered consecutively. Use NewLog.
type Log[T any] struct {
	maxEntries, maxBytes int
	size                 func(T) int

	mu      sync.Mutex
	first   int64 // the number of entries[0]
	entries []T   // entries are only appended, so readers may share the slice
	bytes   int   // the total size of entries
	closed  bool
	more    chan struct{} // closed by the next call to Add or Close
}

// NewLog returns an empty log; first is the number of its first entry. The log stores up to maxEntries entries whose
// total size is at most maxBytes; if size is nil, the bytes are not limited. The newest entry is always stored.
func NewLog[T any](first int64, maxEntries, maxBytes int, size func(T) int) *Log[T] {
	if size == nil {
		size = func(T) int { return 0 }
	}
	return &Log[T]{maxEntries: maxEntries, maxBytes: maxBytes, size: size, first: first, more: make(chan struct{})}
}

// Add adds an entry and returns its number. It never waits for readers.
func (l *Log[T]) Add(entry T) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry)
	l.bytes += l.size(entry)
	drop := 0
	for n := len(l.entries); n-drop > 1 && (n-drop > l.maxEntries || l.bytes > l.maxBytes); drop++ {
		l.bytes -= l.size(l.entries[drop])
	}
	l.entries, l.first = l.entries[drop:], l.first+int64(drop)
	close(l.more)
	l.more = make(chan struct{})
	return l.first + int64(len(l.entries)) - 1
}

// Size returns the total size of the stored entries.
func (l *Log[T]) Size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes
}

// Last returns the number of the newest entry; before the first Add, it is one less than the number of the first entry.
func (l *Log[T]) Last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first + int64(len(l.entries)) - 1
}

// After returns the entries whose numbers are higher than n; the caller must not change them. more is closed when
// another entry is added or the log is closed; it is nil if the log is already closed. The error is ErrGone if entries
// after n are no longer stored, or if the log never had the number n.
func (l *Log[T]) After(n int64) (entries []T, more <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	skip := n - l.first + 1
	if skip < 0 || skip > int64(len(l.entries)) {
		return nil, nil, ErrGone
	}
	entries = l.entries[skip:len(l.entries):len(l.entries)]
	if l.closed {
		return entries, nil, nil
	}
	return entries, l.more, nil
}

// Close ends the log: readers get the stored entries and then a nil channel.
func (l *Log[T]) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.more)
		l.more = make(chan struct{})
	}
}

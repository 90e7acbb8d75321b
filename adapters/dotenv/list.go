package dotenv

import (
	"fmt"
	"strings"
)

// ListError is a list that one value cannot hold.
type ListError struct {
	Index  int    // of the item, from 0
	Reason string // one clause, without the item
}

func (e *ListError) Error() string {
	return fmt.Sprintf("dotenv: item %d of the list: %s", e.Index+1, e.Reason)
}

// SplitList cuts a value into its items as the proxy does: at commas, without
// white space around them, without empty ones.
func SplitList(value string) []string {
	var items []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimFunc(item, isSpace); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// JoinList is the value that SplitList cuts into just these items. The error
// is a [*ListError].
func JoinList(items []string) (string, error) {
	for i, item := range items {
		reason := ""
		switch {
		case item == "":
			reason = "is empty"
		case strings.Contains(item, ","):
			reason = "holds a comma, which separates items"
		case strings.ContainsAny(item, "\n\r"):
			reason = "holds a line break"
		case strings.Contains(item, "${"):
			reason = "holds ${, which stands for a variable"
		case strings.TrimFunc(item, isSpace) != item:
			reason = "begins or ends with white space, which would be lost"
		case unwritable(item) != "":
			reason = unwritable(item)
		}
		if reason != "" {
			return "", &ListError{i, reason}
		}
	}
	return strings.Join(items, ","), nil
}

// SetList is the edit that gives key a list: an empty one removes the key, as
// in the proxy's own editor. The error is a [*ListError].
func SetList(key string, items []string) (Edit, error) {
	if len(items) == 0 {
		return Unset(key), nil
	}
	value, err := JoinList(items)
	return Set(key, value), err
}

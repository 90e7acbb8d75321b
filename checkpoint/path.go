package checkpoint

import (
	"errors"
	"strconv"
	"strings"
)

// A path names a place in a document: keys joined by dots, list items as [n],
// as in rules.ignore[3].colour. The root is the empty path. In a key the
// characters . [ \ are written with a \ before them, and the empty key is \-.
//
// [n] counts the items that stay: those that are neither removed nor added by
// the delta that holds the path. So a path means the same place in both
// directions.

// emptyKey stands for the key "", which would not be seen in a path.
const emptyKey = `\-`

var keyEscaper = strings.NewReplacer(`\`, `\\`, `.`, `\.`, `[`, `\[`)

// errPath is wrapped by what was being read when a path made no sense.
var errPath = errors.New("bad path")

// step is one step of a path: into an object by key or into a list by rank.
type step struct {
	key  string
	rank int // -1: by key
}

// joinKey returns the path of a member of the object at path.
func joinKey(path, key string) string {
	if key == "" {
		key = emptyKey
	} else {
		key = keyEscaper.Replace(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// joinRank returns the path of an item of the list at path.
func joinRank(path string, rank int) string { return path + "[" + strconv.Itoa(rank) + "]" }

// splitPath is the inverse of joinKey and joinRank.
func splitPath(path string) ([]step, error) {
	var steps []step
	for at := 0; at < len(path); {
		if path[at] == '[' {
			end := strings.IndexByte(path[at:], ']')
			if end < 0 {
				return nil, errPath
			}
			digits := path[at+1 : at+end]
			rank, err := strconv.Atoi(digits)
			if err != nil || rank < 0 || strconv.Itoa(rank) != digits {
				return nil, errPath
			}
			steps = append(steps, step{rank: rank})
			at += end + 1
			continue
		}
		if len(steps) > 0 {
			if path[at] != '.' {
				return nil, errPath
			}
			at++
		}
		key, next, err := splitKey(path, at)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{key: key, rank: -1})
		at = next
	}
	return steps, nil
}

// splitKey reads the key that begins at at and returns where it ends.
func splitKey(path string, at int) (string, int, error) {
	if strings.HasPrefix(path[at:], emptyKey) {
		return "", at + len(emptyKey), nil
	}
	var key []byte
	for ; at < len(path) && path[at] != '.' && path[at] != '['; at++ {
		if path[at] == '\\' {
			at++
			if at == len(path) || strings.IndexByte(`\.[`, path[at]) < 0 {
				return "", 0, errPath
			}
		}
		key = append(key, path[at])
	}
	if len(key) == 0 {
		return "", 0, errPath
	}
	return string(key), at, nil
}

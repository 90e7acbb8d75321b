package credential

import (
	"context"
	"os"
	"strconv"
	"time"
)

// Interval is how often Watch looks at the files: a removed key ends its sessions within a second.
const Interval = 500 * time.Millisecond

// Watch calls look at every interval until ctx ends, with changed set if one of the files
// has changed since the last call. It compares times and sizes instead of asking the system
// to report changes, because that also works on network file systems and for files that are
// mounted into a container.
func Watch(ctx context.Context, interval time.Duration, paths []string, look func(changed bool)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	seen := stamps(paths)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := stamps(paths)
			look(now != seen)
			seen = now
		}
	}
}

// stamps describes the files so that a change of one of them changes the result.
func stamps(paths []string) (out string) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			out += "-;"
			continue
		}
		out += info.ModTime().String() + info.Mode().String() + strconv.FormatInt(info.Size(), 10) + ";"
	}
	return out
}

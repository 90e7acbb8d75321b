package list

import "container/list"

// cacheLines bounds the lines that are kept rendered: about forty screens of a
// large terminal, some megabytes.
const cacheLines = 4000

// drawn are the lines of an item at a width and a version.
type drawn struct {
	id      string
	width   int
	version uint64
	frame   uint64 // when it was last used
	lines   []string
	fitted  []bool // which lines were cut and padded to width; nil for a Liner's
}

// line is line i, exactly width cells wide.
func (d *drawn) line(i, width int) string {
	if d.fitted == nil {
		return fit(d.lines[i], width)
	}
	if !d.fitted[i] {
		d.lines[i], d.fitted[i] = fit(d.lines[i], width), true
	}
	return d.lines[i]
}

// cache keeps what was drawn last, by ID, and lets go of the longest unused
// when there are more than cacheLines lines. What this frame and the one before
// it used always stays: the screen would render it again each frame.
type cache struct {
	entries  map[string]*list.Element // of *drawn
	used     list.List                // newest first
	lines    int
	frame    uint64 // counts the frames
	borrowed drawn  // the lines of the Liner that is being drawn
}

// get is what is kept for item at width, or what render gives.
func (c *cache) get(item Item, width int, render func() []string) *drawn {
	id, version := item.ID(), item.Version()
	if at, ok := c.entries[id]; ok {
		d := at.Value.(*drawn)
		if d.width == width && d.version == version {
			c.used.MoveToFront(at)
			d.frame = c.frame
			return d
		}
		c.drop(at)
	}
	if c.entries == nil {
		c.entries = map[string]*list.Element{}
	}
	d := &drawn{id: id, width: width, version: version, frame: c.frame, lines: render()}
	d.fitted = make([]bool, len(d.lines))
	c.entries[id] = c.used.PushFront(d)
	c.lines += len(d.lines)
	for c.lines > cacheLines {
		oldest := c.used.Back()
		if oldest.Value.(*drawn).frame+1 >= c.frame {
			break
		}
		c.drop(oldest)
	}
	return d
}

// remove lets go of the item id.
func (c *cache) remove(id string) {
	if at, ok := c.entries[id]; ok {
		c.drop(at)
	}
}

func (c *cache) drop(at *list.Element) {
	d := c.used.Remove(at).(*drawn)
	delete(c.entries, d.id)
	c.lines -= len(d.lines)
}

// clear lets go of everything.
func (c *cache) clear() {
	clear(c.entries)
	c.used.Init()
	c.lines = 0
	c.borrowed = drawn{}
}

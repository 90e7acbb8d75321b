package checkpoint

import "fmt"

// Report is what Open found and did. The zero value means nothing unusual.
type Report struct {
	// Torn counts the bytes of an unfinished record that were cut off: a
	// write that a crash interrupted and that nobody was told was done.
	Torn int64
	// Damaged: whole records were not readable. The counts below are of this.
	Damaged bool
	// Aside is where the damaged file is now, unchanged; "" when ReadOnly.
	Aside string
	// Unreadable counts records that could not be read, Lost the checkpoints
	// that could be read but whose state could not be made again, and Kept
	// those that are whole.
	Unreadable, Lost, Kept int
	// StateLost: the newest rules could not be made again; Current is older.
	StateLost bool
	// Compacted is by how many bytes the file shrank.
	Compacted int64
	// Repaired names files and folders whose permissions were too wide.
	Repaired []string
	// Failed is why the file could not be compacted, which does no harm.
	Failed error
}

// Notices returns the report as sentences for the user, none when all is well.
func (r Report) Notices() []string {
	var out []string
	if r.Damaged {
		text := fmt.Sprintf("The checkpoint journal was damaged: %d records were not readable; %d checkpoints were kept, %d lost.",
			r.Unreadable, r.Kept, r.Lost)
		if r.StateLost {
			text += " The newest rules in it are lost; older ones were kept."
		}
		if r.Aside != "" {
			text += " The damaged file is kept as " + r.Aside + "."
		}
		out = append(out, text)
	}
	if r.Torn > 0 {
		out = append(out, fmt.Sprintf("An unfinished record of %d bytes was cut off the checkpoint journal.", r.Torn))
	}
	for _, path := range r.Repaired {
		out = append(out, "Others could read "+path+"; its permissions were narrowed.")
	}
	if r.Failed != nil {
		out = append(out, "The checkpoint journal could not be compacted: "+r.Failed.Error())
	}
	return out
}

package history

// Report is what opening a store found and did.
type Report struct {
	Repaired    []string // a sentence for each file and folder that others could read
	Interrupted int      // pairs that a dead process left in state sending
	Migrated    int      // the version of the schema before; 0: it was current or new
	Backup      string   // path of the copy made before migrating; "" is none
	Salvage     *Salvage // nil: there was no damage
	// LostWAL says that the -wal file of a process that died is missing or empty:
	// what was committed last may be lost.
	LostWAL bool
	// ReadOnly is why nothing can be written; nil: the store can write.
	ReadOnly error
	// Notices are sentences about the database that a user should know once.
	Notices []string
}

// Salvage is what became of a damaged database.
type Salvage struct {
	Reason   string // what was found
	SetAside string // path of the damaged file, which was only renamed, with its -wal
	Foreign  bool   // it has no pairs of winnow, or nothing could be read
	Salvaged int    // pairs in the new database
	Lost     int    // pairs known to have been there
	Altered  int    // salvaged pairs whose bytes have changed, or of which only the texts are left
}

// CheckReport is what Check found.
type CheckReport struct {
	Pairs, Cut, Sessions, Topics int
	// Requests counts the stored requests of pairs, and DamagedRequests those of
	// them whose bytes have changed.
	Requests, DamagedRequests int
	// Problems has a sentence for each inconsistency; none means no damage.
	Problems []string
	// Damaged says that the file itself is broken: opening it again after this
	// store is closed salvages what is readable.
	Damaged bool
}

package dotenv

// stage is a system call of a save. Tests make each of these calls fail, or kill the program there.
type stage string

const (
	atCreate    stage = "create the temporary file"
	atWrite     stage = "write it"
	atOwner     stage = "set its owner"
	atXattrs    stage = "set its attributes"
	atMode      stage = "set its mode"
	atSync      stage = "sync it"
	atReady     stage = "rename it" // the durable file gets the name that records the save
	atFolder    stage = "open the folder"
	atCompare   stage = "compare"
	atOpen      stage = "open the target"
	atExchange  stage = "exchange"
	atDisplaced stage = "read the displaced file" // the new bytes are in place
	atRestore   stage = "exchange again"          // the displaced file cannot be read
	atExchanged stage = "sync the folder"
	atRemove    stage = "remove"

	// Stages of a save in place.
	atKeep       stage = "create the kept versions"
	atKeepWrite  stage = "write the kept versions"
	atKeepReady  stage = "rename the kept versions"
	atKeepSync   stage = "sync the folder of the kept versions"
	atOpenPlace  stage = "open the target for writing"
	atOverwrite  stage = "overwrite"
	atTruncate   stage = "truncate"
	atSyncPlace  stage = "sync the target"
	atTakeBack   stage = "write the previous version back"
	atRemoveKept stage = "remove the kept versions"
)

// hooks let tests interrupt a save.
type hooks struct {
	at         func(stage) error // called before each system call; an error replaces the call
	noExchange bool              // makes a save behave as if two names could not be exchanged
}

// do makes a system call unless the hook returns an error.
func (h hooks) do(at stage, call func() error) error {
	if h.at != nil {
		if err := h.at(at); err != nil {
			return err
		}
	}
	return call()
}

// Package processgroup ends commands together with the processes that they have started.
//
// Call Separate before the command is started; Terminate and Kill then signal all of its processes, except processes
// that have left its group. On systems without process groups, only the command itself ends.
package processgroup

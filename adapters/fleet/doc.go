// Package fleet compares the rules of several proxies, and copies the rules of one to the others.
//
// A Target is one proxy: a .env file on this machine, which the caller opens, or a winnow server that runs next to the
// proxy, which a Server calls over HTTP. The package keeps no state: the .env file of each target is authoritative.
//
// Plan stages the rules on every target and returns a job for each, whose plan can be shown; Save then saves each job
// by the digest of its plan. A target that fails does not stop the others. Changes that were staged there but could not
// be saved stay staged, and Job.Staged reports them.
//
// Targets and jobs are not safe for concurrent use.
//
// Caveats: the rules of a provider that the source or the target does not have are not copied. A target with unsaved
// changes is refused, because a save would include them.
package fleet

// Package fleet compares the rules of several proxies, and copies the rules of one to the others.
//
// A Target is one proxy: a .env file of this machine, which the caller opens, or a winnow server that runs next to the
// proxy, which a Server calls over HTTP. The package keeps no state: the .env file of each target is the truth.
//
// Plan stages the rules on every target and returns a job for each, whose plan can be shown; Save then saves each job
// by the digest of its plan. A target that fails doesn't stop the others. What was staged there and could not be saved
// stays staged, and the result of the job says so.
//
// Targets and jobs are not safe for concurrent use.
//
// Caveats: rules of providers that the source doesn't have are left alone, and so are providers that the target doesn't
// have. A target with unsaved changes is refused, because a save would include them.
package fleet

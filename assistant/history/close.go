package history

import (
	"context"
	"errors"
)

// openReadOnly connects to a database that cannot be written, why being the
// error. Without a shared memory file, which cannot be created then, SQLite can
// read alone: with the lock for itself.
func (s *SQLite) openReadOnly(ctx context.Context, why error) (*SQLite, error) {
	var storage *StorageError
	if !errors.As(why, &storage) || size(s.path) <= 0 || errors.Is(why, context.Canceled) {
		return nil, why
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.writer, s.writes, s.owner = nil, nil, nil
	s.report = Report{Repaired: s.report.Repaired, ReadOnly: why}
	for _, name := range []string{dsn(s.path, "query_only(1)") + "&mode=ro", dsn(s.path, "locking_mode(EXCLUSIVE)", "query_only(1)")} {
		if err := s.connectReaders(name, 1); err != nil {
			return nil, why
		}
		var version int
		err := s.readers.QueryRowContext(ctx, "SELECT version FROM meta").Scan(&version)
		if err == nil && version == schemaVersion {
			return s, nil
		}
		s.readers.Close()
	}
	return nil, why
}

// Close waits for what is being written and closes the database. A pair still
// in state sending stays so: the next Open ends it as interrupted.
func (s *SQLite) Close() error {
	s.leaving.Lock()
	closed := s.ctx.Err() != nil
	s.cancel()
	s.leaving.Unlock()
	s.background.Wait()
	if closed || s.writer == nil {
		return s.disconnect()
	}
	s.writer.turn <- struct{}{} // for good: nobody writes any more
	defer s.owner.leave()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	opening, err := lockOpening(ctx, s.run)
	if err != nil {
		return s.disconnect()
	}
	defer opening.Close()
	return s.disconnectNoting()
}

// disconnectNoting closes the database and notes how it looks, for who holds the
// open lock. The last to close copies the log of all into the database.
func (s *SQLite) disconnectNoting() error {
	living, _, err := countOwners(s.run, s.owner)
	if err != nil || living > 0 {
		return errors.Join(err, s.disconnect())
	}
	state := s.readState()
	state.phase = phaseClosing
	s.writeState(state)
	err = s.disconnect()
	if size(s.path+"-wal") < 0 && err == nil {
		state.phase, state.fingerprint = phaseClosed, s.fingerprint()
		s.writeState(state)
	}
	return err
}

func (s *SQLite) disconnect() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.writes != nil {
		errs = append(errs, s.writes.Close())
	}
	return errors.Join(errs...)
}

// abandon undoes an Open that failed, under the open lock if it was taken. What
// its log holds is not given up: the next Open says again that it was lost.
func (s *SQLite) abandon() {
	s.cancel()
	s.background.Wait()
	if s.owner == nil {
		return
	}
	if s.writes == nil || s.report.LostLog {
		_ = s.disconnect() // why Open failed says more
	} else {
		_ = s.disconnectNoting()
	}
	s.owner.leave()
}

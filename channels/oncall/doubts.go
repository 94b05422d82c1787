package oncall

import (
	"sync"
	"time"
)

// A doubt is an alert that may be open although the service did not confirm it. Nobody else knows
// of it once its request has ended, and it would ring for ever.
type doubt struct {
	service *service
	request string
}

// When an alert in doubt is closed: so long after its request's deadline, which people may have put
// off, and looked at so often. maxDoubts bounds how many are remembered, by this process alone.
const (
	doubtFor    = time.Minute
	doubtsEvery = 10 * time.Second
	maxDoubts   = 1024
)

// doubts are remembered until the alert is known to be open, or was closed.
type doubts struct {
	after, every time.Duration // doubtFor and doubtsEvery, but in tests

	mu  sync.Mutex
	all map[doubt]time.Time // when it is closed
}

func (s *doubts) add(d doubt, due time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[doubt]time.Time{}
	}
	if _, known := s.all[d]; known || len(s.all) < maxDoubts {
		s.all[d] = due.Add(s.after)
	}
}

func (s *doubts) forget(d doubt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, d)
}

// over returns the alerts that are to be closed now.
func (s *doubts) over() (now []doubt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for d, at := range s.all {
		if !time.Now().Before(at) {
			now = append(now, d)
		}
	}
	return now
}

package receiving

import (
	"sync/atomic"

	"approver.example/display"
)

// Speech says in which language a channel tells somebody something. The zero value speaks English. It is
// safe for concurrent use.
type Speech struct {
	of atomic.Pointer[func(sender, conversation string) display.Texts]
}

// Speak implements [approver.Speaker].
func (s *Speech) Speak(of func(sender, conversation string) display.Texts) { s.of.Store(&of) }

// To returns the texts for somebody in a conversation.
func (s *Speech) To(sender, conversation string) display.Texts {
	if of := s.of.Load(); of != nil {
		return (*of)(sender, conversation)
	}
	return display.Texts{}
}

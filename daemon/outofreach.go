package daemon

import (
	"fmt"
	"slices"
	"strconv"

	"approver.example"
	"approver.example/configs"
	"approver.example/display"
)

// OutOfReach names those whom the configuration lists as approvers on this machine, and
// whom the resolve socket of its daemon refuses all the same, with the cure. daemon is the
// uid that it runs as.
func OutOfReach(cfg configs.Config, daemon uint32) (lines []string) {
	who, err := cfg.Sockets.Submitters()
	if err != nil {
		return nil // told as a problem of the configuration
	}
	for id, person := range cfg.People() {
		uid, err := strconv.ParseUint(id.ID, 10, 32)
		if !isLocal(id) || err != nil {
			continue
		}
		name := display.OneLine(approver.SelfPerson(id.Channel, id.ID))
		if person.ID != approver.SelfPerson(id.Channel, id.ID) {
			name += " (" + display.OneLine(person.ID) + ")"
		}
		if submits, err := who.Has(uint32(uid)); who.Named() && (err != nil || submits) {
			lines = append(lines, fmt.Sprintf("%s is on the approver list and cannot answer: uid %d may submit calls, and who asks must not answer. Let it be one of the two", name, uid))
			continue
		}
		if uid != 0 && uint32(uid) != daemon && !slices.Contains(cfg.Sockets.ResolveUIDs, uint32(uid)) {
			lines = append(lines, fmt.Sprintf("%s is on the approver list and cannot answer: the daemon admits no watch of uid %d. Add %[2]d to sockets.resolve_uids, and restart the daemon", name, uid))
		}
	}
	slices.Sort(lines)
	return lines
}

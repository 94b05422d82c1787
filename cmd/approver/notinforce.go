package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/judges"
)

// sayNotInForce puts [policyFlags.notInForce] beside what is printed.
func (f policyFlags) sayNotInForce(ctx context.Context) {
	if said := f.notInForce(ctx); said != "" {
		printedOn(os.Stderr, 10, "approver: %s\n", visibly(said))
	}
}

// notInForce says, for judge, policy explain and report, that what they judge by is not
// what the daemon judges by, or that nobody can say. It is empty if it is, and for whoever
// names a policy: they ask about that one.
func (f policyFlags) notInForce(ctx context.Context) string {
	if f.Policy != "" {
		return ""
	}
	cfg, err := configs.LoadOrDefault(f.Config)
	if err != nil {
		return "" // it was told when it was read
	}
	files, err := judges.VersionsOf(cfg)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var doc adminapi.Status
	err = (operatorCmd{daemonAt: daemonAt{Config: f.Config, told: f.told}}).operate(ctx, adminapi.OpStatus, struct{}{}, &doc)
	switch {
	case err != nil && cfg.File == "" && errors.Is(err, fs.ErrNotExist):
		return "" // there is neither a configuration nor a daemon
	case err != nil, doc.InForce == nil:
		return "judged by the files; the daemon may have others in force, which it does not say here"
	}
	names := files.Unlike(*doc.InForce)
	if len(names) == 0 {
		return ""
	}
	said := fmt.Sprintf("judged by the files, which are not in force: the daemon judges by another %s", strings.Join(names, " and another "))
	for _, u := range doc.NotInForce {
		said += "; " + u.String()
	}
	return said
}

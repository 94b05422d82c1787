package main

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/daemon/adminapi"
)

// Root typed "approver approve ID" for a CATASTROPHIC request, and was told to type "sudo
// approver approve ID". And where the terminal takes no answers, the request was shown and
// asked about all the same.
func TestApproveSaysWhatWorks(t *testing.T) {
	catastrophic := adminapi.Shown{Severity: approver.Catastrophic}
	if err := notByID(catastrophic, "id", true); err == nil || strings.Contains(err.Error(), "sudo") ||
		!strings.Contains(err.Error(), "approver approve CODE") {
		t.Error(err)
	}
	if err := notByID(catastrophic, "id", false); err == nil ||
		!strings.Contains(err.Error(), "sudo approver approve id") {
		t.Error(err)
	}
	if err := notByID(adminapi.Shown{Severity: approver.High, NotTaken: "not here"}, "id", false); err == nil ||
		err.Error() != "not here" {
		t.Error(err)
	}
	if err := notByID(adminapi.Shown{Severity: approver.High}, "id", false); err != nil {
		t.Error(err)
	}
	if err := notByID(adminapi.Shown{}, "id", false); err == nil { // the zero severity
		t.Error("a request without a severity is approved by its id")
	}
}

package services

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// plistValues reads a property list as launchd does: keys and values take turns.
func plistValues(t *testing.T, text string) map[string]string {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	values, key, depth := map[string]string{}, "", 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return values
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if depth++; e.Name.Local == "true" {
				values[key] = "true"
			}
			if e.Name.Local != "key" && e.Name.Local != "string" && e.Name.Local != "integer" {
				continue
			}
			var inner string
			if err := dec.DecodeElement(&inner, &e); err != nil {
				t.Fatal(err)
			}
			if depth--; e.Name.Local == "key" {
				key = inner
				continue
			}
			values[key] += inner + "\n"
		case xml.EndElement:
			depth--
		}
	}
}

func TestPlist(t *testing.T) {
	for _, user := range []bool{false, true} {
		c := serviceInstallCmd{Unit: Unit{Manager: "launchd", User: user}, Config: "/a&b <c>/approver.yaml", As: "approver"}
		text, err := c.text()
		if err != nil {
			t.Fatal(err)
		}
		got := plistValues(t, text)
		args := strings.Split(got["ProgramArguments"], "\n")
		if got["Label"] != label+"\n" || len(args) != 5 || args[1] != "serve" || args[2] != "--config" ||
			args[3] != "/a&b <c>/approver.yaml" ||
			got["RunAtLoad"] != "true" || got["KeepAlive"] != "true" || got["Umask"] != "63\n" {
			t.Errorf("%q\n%s", got, text)
		}
		if (got["UserName"] == "approver\n") == user {
			t.Errorf("for the user %v: %q", user, got["UserName"])
		}
	}
	if _, err := (serviceInstallCmd{Unit: Unit{Manager: "launchd"}, Config: "/a\nb"}).text(); err == nil {
		t.Error("a line break in a path was taken")
	}
}

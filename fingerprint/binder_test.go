//go:build unix

package fingerprint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/fingerprint/disk"
)

func TestBinderBindsWhatACommandNames(t *testing.T) {
	p := newPlayground(t, "x.sh", "-x.sh", "my script.sh", "sub/y.sh", "sub/deep/z.sh", "bin/tool", "$HOME.sh",
		"sp ace/w.sh")
	script, far := p.path("x.sh"), newPlayground(t, "far.sh")
	must(t, os.Symlink(far.path("."), p.path("link")))
	far.write("../beside.sh", "v1")
	for _, c := range []struct{ command, want string }{
		{"./x.sh prod", "x.sh"},
		{"bash x.sh", "x.sh"},
		{"bash<x.sh", "x.sh"},
		{"cd nowhere && bash '" + script + "'", "x.sh"},
		{"X=1 tool --yes", "bin/tool"},
		{"echo $(tool)", "bin/tool"},
		{`to\ol`, "bin/tool"},
		{"to\\\nol", "bin/tool"},
		{`t"oo"l`, "bin/tool"},
		{"bash -- -x.sh", "-x.sh"},
		{"bash --rcfile=x.sh", "x.sh"},
		{"bash -c./x.sh", "x.sh"},
		{"env -S./x.sh", "x.sh"},
		{"curl -d @x.sh", "x.sh"},
		{"docker run -v ./x.sh:/x.sh", "x.sh"},
		// Quotes glue.
		{`bash "my script.sh"`, "my script.sh"},
		{`bash 'my script.sh'`, "my script.sh"},
		{`bash my\ script.sh`, "my script.sh"},
		{`bash --rcfile="my script.sh"`, "my script.sh"},
		{`bash $'my script.sh'`, "my script.sh"},
		{`bash -c 'bash "my script.sh"'`, "my script.sh"},
		{`bash -c "bash my\\ script.sh"`, "my script.sh"},
		// Variables and the home directory.
		{"python ~/x.sh", "x.sh"},
		{"$HOME/x.sh", "x.sh"},
		{"${HOME}/x.sh", "x.sh"},
		{`"$PWD"/x.sh`, "x.sh"},
		{`bash "$HOME/my script.sh"`, "my script.sh"},
		{`bash -c '$HOME/x.sh'`, "x.sh"},
		{`bash "$WHERE"/y.sh`, "sub/y.sh"},
		{`bash '$HOME.sh'`, "$HOME.sh"},
		// Directories that the command names.
		{"cd sub && ./y.sh", "sub/y.sh"},
		{"env -C sub ./y.sh", "sub/y.sh"},
		{"(cd sub; bash y.sh)", "sub/y.sh"},
		{"cd sub && cd deep && ./z.sh", "sub/deep/z.sh"},
		{`cd "sp ace" && ./w.sh`, "sp ace/w.sh"},
		{"git --work-tree=sub y.sh", "sub/y.sh"},
		{"PATH=sub:$PATH y.sh", "sub/y.sh"},
		{"cd $WHERE && ./y.sh", "sub/y.sh"},
		{"cd sub && ../x.sh", "x.sh"},
	} {
		if !slices.Contains(p.bound(c.command), c.want) {
			t.Errorf("%q binds %q, not %q", c.command, p.bound(c.command), c.want)
		}
	}
	call := p.call("cd .. && ./x.sh")
	call.Dir = p.path("sub")
	if files, err := p.files(call); err != nil || files[script] == "" {
		t.Errorf("cd ..: %v, %v", files, err)
	}
	call.Command, call.Dir = "cd && ./x.sh", p.path("sub")
	if files, err := p.files(call); err != nil || files[script] == "" {
		t.Errorf("a bare cd: %v, %v", files, err)
	}
	// The kernel follows the link first, and only then goes up.
	if _, ok := p.of("bash link/../beside.sh")[filepath.Join(far.dir, "../beside.sh")]; !ok {
		t.Errorf("up from behind a link: %v", p.of("bash link/../beside.sh"))
	}
	if n := len(p.of("tool")); n != 2 {
		t.Errorf("%d entries for one word, not its file and the directory", n)
	}
	before := p.of("bash x.sh")[script]
	p.write("x.sh", "v2")
	if p.of("bash x.sh")[script] == before {
		t.Error("a changed script has the same hash")
	}
}

// An agent asks for a harmless script that it holds mapped, and writes through
// the mapping after the yes: neither mtime nor ctime tell.
func TestBinderSeesWritesThroughAMapping(t *testing.T) {
	p := newPlayground(t)
	p.write("deploy.sh", "echo harmless000\n")
	f, err := os.OpenFile(p.path("deploy.sh"), os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	m, err := syscall.Mmap(int(f.Fd()), 0, 17, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	must(t, err)
	defer syscall.Munmap(m)
	for range 5 {
		copy(m, "echo harmless000\n") // the page is dirty: the times change now, and not again
		time.Sleep(2100 * time.Millisecond)
		shown, version := p.of("./deploy.sh"), p.version("deploy.sh")
		copy(m, "rm -rf ~ # evil!\n")
		run := p.of("./deploy.sh")
		if p.version("deploy.sh") != version {
			continue // another process brought the disk up to date, so that the times changed
		}
		if maps.Equal(shown, run) {
			t.Error("the script was swapped and the fingerprint stayed")
		}
		return
	}
	t.Fatal("the times have changed: this test shows nothing")
}

func (p *playground) version(name string) string {
	info, err := os.Stat(p.path(name))
	if err != nil {
		p.Fatal(err)
	}
	id, _ := disk.Identify(info)
	return id.Version
}

// A large file used to be bound by its times alone.
func TestBinderReadsLargeFiles(t *testing.T) {
	p := newPlayground(t, "large")
	must(t, os.Truncate(p.path("large"), 20<<20))
	if got := p.of("./large")[p.path("large")]; !strings.HasPrefix(got, "sha256:") {
		t.Errorf("20 MiB are bound by %q", got)
	}
	p.write("huge image", "")
	must(t, os.Truncate(p.path("huge image"), disk.MaxCallBytes+1))
	huge := func() string { return p.of("run 'huge image'")[p.path("huge image")] }
	before := huge()
	if !strings.HasPrefix(before, "ends:") {
		t.Errorf("a huge file is bound by %q", before)
	}
	f, err := os.OpenFile(p.path("huge image"), os.O_WRONLY, 0)
	must(t, err)
	if _, err := f.WriteAt([]byte("rm -rf ~"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil || huge() == before {
		t.Errorf("a huge file with another beginning has the same hash (%v)", err)
	}
	before = huge()
	if f, err = os.OpenFile(p.path("huge image"), os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("rm -rf ~"), disk.MaxCallBytes/2); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil || huge() == before {
		t.Errorf("a huge file that was written in the middle has the same hash (%v)", err)
	}
	p.write("other", "")
	must(t, os.Truncate(p.path("other"), disk.MaxCallBytes-10<<20))
	if both := p.of("run large other"); !strings.HasPrefix(both[p.path("large")], "sha256:") ||
		!strings.HasPrefix(both[p.path("other")], "ends:") {
		t.Errorf("two files that are too large together are bound by %v", both)
	}
}

// rm -rf build is approved in cur → sub, and run in cur → other.
func TestBinderBindsWhereTheDirectoryLeads(t *testing.T) {
	p := newPlayground(t, "sub/a", "other/a")
	call := p.call("rm -rf build")
	call.Dir = p.path("cur")
	of := func() approver.Fingerprint {
		files, err := p.files(call)
		if err != nil || files["dir"] == "" {
			t.Fatalf("%v, %v", files, err)
		}
		bound, err := Bind(call, "p", files, nil)
		must(t, err)
		return bound.Fingerprint
	}
	point := func(to string) {
		_ = os.Remove(call.Dir)
		must(t, os.Symlink(to, call.Dir))
	}
	gone := of()
	point("sub")
	shown := of()
	if !shown.Equal(of()) || shown.Equal(gone) {
		t.Error("the directory is not bound, or not for long")
	}
	point("other")
	if shown.Equal(of()) {
		t.Error("the link leads elsewhere and the fingerprint stayed")
	}
	point("sub")
	must(t, os.Rename(p.path("sub"), p.path("old")))
	p.write("sub/a", "v1")
	if shown.Equal(of()) {
		t.Error("another directory has the name and the fingerprint stayed")
	}
}

// What the kernel makes up differs at each reading; what holds a script does
// not become unbound by being named through the same folders.
func TestBinderSkipsTheKernelsNews(t *testing.T) {
	p := newPlayground(t, "x.sh")
	for _, command := range []string{"cat /proc/uptime /proc/self/stat", "cd /proc && cat uptime",
		"cat /proc/self/root/proc/uptime", "cat /dev/stdin /dev/fd/0 /dev/null", "cat /sys/kernel/uevent_seqnum"} {
		files := p.of(command)
		delete(files, "dir")
		delete(files, "/usr/bin/cat")
		if len(files) != 0 {
			t.Errorf("%s binds %v", command, files)
		}
	}
	f, err := os.Open(p.path("x.sh"))
	must(t, err)
	defer f.Close()
	for _, own := range []string{"/dev/fd/%d", "/proc/self/fd/%d"} {
		if files := p.of(fmt.Sprintf("bash "+own, f.Fd())); files[fmt.Sprintf(own, f.Fd())] != "" {
			t.Errorf("a file that this process has open passes for the agent's: %v", files)
		}
	}
	if _, err := os.Stat("/proc/self/root/proc"); err != nil {
		return // not this kernel
	}
	for _, command := range []string{"bash /proc/self/cwd/x.sh", "bash /proc/self/root" + p.path("x.sh")} {
		if files := p.of(command); files[p.path("x.sh")] == "" || len(files) > 3 { // and by its own name
			t.Errorf("%s does not bind the script: %v", command, files)
		}
	}
}

// An honest log grows while a person thinks. What is run must not slip through.
func TestBinderLeavesOutput(t *testing.T) {
	p := newPlayground(t, "app.log", "out.txt", "x.sh", "sub/y.log", "tool.log")
	must(t, os.Chmod(p.path("tool.log"), 0o755))
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"tail -n 5 app.log && systemctl restart app", nil},
		{"cd sub && tail y.log", nil},
		{"make >> out.txt", nil},
		{"make > out.txt 2>&1", nil},
		{"make &> ./out.txt; true", nil},
		{`echo "it's" >>out.txt`, nil},
		// All of these run or read the file.
		{"bash app.log", []string{"app.log"}},
		{"/bin/bash5.2 app.log", []string{"app.log"}},
		{". ./app.log", []string{"app.log"}},
		{"source app.log", []string{"app.log"}},
		{"python3.12 app.log", []string{"app.log"}},
		{"sh -c 'sh app.log'", []string{"app.log"}},
		{"./tool.log", []string{"tool.log"}},
		{"echo >> x.sh; ./x.sh", []string{"x.sh"}},
		{"bash <> x.sh", []string{"x.sh"}},
		{"env -u '>' ./x.sh", []string{"x.sh"}},
		{`env -u ">" ./x.sh`, []string{"x.sh"}},
		{`env -u \> ./x.sh`, []string{"x.sh"}},
		{"# it's\nenv -u '>' ./x.sh", []string{"x.sh"}},
		{"cat >(bash x.sh)", []string{"x.sh"}},
		{"> out.txt'' ./x.sh", []string{"x.sh"}},
	} {
		if got := p.bound(c.command); !slices.Equal(got, c.want) {
			t.Errorf("%q binds %q, not %q", c.command, got, c.want)
		}
	}
}

// The story: a card shows `julia deploy.log`. A person reads the file and says
// yes; the agent writes another program into it before the release. A list of
// interpreters never knows them all, so a log is left out only where it is plain
// to see that it is merely read.
func TestBinderBindsLogsThatMayRun(t *testing.T) {
	p := newPlayground(t, "deploy.log", "sub/deploy.log")
	for _, command := range strings.Split(`julia deploy.log
expect deploy.log
vim -es -S deploy.log
emacs --script deploy.log
R -f deploy.log
gdb -batch -x deploy.log
rbash deploy.log
uv run deploy.log
terraform apply deploy.log
helm install x -f deploy.log
curl -K deploy.log
find . -files0-from deploy.log -delete
rsync -a --delete --files-from=deploy.log / b:
cargo run --manifest-path deploy.log
s=h; bas$s deploy.log
[ -f deploy.log ] && ba?h deploy.log
/bin/b*sh deploy.log
cp deploy.log /etc/cron.d/x
mv deploy.log ~/.bashrc
'my tail' deploy.log
./tail deploy.log
tail deploy.log; bash sub/../deploy.log
cat deploy.log | tee /etc/cron.d/x
cat deploy.log | sh
cat deploy.log | grep -v '^#' | sh
cat deploy.log |⏎  sh
cat deploy.log |& sh
cat deploy.log | sort -o /etc/cron.d/x
cat deploy.log | uniq - /etc/cron.d/x
cat deploy.log | sort "-o" /etc/cron.d/x
cat deploy.log | $PAGER
cat deploy.log > /etc/cron.d/x
cat deploy.log >> ~/.bashrc
cat deploy.log &> x
cat deploy.log >| x
cat deploy.log 2>&1 > x
cat deploy.log > /dev/nullx
sudo x >& tail deploy.log
sudo x <& tail deploy.log
sudo x >| tail deploy.log
cat deploy.log | sort > -c
cat deploy.log | sort -och
cat deploy.log | uniq 10 20
tail deploy.log "`+"`sh *`"+`"
bash < deploy.log; tail deploy.log
bash <(cat deploy.log)
bash <<< "$(cat deploy.log)"
bash -c "tail deploy.log" | sh
eval "$(cat deploy.log)"
(cat deploy.log) | sh
{ cat deploy.log; } > x
$(tail deploy.log)
tail() { bash "$1"; }; tail deploy.log
alias tail=bash; tail deploy.log
hash -p /bin/bash tail; tail deploy.log
PATH=/tmp/evil; tail deploy.log
export PATH=/tmp/evil && tail deploy.log
read PATH && tail deploy.log
exec > x; tail deploy.log
! tail deploy.log | sh
tail deploy.log 'a\' ; sh deploy.log '
tail deploy.log; sh *.log
tail deploy.log; sh deploy.l?g
tail deploy.log; sh $X
tail deploy.log; sh -c 'sh *.l*'
tail deploy.log; alias cat=sh; cat *.l*
tail deploy.log "$(sh *)"
tail deploy.log\`+"`sh *`"+`
test -v 'a[$(sh d*)]' deploy.log
tail deploy.lo"g"; sh deploy.log`, "\n") {
		command = strings.ReplaceAll(command, "⏎", "\n")
		if !slices.Contains(p.bound(command), "deploy.log") && p.unbound(command) == nil {
			t.Errorf("%q: approved with one content of the log, released with another", command)
		}
	}
}

func TestBinderLeavesLogsThatAreRead(t *testing.T) {
	p := newPlayground(t, "app.log", "my app.log", "sub/y.log", "x.sh")
	for _, command := range []string{
		"tail -f app.log",
		"tail -n 5 app.log && systemctl restart app",
		"systemctl restart app; sleep 2; tail -n 50 app.log",
		"grep x app.log",
		`grep -c "GET /a?b=c" ./app.log | head -1`,
		`grep -E 'a|b\.c$' app.log 2>/dev/null | wc -l`,
		"cat app.log | sort | uniq -c | sort -rn -k2 | head",
		"cat 'my app.log' | tail -3",
		"/usr/bin/tail ~/app.log",
		"cat $HOME/nothing app.log",
		"tail " + p.path("app.log"),
		"cd sub && tail y.log",
		"cd sub\ntail y.log\n",
		"make > out.txt 2>&1; tail app.log",
		"make >> app.log 2>&1 & tail -f app.log",
		"npm test >/dev/null 2>&1 || tail app.log > /dev/null",
		"wc -l app.log sub/y.log &>/dev/null",
		"rm -f app.log",
		"ls -l *.log app.log",
		"git commit -m 'fix it' && tail app.log",
	} {
		if got := p.bound(command); got != nil {
			t.Errorf("%q binds %q", command, got)
		}
	}
	// Where its name leads is bound: not another file is shown.
	for _, to := range []string{"app.log", "x.sh"} {
		_ = os.Remove(p.path("l.log"))
		must(t, os.Symlink(to, p.path("l.log")))
		if got := p.of("tail l.log")["leads "+p.path("l.log")]; got != p.path(to) {
			t.Errorf("the link leads to %q", got)
		}
	}
}

// A command must not keep the service busy, nor come by without being bound.
func TestBinderIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and a lot of text")
	}
	p := newPlayground(t, "x.sh")
	if _, err := p.files(p.call(strings.Repeat("no-such-file ", 10_000))); err != nil {
		t.Errorf("one word, many times: %v", err)
	}
	distinct := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	call := p.call("cat > notes <<E\n" + distinct(15_000, "w%x ") + "\nE\n./x.sh")
	if files, err := p.files(call); err != nil || files[p.path("x.sh")] == "" {
		t.Errorf("a long text is refused, or hides a script: %v", err)
	}
	env := func(key, value string) map[string]string {
		m := maps.Clone(call.Env)
		m[key] = value
		return m
	}
	for name, c := range map[string]approver.ToolCall{
		"many paths":     {Command: distinct(30_000, "./%x "), Dir: p.dir},
		"many PATH dirs": {Command: distinct(300, "zz%x "), Dir: p.dir, Env: env("PATH", distinct(4000, "/usr/p%d:"))},
		"aliases": {Command: strings.Repeat("a/../", 700) + "x.sh " +
			distinct(300, strings.Repeat("a/../", 100)+"x%d "), Dir: p.dir},
		"large variables": {Command: distinct(20_000, "a%d$WHERE "), Dir: p.dir,
			Env: env("WHERE", strings.Repeat("x", 30_000))},
		"growing variable": {Command: distinct(5000, "${A}%d "), Dir: p.dir, Env: env("A", strings.Repeat("$A", 500))},
	} {
		start := time.Now()
		_, unbound, err := p.b.Files(p.Context(), c)
		if err == nil && unbound == nil {
			t.Errorf("%s: no error, and nothing is said", name)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%s: %v", name, d)
		}
	}
	for name, command := range map[string]string{
		"redirections": strings.Repeat("> ", 125_000), "arrows": strings.Repeat(">", 250_000),
		"dashes": strings.Repeat("-a", 125_000) + "./",
		"quotes": strings.Repeat(`'"`, 125_000), "dollars": strings.Repeat("$", 250_000),
		"backslashes": strings.Repeat(`\`, 250_000),
		"separators":  strings.Repeat("a=", 125_000), "substitutions": strings.Repeat(`"$(`, 80_000),
		"a long name":       "${" + strings.Repeat("a", 250_000),
		"names without end": strings.Repeat("${a", 80_000),
	} {
		start := time.Now()
		_, _ = p.files(p.call(command))
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%s: %v", name, d)
		}
	}
	for i := range disk.MaxFiles + 1 {
		p.write(fmt.Sprintf("many/%d", i), "")
	}
	_, err := p.files(p.call(distinct(disk.MaxFiles+1, "many/%d ")))
	if why := approver.UnbindableError(""); !errors.As(err, &why) || !strings.HasSuffix(why.Error(), "split it") {
		t.Errorf("more files than can be bound: %v", err)
	}
	must(t, syscall.Mkfifo(p.path("pipe"), 0o600))
	if got := p.bound("cat pipe"); got != nil {
		t.Errorf("a pipe is bound: %v", got)
	}
}

// The story: a command names a file on a network mount that has died. The kernel
// holds whoever looks at it, for ever. The call must be denied in time, and the
// next ones too, without a new goroutine for each.
func TestBinderDoesNotHang(t *testing.T) {
	p := newPlayground(t, "x.sh")
	synctest.Test(t, func(t *testing.T) {
		dead := make(chan struct{})
		var looks atomic.Int64
		p.b.shared.Stat = func(path string) (fs.FileInfo, error) {
			if strings.HasPrefix(path, "/net/dead") {
				looks.Add(1)
				<-dead
			}
			return os.Stat(path)
		}
		of := func(ctx context.Context, command string) (time.Duration, error) {
			start := time.Now()
			files, _, err := p.b.Files(ctx, p.call(command))
			if err != nil && files != nil {
				t.Errorf("files come with the error %v", err)
			}
			return time.Since(start), err
		}
		if took, err := of(t.Context(), "bash /net/dead/x.sh"); !errors.Is(err, errSlow) || took != scanTime {
			t.Errorf("after %v: %v", took, err)
		}
		gone := errors.New("the courier went away")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		if took, err := of(ctx, "bash /net/dead/x.sh"); !errors.Is(err, gone) || took != time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		for range disk.MaxScans - 2 {
			if took, err := of(t.Context(), "bash /net/dead/x.sh"); !errors.Is(err, errSlow) || took != scanTime {
				t.Fatalf("after %v: %v", took, err)
			}
		}
		for _, command := range []string{"bash /net/dead/x.sh", "bash x.sh"} {
			if took, err := of(t.Context(), command); err == nil || !strings.Contains(err.Error(), "64 other commands") ||
				took != 0 {
				t.Errorf("%s, with all places taken, after %v: %v", command, took, err)
			}
		}
		if n := looks.Load(); n != disk.MaxScans {
			t.Errorf("%d goroutines hang", n)
		}
		close(dead) // the mount comes back
		synctest.Wait()
		if _, err := of(t.Context(), "bash x.sh"); err != nil || len(p.b.scans) != 0 {
			t.Errorf("afterwards: %v, %d places are taken", err, len(p.b.scans))
		}
	})
}

// What nobody waits for any more stops at the next file.
func TestBinderGivesUp(t *testing.T) {
	p := newPlayground(t, "x.sh", "y.sh")
	given := make(chan struct{})
	looks := 0
	p.b.shared.Stat = func(path string) (fs.FileInfo, error) {
		if looks++; looks == 1 {
			close(given)
		}
		return os.Stat(path)
	}
	if _, _, err := p.b.scan(given, p.call("./x.sh ./y.sh")); !errors.Is(err, disk.ErrCanceled) || looks != 1 {
		t.Errorf("%d looks, %v", looks, err)
	}
}

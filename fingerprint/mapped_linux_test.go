package fingerprint

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"approver.example/fingerprint/disk"
)

// mapped keeps a file of a playground mapped, so that it can be written to without a call.
func (p *playground) mapped(name string) []byte {
	p.Helper()
	f, err := os.OpenFile(p.path(name), os.O_RDWR, 0)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = f.Close() }() // the mapping stays
	info, err := f.Stat()
	if err != nil {
		p.Fatal(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = syscall.Munmap(b) })
	return b
}

// manifests are a folder too large to be read.
func manifests(t *testing.T) *playground {
	p := newPlayground(t)
	for n := range disk.MaxTree + 10 {
		p.write(fmt.Sprintf("many/%d.yaml", n), "kind: Pod # 1\n")
	}
	if names := p.unbound("kubectl apply -f many/"); strings.Contains(strings.Join(names, ""), "too large") {
		t.Skip("the times of files on this file system are not trusted")
	}
	return p
}

// An agent kept a manifest of a large folder mapped and wrote to it shortly before the card: the
// page was writable then, and the next write set no time. The yes for the first content ran the
// second. Now the disk is brought up to date before the times are asked, and the next write shows.
func TestAWriteThroughAMappingShows(t *testing.T) {
	p := manifests(t)
	m := p.mapped("many/77.yaml")
	for n := range 3 {
		m[len(m)-2] = byte('2' + n) // the page is dirty
		time.Sleep(50 * time.Millisecond)
		before := p.of("kubectl apply -f many/")
		m[len(m)-2] = 'X'
		if maps.Equal(before, p.of("kubectl apply -f many/")) {
			t.Fatalf("write %d through a mapping: nobody sees it", n)
		}
	}
}

// He writes all the time, so that the page is dirty again before the times are asked. Such a
// folder has a name, or the next write shows.
func TestAMappingThatIsWrittenToAllTheTime(t *testing.T) {
	p := manifests(t)
	m := p.mapped("many/77.yaml")
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; !stop.Load(); n++ {
			m[len(m)-2] = byte('a' + n%26)
			time.Sleep(time.Millisecond)
		}
	}()
	before, unbound, err := p.b.Files(t.Context(), p.call("kubectl apply -f many/"))
	stop.Store(true)
	<-done
	must(t, err)
	m[len(m)-2] = 'X'
	if len(unbound) == 0 && maps.Equal(before, p.of("kubectl apply -f many/")) {
		t.Error("a write through a mapping: nobody sees it")
	}
}

// A disk that takes too long names the folder: what is in memory may be written to unseen.
func TestADiskThatIsBusyNamesTheFolder(t *testing.T) {
	p := manifests(t)
	p.b.shared.Syncing = disk.MaxSyncs
	if names := p.unbound("kubectl apply -f many/"); !strings.Contains(strings.Join(names, ""), "the disk is slow") {
		t.Errorf("%q", names)
	}
	p.b.shared.Syncing = 0
	if names := p.unbound("kubectl apply -f many/"); len(names) > 0 {
		t.Errorf("%q", names)
	}
}

// A large program in a folder of PATH is bound by its times, too. He had it mapped.
func TestAMappedProgramOfPath(t *testing.T) {
	p := newPlayground(t)
	p.write(".git/HEAD", "x")
	p.write("bin/git", "x")
	p.write("bin/git-x", strings.Repeat("x", disk.OwnedBytes+1))
	for _, name := range []string{"bin/git", "bin/git-x"} {
		must(t, os.Chmod(p.path(name), 0o755))
	}
	m := p.mapped("bin/git-x")
	for n := range 3 {
		m[0] = byte('2' + n)
		before := p.of("git status")
		if before["starts "+p.path("bin/git-x")] == "" {
			t.Fatalf("the program is not bound: %v", before)
		}
		m[0] = 'X'
		if maps.Equal(before, p.of("git status")) {
			t.Fatalf("write %d through a mapping: nobody sees it", n)
		}
	}
}

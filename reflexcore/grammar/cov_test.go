package grammar_test

import (
	"bufio"
	"fmt"
	"os"
	"testing"
)

func TestCov(t *testing.T) {
	f, err := os.Open("/tmp/freq.txt")
	if err != nil || os.Getenv("COV") == "" {
		t.Skip()
	}
	table := load(t)
	known, all := 0, 0
	s := bufio.NewScanner(f)
	for s.Scan() {
		var n int
		var name string
		fmt.Sscan(s.Text(), &n, &name)
		all += n
		if table.Find(name) != nil {
			known += n
		} else if n > 1 {
			fmt.Print(n, " ", name, "; ")
		}
	}
	fmt.Println("\nknown", known, "of", all)
}

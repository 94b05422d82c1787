package agentstest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example/display"
)

// This file has the person who answers.

// watch is a person who sees every card and answers with approve or deny on the
// command line, or not at all.
func (w *claudeWorld) watch(answers func(command string) string) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := w.command(ctx, filepath.Join(programs, "approver"), "watch", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	looks := make(chan struct{})
	hello := sync.OnceFunc(func() { close(looks) })
	var all sync.WaitGroup
	w.Cleanup(func() { cancel(); all.Wait(); _ = cmd.Wait() })
	all.Go(func() {
		seen := map[string]bool{}
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var event struct {
				Type string
				Card struct {
					Request string
					Body    []display.Block
				}
			}
			err := json.Unmarshal(lines.Bytes(), &event)
			if err == nil && event.Type == "hello" {
				hello()
			}
			if err != nil || event.Card.Request == "" || seen[event.Card.Request] {
				continue
			}
			request, call := event.Card.Request, words(event.Card.Body)
			seen[request] = true
			w.mu.Lock()
			w.asked, w.requests = append(w.asked, call), append(w.requests, request)
			w.mu.Unlock()
			all.Go(func() { w.answer(ctx, request, answers(call)) })
		}
	})
	select {
	case <-looks:
	case <-time.After(patience):
		w.Fatal("the daemon knows of nobody who looks")
	}
}

// words is what a card shows of a call: the texts of its body, with their labels.
func words(body []display.Block) string {
	var lines []string
	for _, b := range body {
		lines = append(lines, strings.TrimPrefix(b.Label+": "+b.Text, ": "))
	}
	return strings.Join(lines, "\n")
}

// answer answers a request, and returns what the person is told.
func (w *claudeWorld) answer(ctx context.Context, request, word string) (told string) {
	word, choice, _ := strings.Cut(word, " ")
	args := []string{word, request}
	switch word {
	case "":
		return ""
	case "approve":
		args = append(args, "--yes")
	}
	if choice != "" {
		args = append(args, "--choice", choice)
	}
	out, err := w.command(ctx, filepath.Join(programs, "approver"), args...).CombinedOutput()
	w.Logf("approver %s: %s%v", word, out, err)
	return string(out)
}

// questions are the commands that people were asked about.
func (w *claudeWorld) questions() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// first is the id of the first request.
func (w *claudeWorld) first() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests[0]
}

// waiting waits until people were asked n times.
func (w *claudeWorld) waiting(n int) {
	w.Helper()
	w.until(fmt.Sprintf("people are asked %d times", n), func() bool { return len(w.questions()) >= n })
}

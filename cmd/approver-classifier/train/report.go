package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"approver.example/shieldcore/classifier"
)

func isAttack(t *text) bool { return t.attack }
func isBenign(t *text) bool { return !t.attack }

// report prints measurements across sources, and those of the new weights on our own
// cases, with their time.
func report(w io.Writer, corpus, own []*text, weights *classifier.Weights, cases string) error {
	folds, err := crossSource(corpus, own, attackFolds)
	if err != nil {
		return err
	}
	var all [5]float64
	var attacks float64
	var rows strings.Builder
	fmt.Fprintf(w,
		"\n| held out | attacks | AUC, content | AUC, all benign | recall at 0.1 %% | at 0.5 %% | at 1 %% |\n"+
			"|---|---|---|---|---|---|---|\n")
	for i, fold := range folds {
		var n float64
		for _, t := range fold {
			if t.attack {
				n += t.weight
			}
		}
		row := [5]float64{auc(fold, content), auc(fold, isBenign)}
		for j, share := range []float64{0.001, 0.005, 0.01} {
			row[2+j] = recall(fold, threshold(fold, share, content), isAttack)
		}
		fmt.Fprintf(w, "| %s | %.0f | %.3f | %.3f | %.3f | %.3f | %.3f |\n", strings.Join(attackFolds[i], ", "), n, row[0],
			row[1], row[2], row[3], row[4])
		for j := range all {
			all[j] += n * row[j]
		}
		attacks += n
		bySource(&rows, fold)
	}
	attacks = max(attacks, 1)
	fmt.Fprintf(w, "| all | %.0f | %.3f | %.3f | %.3f | %.3f | %.3f |\n", attacks, all[0]/attacks, all[1]/attacks,
		all[2]/attacks, all[3]/attacks, all[4]/attacks)
	reportWithRules(w, folds)
	fmt.Fprintf(w, "\n| source, held out | texts | above 0.1 %% | 0.5 %% | 1 %% |\n|---|---|---|---|---|\n%s",
		rows.String())
	return reportCases(w, weights, cases)
}

// reportWithRules prints the recall of rules and model together, at thresholds where
// either finds a given share of the content. Without marks of rules it prints nothing.
func reportWithRules(w io.Writer, folds [][]scored) {
	found := func(t scored) bool { return t.found }
	if !slices.ContainsFunc(slices.Concat(folds...), found) {
		return
	}
	fmt.Fprintf(w,
		"\n| with rules, held out | rules alone | of content | with the model at 0.1 %% | at 0.5 %% | at 1 %% |\n"+
			"|---|---|---|---|---|---|\n")
	var all [5]float64
	var attacks float64
	for i, fold := range folds {
		raised := slices.Clone(fold)
		var n float64
		for j, t := range raised {
			if t.found {
				raised[j].value = 2 // above every score
			}
			if t.attack {
				n += t.weight
			}
		}
		row := [5]float64{recall(raised, 2, isAttack), recall(raised, 2, content)}
		for j, share := range []float64{0.001, 0.005, 0.01} {
			row[2+j] = recall(raised, threshold(raised, share, content), isAttack)
		}
		fmt.Fprintf(w, "| %s | %.3f | %.4f | %.3f | %.3f | %.3f |\n", strings.Join(attackFolds[i], ", "), row[0], row[1],
			row[2], row[3], row[4])
		for j := range all {
			all[j] += n * row[j]
		}
		attacks += n
	}
	attacks = max(attacks, 1)
	fmt.Fprintf(w, "| all | %.3f | %.4f | %.3f | %.3f | %.3f |\n", all[0]/attacks, all[1]/attacks, all[2]/attacks,
		all[3]/attacks, all[4]/attacks)
}

// bySource prints which share of each source is above the thresholds of its fold.
func bySource(w io.Writer, fold []scored) {
	names := map[string]float64{}
	for _, t := range fold {
		names[t.source] += t.weight
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for _, attack := range []bool{true, false} {
			of := func(t *text) bool { return t.source == name && t.attack == attack }
			if !slices.ContainsFunc(fold, func(t scored) bool { return of(t.text) }) {
				continue
			}
			kind := "benign"
			if attack {
				kind = "attacks"
			} else if instructing[name] {
				kind = "instructions"
			}
			fmt.Fprintf(w, "| %s, %s | %.0f |", name, kind, names[name])
			for _, share := range []float64{0.001, 0.005, 0.01} {
				fmt.Fprintf(w, " %.3f |", recall(fold, threshold(fold, share, content), of))
			}
			fmt.Fprintln(w)
		}
	}
}

// reportHeldOut measures named sources against the benign folds, with a model trained
// on all other sources.
func reportHeldOut(w io.Writer, corpus, own []*text, sources []string) error {
	var train, test []*text
	for _, t := range corpus {
		if held(t, sources) {
			test = append(test, t)
		} else {
			train = append(train, t)
		}
	}
	if len(test) == 0 {
		return fmt.Errorf("--hold-out: the corpus has none of %s", strings.Join(sources, ", "))
	}
	normal, strict, err := thresholds(train, own)
	if err != nil {
		return err
	}
	texts, err := score(fit(append(train, own...)).quantized(), test, 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "held out %s: attacks at default %.3f, at strict %.3f; benign %.4f and %.4f; AUC %.3f\n",
		strings.Join(sources, ", "),
		recall(texts, normal, isAttack), recall(texts, strict, isAttack), recall(texts, normal, isBenign),
		recall(texts, strict, isBenign), auc(texts, isBenign))
	return nil
}

// reportCases measures the weights on the texts of testdata, none of which is in the
// training, and by time.
func reportCases(w io.Writer, weights *classifier.Weights, dir string) error {
	m, err := classifier.New(weights)
	if err != nil {
		return err
	}
	fmt.Fprintf(w,
		"\nthresholds: default %.4f, strict %.4f\n\n| own cases | texts | at default | at strict |\n|---|---|---|---|\n",
		weights.Default, weights.Strict)
	long := ""
	for _, name := range []string{"attacks", "mentions"} {
		file, err := os.ReadFile(filepath.Join(dir, name+".txt"))
		if err != nil {
			return err
		}
		var kinds []string
		count := map[string]*[3]int{}
		for line := range strings.Lines(string(file)) {
			kind, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
			if !ok || line[0] == '#' {
				continue
			}
			s, err := m.Score(text)
			if err != nil {
				return err
			}
			if count[kind] == nil {
				kinds = append(kinds, kind)
				count[kind] = new([3]int)
			}
			count[kind][0]++
			for i, p := range []classifier.Point{classifier.Default, classifier.Strict} {
				if s.Value >= m.Threshold(p) {
					count[kind][1+i]++
				}
			}
			long += text + "\n"
		}
		var sum [3]int
		for _, kind := range kinds {
			c := count[kind]
			fmt.Fprintf(w, "| %s, %s | %d | %d | %d |\n", name, kind, c[0], c[1], c[2])
			for i := range sum {
				sum[i] += c[i]
			}
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d |\n", name, sum[0], sum[1], sum[2])
	}
	return reportTime(w, m, long)
}

// reportTime measures 512 words of a text.
func reportTime(w io.Writer, m *classifier.Model, text string) error {
	s, err := m.Score(text)
	if err != nil {
		return err
	}
	for s.Tokens > 512 {
		text = text[:len(text)*511/s.Tokens]
		if s, err = m.Score(text); err != nil {
			return err
		}
	}
	times := make([]time.Duration, 20000)
	for i := range times {
		began := time.Now()
		if _, err := m.Score(text); err != nil {
			return err
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	fmt.Fprintf(w, "\n%d words (%d bytes): p50 %v, p99 %v; weights of %d bytes\n", s.Tokens, len(text),
		times[len(times)/2], times[len(times)*99/100], classifier.Size)
	return nil
}

package main

import (
	"math"

	"approver.example/shieldcore/classifier"
)

// Parameters of the training. They were chosen on held-out groups of sources;
// docs/classifier.md has the results of others.
const (
	epochs   = 10
	averaged = 5     // of the last epochs; their mean is the model
	rate     = 0.02  // of the steps, before AdaGrad's division
	decay    = 0.002 // of each weight, after each epoch
	dropped  = 0.5   // of the features, left out of each step
	seeds    = 4     // of models whose mean is taken
	stretch  = 96    // words of a benign text that have a strongest window of their own
)

// linear is a model while it is fitted.
type linear struct {
	w    []float32
	bias float64
}

// strongest finds the window of at most classifier.Window words between two
// words of a text that has the largest sum, and its first and last word.
func (m *linear) strongest(t *text, from, to int) (first, last int) {
	const reach = 8
	var run [classifier.Window]float32
	top := float32(math.Inf(-1))
	for j := from; j < to; j++ {
		var upTo [reach]float32
		for _, f := range t.endingAt(j) {
			upTo[f.back()] += m.w[f.index()]
		}
		for b := 1; b < reach; b++ {
			upTo[b] += upTo[b-1]
		}
		run[j%classifier.Window] = 0
		for b := 0; b < classifier.Window && j-b >= from; b++ {
			sum := &run[(j-b)%classifier.Window]
			*sum += upTo[min(b, reach-1)]
			if *sum > top {
				top, first, last = *sum, j-b, j
			}
		}
	}
	return first, last
}

// A rng is SplitMix64: its numbers depend on the seed only, and not on the release of
// Go.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) n(n int) int { return int(r.next() % uint64(n)) }

// fit trains a model: the mean of a few with different seeds, which reduces the
// effect of chance.
//
// Everything is computed in one order by one goroutine, and products are rounded
// before they are added, so that the same texts give the same weights.
func fit(texts []*text) *linear {
	mean := &linear{w: make([]float32, classifier.Size)}
	for seed := range rng(seeds) {
		m := fitOnce(texts, seed+1)
		for i, x := range m.w {
			mean.w[i] += x / seeds
		}
		mean.bias += float64(m.bias / seeds)
	}
	return mean
}

// fitOnce does logistic regression on the strongest window, because that window
// determines a text's score. An attack counts with one window, as most of a page may be
// harmless. A benign text counts with one window in each of its stretches, because it
// must be benign everywhere.
func fitOnce(texts []*text, seed rng) *linear {
	m := &linear{w: make([]float32, classifier.Size)}
	weight := weights(texts)
	f := fitter{linear: m, squares: make([]float32, classifier.Size), random: seed, biasSquares: 1}
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	mean := make([]float64, classifier.Size)
	meanBias := 0.0
	for e := range epochs {
		for i := len(order) - 1; i > 0; i-- {
			k := f.random.n(i + 1)
			order[i], order[k] = order[k], order[i]
		}
		for _, i := range order {
			f.take(texts[i], weight[i])
		}
		for i := range m.w {
			m.w[i] -= float32(decay * float64(m.w[i]))
		}
		if e < epochs-averaged {
			continue
		}
		for i, x := range m.w {
			mean[i] += float64(x)
		}
		meanBias += m.bias
	}
	for i, x := range mean {
		m.w[i] = float32(x / averaged)
	}
	m.bias = meanBias / averaged
	return m
}

// weights gives all sources of a label the same total weight, and both labels too, so
// that large sources do not dominate.
func weights(texts []*text) []float64 {
	count := map[string]float64{}
	key := func(t *text) string {
		if t.attack {
			return "+" + t.source
		}
		return "-" + t.source
	}
	var sources [2]float64
	for _, t := range texts {
		if count[key(t)]++; count[key(t)] == 1 {
			sources[t.label()]++
		}
	}
	out := make([]float64, len(texts))
	for i, t := range texts {
		out[i] = float64(len(texts)) / 2 / sources[t.label()] / count[key(t)]
	}
	return out
}

// A fitter takes the steps of AdaGrad.
type fitter struct {
	*linear
	squares     []float32 // of each weight's gradients, summed
	biasSquares float64
	random      rng
	picked      []uint32
}

// take takes a step for each strongest window of a text.
func (f *fitter) take(t *text, weight float64) {
	words := len(t.ends)
	piece := stretch
	if t.attack {
		piece = max(words, 1)
	}
	for from := 0; from < words; from += piece {
		first, last := f.strongest(t, from, min(from+piece, words))
		f.step(t, first, last, weight)
	}
}

// step moves the weights of one window towards its label. It leaves out a random half of
// the features, so that the model does not rely on words that only identify a source.
func (f *fitter) step(t *text, first, last int, weight float64) {
	f.picked = f.picked[:0]
	sum := 0.0
	for j := first; j <= last; j++ {
		for _, x := range t.endingAt(j) {
			if x.back() <= j-first && float64(f.random.next()>>11)/(1<<53) >= dropped {
				f.picked = append(f.picked, x.index())
				sum += float64(f.w[x.index()])
			}
		}
	}
	logit := f.bias + float64(sum/(1-dropped))
	g := weight * (1/(1+math.Exp(-logit)) - float64(t.label()))
	if math.Abs(g) < 1e-5 {
		return
	}
	square := float64(g * g)
	for _, i := range f.picked {
		f.squares[i] += float32(square)
		f.w[i] -= float32(rate * g / math.Sqrt(float64(f.squares[i])+1))
	}
	f.biasSquares += square
	f.bias -= float64(rate * g / math.Sqrt(f.biasSquares))
}

// quantized rounds a model to weights of a byte each.
func (m *linear) quantized() *classifier.Weights {
	top := float32(0)
	for _, x := range m.w {
		top = max(top, x, -x)
	}
	if top == 0 {
		top = 1
	}
	out := &classifier.Weights{Scale: float64(top) / 127, Bias: m.bias, W: make([]int8, len(m.w))}
	for i, x := range m.w {
		out.W[i] = int8(math.Round(float64(x) / out.Scale))
	}
	return out
}

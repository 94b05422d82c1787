package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A Demand has the names that one text used. It does not say what the text wanted.
type Demand struct {
	At    int64    `json:"at"` // seconds since 1970
	Tool  string   `json:"tool,omitempty"`
	Names []uint64 `json:"n"`
}

const (
	demandsVersion = 1
	keepDemands    = 2 * 24 * time.Hour
	maxDemands     = 64
	// MaxNames limits the names that are stored of one text.
	MaxNames = 32
	maxTool  = 64
)

// A demandsRecord is the record of one uid: what texts that tools returned demanded of a model,
// oldest first. It has only hashes of the names in the texts.
type demandsRecord struct {
	V    int      `json:"v"`
	List []Demand `json:"list"`
}

func decodeDemands(b []byte) ([]Demand, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var r demandsRecord
	switch err := decode(b, "demands", &r); {
	case err != nil:
		return nil, err
	case r.V != demandsVersion:
		return nil, errVersion("demands", r.V, demandsVersion)
	case len(r.List) > maxDemands:
		return nil, fmt.Errorf("%d demands are remembered, more than %d", len(r.List), maxDemands)
	}
	for _, d := range r.List {
		if len(d.Names) > MaxNames || len(d.Tool) > maxTool {
			return nil, errors.New("a demand that is remembered is none")
		}
	}
	return r.List, nil
}

// fresh returns a new list of the demands that still count.
func fresh(list []Demand, now int64) []Demand {
	out := make([]Demand, 0, len(list)+1)
	for _, d := range list {
		if now-d.At <= int64(keepDemands/time.Second) {
			out = append(out, d)
		}
	}
	return out
}

// AddDemand stores the names in a text that a tool returned, and returns when that is durable.
func (p *Past) AddDemand(d Demand) error {
	d.Names = d.Names[:min(len(d.Names), MaxNames)]
	d.Tool = d.Tool[:min(len(d.Tool), maxTool)]
	return p.demands.update(p.ctx, p.m.store, "what a result demanded", time.Unix(d.At, 0).Add(keepDemands),
		func(list []Demand) ([]Demand, []byte, error) {
			list = append(fresh(list, d.At), d)
			list = list[max(0, len(list)-maxDemands):]
			b, err := json.Marshal(demandsRecord{demandsVersion, list})
			return list, b, err
		})
}

// Demands returns the demands that texts made of this user's agents. [Past.Err] returns the error if
// they cannot be read.
func (p *Past) Demands(at time.Time) []Demand {
	list, err := p.demands.current(p.ctx, p.m.store)
	p.err = errors.Join(p.err, err)
	if err != nil || len(list) == 0 {
		return nil
	}
	return fresh(list, at.Unix())
}

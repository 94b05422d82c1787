package reflexcore

import (
	"context"
	"fmt"
	"io"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/tripwire"
)

// An Explanation shows the way of one call through the stages.
type Explanation struct {
	Verdict approver.Verdict `json:"verdict"`
	// Read is how the command was read: parsed, recovered, tokens or refused.
	Read string `json:"read,omitempty"`
	// Commands counts the simple commands that would run. Partial counts those with a word that is
	// not known, Unlisted those whose program is in no table, and Opaque those about which nothing is
	// known.
	Commands int `json:"commands"`
	Partial  int `json:"partial"`
	Unlisted int `json:"unlisted"`
	Opaque   int `json:"opaque"`
	// Decoded are the encoded texts that were found.
	Decoded []Decoded `json:"decoded,omitempty"`
	// Steps are the commands that would run, in the order of the walk.
	Steps []shell.Step `json:"steps,omitempty"`
	// Effects are what the call would do.
	Effects []Explained `json:"effects"`
	// Findings are all rules that matched. The one that decides comes first.
	Findings []Found `json:"findings"`
	// Flow says where labeled data goes; nil without a flow policy.
	Flow *Flowing `json:"flow,omitempty"`
}

// Flowing is the information flow of one call.
type Flowing struct {
	Mode flow.Mode `json:"mode"`
	// Session is the label of the data that the session had read before the call. It is empty if the
	// label does not matter for the call.
	Session string `json:"session,omitempty"`
	// Flows are those that the matrix stops, and those of labeled data.
	Flows []flow.Finding `json:"flows"`
}

// Decoded is a text that was found encoded.
type Decoded struct {
	Via  string `json:"via"`
	Text string `json:"text"`
}

// Explained is an effect with the names of its places.
type Explained struct {
	effect.Effect
	Places []string `json:"places,omitempty"`
	// Label is the label of the data, if it is higher than internal.
	Label string `json:"label,omitempty"`
}

// Found is a rule that matched.
type Found struct {
	Rule     string            `json:"rule"`
	Category string            `json:"category"`
	Decision approver.Decision `json:"decision"`
	Severity approver.Severity `json:"severity"`
	Stage    string            `json:"stage"`
	Where    approver.Position `json:"where,omitzero"`
	Reason   string            `json:"reason"`
	// Effect is the index of the effect, or -1 if a pattern matched.
	Effect int `json:"effect"`
	// Taint lists the effects that the data came from, as indices.
	Taint []int `json:"taint,omitempty"`
	// Layer is where the rule comes from. Shadow says that the rule is not enforced. Allowed is the
	// exception that dropped the finding.
	Layer   Layer  `json:"layer,omitempty"`
	Shadow  bool   `json:"shadow,omitempty"`
	Allowed string `json:"allowed,omitempty"`
	// Score is the score of the tripwire, and Parts are its parts.
	Score float64         `json:"score,omitempty"`
	Parts []tripwire.Part `json:"parts,omitempty"`
}

// Explain judges a call and shows how. If the engine panics, the verdict is a denial.
func (e *Engine) Explain(call approver.ToolCall) (out Explanation) {
	defer func() {
		if p := recover(); p != nil {
			out = Explanation{Verdict: approver.Verdict{By: By, Reason: "the engine failed", Detail: fmt.Sprint(p)}}
		}
	}()
	j := &judgment{}
	j.call.Explain, j.call.Past = true, e.recall(context.Background(), call)
	v := e.run(j, call)
	out = Explanation{Verdict: v, Steps: j.call.Steps, Effects: []Explained{}, Findings: []Found{}}
	if call.Command != "" {
		r := &j.call.Result
		out.Read, out.Commands, out.Partial, out.Unlisted, out.Opaque = r.How.String(), r.Commands, r.Partial, r.Unlisted,
			r.Opaque
	}
	for _, l := range j.call.Layers {
		out.Decoded = append(out.Decoded, Decoded{l.Via, l.Text})
	}
	for i, ef := range j.call.Effects {
		shown := Explained{Effect: ef, Places: j.places[i].Names()}
		if l := flow.Of(ef.Taint); j.flows.Policy != nil && l < flow.Internal {
			shown.Label = l.String()
		}
		out.Effects = append(out.Effects, shown)
	}
	out.Flow = j.flowing()
	for _, f := range j.findings {
		r := f.rule
		found := Found{
			Rule: r.ID, Category: r.Category, Decision: f.decision(), Severity: r.Severity, Stage: "8 match", Where: r.Where,
			Reason: r.Reason, Effect: f.effect,
			Layer: r.Layer, Shadow: r.Shadow,
		}
		if f.allowed != nil {
			found.Stage, found.Allowed = "9 context", f.allowed.String()
		}
		if f.layer >= 0 {
			found.Stage = "2 decode, 8 match"
		}
		if t := j.tripOf(f); t != nil {
			found.Stage, found.Reason, found.Score, found.Parts = "tripwire", t.what, t.score, t.parts
		}
		if f.effect >= 0 {
			found.Taint = j.sources(f.effect)
		}
		if r.ID == v.Rule && f.enforced() && len(out.Findings) > 0 && out.Findings[0].Rule != v.Rule {
			out.Findings = append([]Found{found}, out.Findings...)
			continue
		}
		out.Findings = append(out.Findings, found)
	}
	return out
}

// Text writes the explanation for people.
func (x Explanation) Text(w io.Writer) error {
	var b strings.Builder
	v := x.Verdict
	fmt.Fprintf(&b, "%s", strings.ToUpper(v.Decision.String()))
	if v.Rule != "" {
		fmt.Fprintf(&b, " %s  %s (%s)", v.Severity, v.Rule, v.Category)
	}
	b.WriteString("\n")
	if v.Reason != "" {
		fmt.Fprintf(&b, "  %s\n", v.Reason)
	}
	if loss := v.Irreversible.String(); loss != "" {
		fmt.Fprintf(&b, "  %s\n", loss)
	}
	if x.Read != "" && x.Read != "parsed" {
		fmt.Fprintf(&b, "\nread as %s: not everything in it could be parsed\n", x.Read)
	}
	heading(&b, "decoded", len(x.Decoded))
	for _, d := range x.Decoded {
		fmt.Fprintf(&b, "  %s: %s\n", d.Via, oneLine(d.Text))
	}
	x.writeSteps(&b)
	x.writeEffects(&b)
	x.writeFindings(&b)
	x.Flow.write(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// heading begins a list, unless it is empty.
func heading(b *strings.Builder, text string, n int) {
	if n > 0 {
		b.WriteString("\n" + text + "\n")
	}
}

// writeSteps writes the commands as a tree.
func (x Explanation) writeSteps(b *strings.Builder) {
	heading(b, "walk", len(x.Steps))
	depth := make([]int, len(x.Steps))
	for i, s := range x.Steps {
		if s.Parent >= 0 && s.Parent < i {
			depth[i] = depth[s.Parent] + 1
		}
		via := ""
		if s.Via != "" {
			via = "  [" + s.Via + "]"
		}
		fmt.Fprintf(b, "  %s%s%s\n", strings.Repeat("  ", depth[i]), oneLine(s.Command), via)
	}
}

func (x Explanation) writeEffects(b *strings.Builder) {
	heading(b, "effects", len(x.Effects))
	for i, e := range x.Effects {
		places := ""
		if len(e.Places) > 0 {
			places = "  (" + strings.Join(e.Places, ", ") + ")"
		}
		if e.Label != "" {
			places += "  " + e.Label
		}
		fmt.Fprintf(b, "  %2d  %s  by %s%s\n", i, oneLine(e.String()), e.By, places)
	}
}

// flowing returns the information flow of the call; nil without a policy.
func (j *judgment) flowing() *Flowing {
	f := &j.flows
	if f.Policy == nil {
		return nil
	}
	out := &Flowing{Mode: f.Policy.Mode, Flows: append([]flow.Finding{}, f.Findings...)}
	if f.Asked {
		out.Session = f.Seen.String()
	}
	return out
}

// write writes the flows, each with the cell of the matrix that decides.
func (f *Flowing) write(b *strings.Builder) {
	if f == nil || len(f.Flows) == 0 {
		return
	}
	b.WriteString("\nflow")
	if f.Mode != flow.Enforce {
		b.WriteString(" (" + f.Mode.String() + ": recorded, not enforced)")
	}
	b.WriteString("\n")
	for _, x := range f.Flows {
		fmt.Fprintf(b, "  %s  %s data to %s  [%s", x.Action, x.Label, x.Sink, x.Cell())
		if x.Effect >= 0 {
			fmt.Fprintf(b, ", effect %d", x.Effect)
		}
		b.WriteString("]\n")
	}
}

func (x Explanation) writeFindings(b *strings.Builder) {
	heading(b, "rules", len(x.Findings))
	for _, f := range x.Findings {
		fmt.Fprintf(b, "  %s %s  %s: %s  [stage %s", f.Decision, f.Severity, f.Rule, f.Reason, f.Stage)
		if f.Effect >= 0 {
			fmt.Fprintf(b, ", effect %d", f.Effect)
		}
		if f.Score > 0 {
			fmt.Fprintf(b, ", score %.2f", f.Score)
		}
		b.WriteString("]\n")
		if f.Shadow {
			b.WriteString("      in shadow: recorded, not enforced\n")
		}
		if f.Allowed != "" {
			fmt.Fprintf(b, "      dropped, allowed by %s\n", f.Allowed)
		}
		for _, p := range f.Parts {
			fmt.Fprintf(b, "      %s %.2f: %s\n", p.Detector, p.Score, oneLine(p.What))
		}
		for _, source := range f.Taint {
			fmt.Fprintf(b, "      data from effect %d: %s\n", source, oneLine(x.Effects[source].String()))
		}
	}
}

// oneLine returns a text on one line, with … for each unknown part.
func oneLine(s string) string {
	s = strings.ReplaceAll(s, "…", effect.Unknown)
	var parts []string
	for part := range strings.SplitSeq(s, effect.Unknown) {
		parts = append(parts, display.Visible(strings.ReplaceAll(part, "\n", "⏎")))
	}
	return effect.Short(strings.Join(parts, "…"))
}

package ladder

import (
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// places are two chats of telegram, one of slack, one of discord, a paging service and a terminal.
func places() []Place {
	at := func(channel, conversation string) approver.Destination {
		return approver.Destination{Channel: channel, Conversation: conversation}
	}
	return []Place{
		{Destination: at("telegram", "1")}, {Destination: at("telegram", "-2/7")}, {Destination: at("slack", "C1")},
		{Destination: at("discord", "3")}, {Destination: at("oncall", "pagerduty"), Pages: true},
		{Destination: at("terminal", "local"), Local: true},
	}
}

func made(t *testing.T, c Config) Plan {
	t.Helper()
	p, problems := c.Plan(places())
	if len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	return p
}

// asked is a HIGH request that may be shown everywhere, at noon in UTC, after some seconds.
func asked(seconds int) Question {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return Question{
		Severity: approver.High, Asked: at, Now: at.Add(time.Duration(seconds) * time.Second),
		May:    func(approver.Destination) bool { return true },
		Useful: func(approver.Destination) bool { return true },
		Pages:  func(d approver.Destination) bool { return d.Channel == "oncall" },
	}
}

func words(all []approver.Destination) string {
	var out []string
	for _, d := range all {
		out = append(out, word(d))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// steps is a ladder of three steps.
func steps() []Step {
	return []Step{
		{To: []string{"telegram:1"}},
		{After: 30 * time.Second, To: []string{"telegram", "slack"}},
		{After: time.Minute, To: []string{"oncall", "discord"}},
	}
}

func TestTake(t *testing.T) {
	const first = "telegram:1 terminal:local"
	const second = "slack:C1 telegram:-2/7 " + first
	const third = "discord:3 oncall:pagerduty " + second
	no := func(names ...string) func(approver.Destination) bool {
		return func(d approver.Destination) bool { return !slices.Contains(names, d.Channel) }
	}
	for name, c := range map[string]struct {
		change func(c *Config, q *Question)
		after  int
		to     string
		next   int // seconds after the question; 0 is never
	}{
		"at once":                {func(*Config, *Question) {}, 0, first, 30},
		"just before the second": {func(*Config, *Question) {}, 29, first, 30},
		"at the second":          {func(*Config, *Question) {}, 30, second, 60},
		"between":                {func(*Config, *Question) {}, 59, second, 60},
		"at the third":           {func(*Config, *Question) {}, 60, third, 0},
		"long after":             {func(*Config, *Question) {}, 3600, third, 0},
		"telegram is down":       {func(_ *Config, q *Question) { q.Useful = no("telegram") }, 0, second, 60},
		"two are down":           {func(_ *Config, q *Question) { q.Useful = no("telegram", "slack") }, 0, third, 0},
		"all are down":           {func(_ *Config, q *Question) { q.Useful = nil }, 0, third, 0},
		"a rule names discord": {func(_ *Config, q *Question) {
			q.May = no("telegram", "slack", "oncall",
				"terminal")
		}, 0, "discord:3", 0},
		"a rule forbids telegram": {func(_ *Config, q *Question) { q.May = no("telegram") }, 0,
			"slack:C1 terminal:local", 60},
		"the first step is not for it": {func(c *Config, _ *Question) {
			c.Steps[0].When = []approver.Severity{approver.Catastrophic}
			c.Steps[1].After = 0
		}, 0, second, 60},
		"a step for others only": {func(c *Config, _ *Question) {
			c.Steps[1].When = []approver.Severity{approver.Catastrophic}
		}, 30, first, 60},
		"a page is no card": {func(c *Config, q *Question) {
			c.Steps[0].When = []approver.Severity{approver.Catastrophic}
			c.Steps = append([]Step{{To: []string{"telegram:1"}, When: []approver.Severity{approver.Catastrophic}}},
				c.Steps...)
			c.Steps[1] = Step{To: []string{"oncall", "schedule:s"}, When: []approver.Severity{approver.High}}
			c.Schedules = []Schedule{{Name: "s", Start: Start{day: time.Unix(0, 0).UTC()}, Days: 1, Zone: "UTC",
				People: []Turn{{Chats: []string{"telegram:1"}}}}}
			q.Useful = no("telegram")
		}, 0, "oncall:pagerduty " + second, 60},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, q := Config{Steps: steps()}, asked(c.after)
			c.change(&cfg, &q)
			got := made(t, cfg).Take(q)
			next := 0
			if !got.Next.IsZero() {
				next = int(got.Next.Sub(q.Asked).Seconds())
			}
			if words(got.To) != c.to || next != c.next || !got.Reach || !got.Quiet.IsZero() {
				t.Errorf("%s, next after %d, reach %t, quiet %v", words(got.To), next, got.Reach, got.Quiet)
			}
		})
	}
}

func TestNoLadderIsNoPlan(t *testing.T) {
	if p := made(t, Config{}); !p.IsZero() {
		t.Errorf("%+v", p)
	}
}

func TestPlanSaysWhatIsWrong(t *testing.T) {
	quiet := func(change func(*Quiet)) func(*Config) {
		return func(c *Config) {
			q := Quiet{Chats: []string{"telegram"}, From: 22 * 60, To: 7 * 60, Zone: "Europe/Berlin"}
			change(&q)
			c.Quiet = append(c.Quiet, q)
		}
	}
	turns := func(change func(*Schedule)) func(*Config) {
		return func(c *Config) {
			s := Schedule{Name: "backend", Start: Start{day: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}, Days: 7,
				People: []Turn{{Chats: []string{"telegram:1"}}}}
			change(&s)
			c.Schedules = append(c.Schedules, s)
			c.Steps[2].To = append(c.Steps[2].To, "schedule:backend")
		}
	}
	for name, c := range map[string]struct {
		change func(*Config)
		path   string // of the problem; empty: none
		says   string
	}{
		"good":                  {func(*Config) {}, "", ""},
		"reminders":             {func(c *Config) { c.Remind = time.Minute }, "", ""},
		"reminders without end": {func(c *Config) { c.Remind = time.Second }, "remind", "10s to 1h"},
		"quiet hours":           {quiet(func(*Quiet) {}), "", ""},
		"a schedule":            {turns(func(*Schedule) {}), "", ""},
		"an unknown channel": {func(c *Config) { c.Steps[1].To[0] = "telegrm" }, "ladder[1].to[0]",
			"one of telegram, slack"},
		"an unknown chat": {func(c *Config) { c.Steps[0].To[0] = "telegram:5" }, "ladder[0].to[0]",
			"telegram:1, telegram:-2/7"},
		"a step to nowhere": {func(c *Config) { c.Steps[0].To = nil }, "ladder[0]", "to is empty"},
		"the first comes late": {func(c *Config) { c.Steps[0].After = time.Second }, "ladder[0].after",
			"before nobody for 1s"},
		"out of order": {func(c *Config) { c.Steps[2].After = time.Second }, "ladder[2].after",
			"in the order of time"},
		"too late": {func(c *Config) { c.Steps[2].After = 2 * time.Hour }, "ladder[2].after",
			"0s to 1h"},
		"a chat in no step":         {func(c *Config) { c.Steps = c.Steps[:2] }, "ladder", "no step names discord:3"},
		"only for the catastrophic": {func(c *Config) { catastrophicOnly(c) }, "ladder", "no step is for HIGH"},
		"a page before any card": {func(c *Config) { c.Steps[0].To = []string{"oncall"} }, "ladder[0].to",
			"before any chat has a card"},
		"quiet without chats": {quiet(func(q *Quiet) { q.Chats = nil }), "quiet[0]", "chats is empty"},
		"quiet for no time":   {quiet(func(q *Quiet) { q.To = q.From }), "quiet[0].to", "beginning and an end"},
		"quiet on the moon":   {quiet(func(q *Quiet) { q.Zone = "Moon/Base" }), "quiet[0].zone", "tzdata"},
		"quiet for an unknown": {quiet(func(q *Quiet) { q.Chats = []string{"irc"} }), "quiet[0].chats[0]",
			`no chat "irc"`},
		"quiet for a schedule": {quiet(func(q *Quiet) { q.Chats = []string{"schedule:backend"} }),
			"quiet[0].chats[0]", "name the chats"},
		"an unknown schedule": {func(c *Config) { c.Steps[1].To[0] = "schedule:x" }, "ladder[1].to[0]",
			"describe it under schedules"},
		"a schedule without a start": {turns(func(s *Schedule) { s.Start = Start{} }), "schedules[0].start",
			"start is missing"},
		"a schedule without a name": {turns(func(s *Schedule) { s.Name = "" }), "schedules[0]", "name is missing"},
		"a turn of no days":         {turns(func(s *Schedule) { s.Days = 0 }), "schedules[0].days", "1 to 366"},
		"a schedule of nobody":      {turns(func(s *Schedule) { s.People = nil }), "schedules[0]", "people is empty"},
		"a turn without chats": {turns(func(s *Schedule) { s.People[0].Chats = nil }), "schedules[0].people[0]",
			"chats is empty"},
		"a turn that only rings": {turns(func(s *Schedule) { s.People[0].Chats = []string{"oncall"} }),
			"schedules[0].people[0]", "nobody can answer"},
		"a turn of a schedule": {turns(func(s *Schedule) { s.People[0].Chats = []string{"schedule:x"} }),
			"schedules[0].people[0].chats[0]", "cannot take a turn"},
		"two of one name": {func(c *Config) { turns(func(*Schedule) {})(c); turns(func(*Schedule) {})(c) },
			"schedules[1].name", "two schedules"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Steps: steps()}
			c.change(&cfg)
			plan, problems := cfg.Plan(places())
			if c.path == "" {
				if len(problems) > 0 {
					t.Errorf("%v", problems)
				}
				return
			}
			found := slices.ContainsFunc(problems, func(p Problem) bool {
				return p.Path == c.path && strings.Contains(p.Text, c.says) && strings.HasPrefix(p.Text,
					strings.SplitN(c.path, "[", 2)[0])
			})
			if !found || !plan.IsZero() {
				t.Errorf("%v", problems)
			}
		})
	}
}

func catastrophicOnly(c *Config) {
	for i := range c.Steps {
		c.Steps[i].When = []approver.Severity{approver.Catastrophic}
	}
}

// quietPlan is a plan in which telegram is left alone at night in Berlin.
func quietPlan(t *testing.T, except []approver.Severity) Plan {
	t.Helper()
	return made(t, Config{Steps: steps(), Quiet: []Quiet{
		{Chats: []string{"telegram"}, From: 22 * 60, To: 7 * 60, Zone: "Europe/Berlin", Except: except},
	}})
}

func TestQuietHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(month time.Month, day, hour, minute int) time.Time {
		return time.Date(2026, month, day, hour, minute, 0, 0, berlin)
	}
	const awake, quiet = "telegram:1 terminal:local", "slack:C1 terminal:local"
	for name, c := range map[string]struct {
		now      time.Time
		severity approver.Severity
		except   []approver.Severity
		to       string
	}{
		"in the evening":              {at(11, 30, 21, 59), approver.High, nil, awake},
		"from ten on":                 {at(11, 30, 22, 0), approver.High, nil, quiet},
		"at midnight":                 {at(12, 1, 0, 0), approver.High, nil, quiet},
		"until seven":                 {at(12, 1, 6, 59), approver.High, nil, quiet},
		"at seven":                    {at(12, 1, 7, 0), approver.High, nil, awake},
		"what is catastrophic comes":  {at(12, 1, 3, 0), approver.Catastrophic, nil, awake},
		"unless nothing does":         {at(12, 1, 3, 0), approver.Catastrophic, []approver.Severity{}, quiet},
		"unless only the other does":  {at(12, 1, 3, 0), approver.Catastrophic, []approver.Severity{approver.High}, quiet},
		"and that one comes":          {at(12, 1, 3, 0), approver.High, []approver.Severity{approver.High}, awake},
		"the night clocks go back":    {at(10, 25, 6, 59), approver.High, nil, quiet},
		"and the morning after":       {at(10, 25, 7, 0), approver.High, nil, awake},
		"the night they go forward":   {at(3, 29, 6, 59), approver.High, nil, quiet},
		"and the morning after that":  {at(3, 29, 7, 0), approver.High, nil, awake},
		"summer, by the wall not UTC": {time.Date(2026, 7, 1, 20, 30, 0, 0, time.UTC), approver.High, nil, quiet},
		"winter, by the wall not UTC": {time.Date(2026, 12, 1, 20, 30, 0, 0, time.UTC), approver.High, nil, awake},
	} {
		t.Run(name, func(t *testing.T) {
			q := asked(0)
			q.Asked, q.Now, q.Severity = c.now, c.now, c.severity
			got := quietPlan(t, c.except).Take(q)
			if words(got.To) != c.to || got.Quiet.IsZero() != (c.to == awake) {
				t.Errorf("%s, quiet until %v", words(got.To), got.Quiet)
			}
		})
	}
}

func TestQuietHoursSayWhenTheyAreOver(t *testing.T) {
	p := made(t, Config{Quiet: []Quiet{
		{Chats: []string{"telegram", "slack", "discord"}, From: 22 * 60, To: 7 * 60, Zone: "Europe/Berlin"},
		{Chats: []string{"slack"}, From: 20 * 60, To: 6 * 60, Zone: "Europe/Berlin"},
	}})
	for at, want := range map[string]string{
		"2026-11-30T23:30:12Z": "2026-12-01T07:00:00+01:00", // over midnight, although slack's own are over at six
		"2026-03-28T23:30:00Z": "2026-03-29T07:00:00+02:00", // clocks go forward in that night
		"2026-10-24T22:30:00Z": "2026-10-25T07:00:00+01:00", // and back
	} {
		q := asked(0)
		q.Asked, _ = time.Parse(time.RFC3339, at)
		q.Now = q.Asked
		got := p.Take(q)
		if got.Reach || got.Quiet.Format(time.RFC3339) != want || words(got.To) != "oncall:pagerduty terminal:local" {
			t.Errorf("%s: reach %t until %v, %s", at, got.Reach, got.Quiet.Format(time.RFC3339), words(got.To))
		}
		q.Awake = true
		if got := p.Take(q); !got.Reach || !got.Quiet.IsZero() {
			t.Errorf("somebody is awake: %+v", got)
		}
	}
}

// A time that the wall skips or shows twice makes no hole and no endless night.
func TestQuietHoursThatEndWhereClocksAreChanged(t *testing.T) {
	for name, c := range map[string]struct {
		from, to Clock
		at, want string
	}{
		"in the gap":          {60, 150, "2026-03-29T00:30:00Z", "2026-03-29T03:00:00+02:00"},
		"begins in the gap":   {150, 240, "2026-03-29T01:00:00Z", "2026-03-29T04:00:00+02:00"},
		"in the hour twice":   {60, 150, "2026-10-25T00:15:00Z", "2026-10-25T02:30:00+02:00"},
		"it comes once more":  {60, 150, "2026-10-25T01:15:00Z", "2026-10-25T02:30:00+01:00"},
		"through both of one": {60, 240, "2026-10-25T00:15:00Z", "2026-10-25T04:00:00+01:00"},
	} {
		p := made(t, Config{Quiet: []Quiet{{Chats: []string{"telegram"}, From: c.from, To: c.to, Zone: "Europe/Berlin"}}})
		q := asked(0)
		q.Now, _ = time.Parse(time.RFC3339, c.at)
		if got := p.Take(q).Quiet.Format(time.RFC3339); got != c.want {
			t.Errorf("%s: until %s, want %s", name, got, c.want)
		}
	}
}

func TestWhoIsOnDuty(t *testing.T) {
	var start Start
	if err := start.UnmarshalText([]byte("2026-03-23 09:00")); err != nil {
		t.Fatal(err)
	}
	p := made(t, Config{
		Steps: append(steps(), Step{After: 2 * time.Minute, To: []string{"schedule:s"}}),
		Schedules: []Schedule{{Name: "s", Start: start, Days: 7, Zone: "Europe/Berlin", People: []Turn{
			{Name: "Ada", Chats: []string{"telegram:1"}}, {Name: "Bob", Chats: []string{"slack", "discord"}},
		}}},
	})
	for at, want := range map[string]string{
		"2026-01-01T12:00:00Z": "telegram:1",         // before the start
		"2026-03-23T07:59:00Z": "telegram:1",         // 08:59 on the first day
		"2026-03-23T08:00:00Z": "telegram:1",         // 09:00 on the first day
		"2026-03-30T06:59:00Z": "telegram:1",         // 08:59 in summer time, which began the day before
		"2026-03-30T07:00:00Z": "discord:3 slack:C1", // 09:00
		"2026-04-06T06:59:00Z": "discord:3 slack:C1",
		"2026-04-06T07:00:00Z": "telegram:1",
		"2026-10-26T07:59:00Z": "telegram:1", // 08:59 in winter time
		"2026-10-26T08:00:00Z": "discord:3 slack:C1",
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := words(p.steps[3].chats(now)); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}

func TestTextsOfTimes(t *testing.T) {
	var c Clock
	for text, want := range map[string]Clock{"00:00": 0, "07:05": 425, "23:59": 1439} {
		if err := c.UnmarshalText([]byte(text)); err != nil || c != want || c.String() != text {
			t.Errorf("%s: %v %v", text, c, err)
		}
	}
	for _, text := range []string{"", "24:00", "7", "7pm", "07:60", "22:00:00", "1320"} {
		if err := c.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "22:00") {
			t.Errorf("%q: %v", text, err)
		}
	}
	var s Start
	for _, text := range []string{"", "2026-11-30", "2026-11-31 09:00", "30.11.2026 09:00"} {
		if err := s.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "2026-11-30 09:00") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLines(t *testing.T) {
	var start Start
	if err := start.UnmarshalText([]byte("2026-11-30 09:00")); err != nil {
		t.Fatal(err)
	}
	c := Config{
		Steps: append(steps(), Step{After: 5 * time.Minute, To: []string{"schedule:backend"}},
			Step{After: 6 * time.Minute, To: []string{"discord"}, When: []approver.Severity{approver.Catastrophic}},
			Step{After: 15 * time.Minute, To: []string{"discord"}}),
		Quiet: []Quiet{{Chats: []string{"telegram"}, From: 22 * 60, To: 7 * 60, Zone: "Europe/Berlin"}},
		Schedules: []Schedule{{Name: "backend", Start: start, Days: 7, Zone: "UTC",
			People: []Turn{{Name: "Ada", Chats: []string{"telegram:1"}}, {Chats: []string{"slack"}}}}},
	}
	c.Remind = 45 * time.Second
	c.Steps[2].When = []approver.Severity{approver.Catastrophic}
	c.Steps[1].To = append(c.Steps[1].To, "discord")
	waits := func(s approver.Severity) time.Duration {
		if s == approver.High {
			return 10 * time.Minute
		}
		return 2 * time.Minute
	}
	got := strings.Join(c.Lines(places(), waits, time.Date(2026, 12, 8, 12, 0, 0, 0, time.UTC)), "\n")
	want := `at once: telegram:1
after 30s: telegram, slack, discord
after 1m, for CATASTROPHIC: oncall, discord
after 5m: schedule:backend
after 6m, for CATASTROPHIC: discord (a question waits 2m, so only one that was given more time gets there)
after 15m: discord (a question waits 10m, so only one that was given more time gets there)
a reminder each 45s, three at most
schedule:backend is now slack, turns of 7 days from 09:00
quiet from 22:00 to 07:00 Europe/Berlin: telegram, but not for CATASTROPHIC`
	if got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	if lines := (Config{}).Lines(places(), waits, time.Now()); len(lines) != 0 {
		t.Errorf("%q", lines)
	}
}

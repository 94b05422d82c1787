package broadcaster

import (
	"approver.example"
)

// compose makes the parts and gives each what it needs: below all else the store and the clock.
func (b *Broadcaster) compose() {
	o := &b.Options
	b.tasks = &tasks{log: o.Log, ready: make(chan struct{})}
	b.records = &records{log: o.Log, store: o.Store}
	b.Channels = &Channels{destinations: o.Destinations, byName: map[string]approver.Channel{}}
	for _, c := range o.Channels {
		b.Channels.byName[c.Name()] = c
	}
	b.codes = &codes{
		channels: b.Channels, records: b.records, codeKey: o.CodeKey, codeLength: o.CodeLength, host: o.Host,
	}
	b.Requests = &Requests{
		codes: b.codes, records: b.records, keepFor: o.KeepFor, store: o.Store, codec: b.codec,
	}
	b.Approvers = &Approvers{
		channels: b.Channels, destinations: o.Destinations, log: o.Log, mark: o.Mark, store: o.Store,
	}
	b.Cards = &Cards{approvers: b.Approvers, host: o.Host, notice: o.Notice}
	b.endings = &endings{
		requests: b.Requests, records: b.records, audit: o.Audit, log: o.Log, closing: map[string]*closing{},
	}
	b.editor = &editor{
		cards: b.Cards, channels: b.Channels, requests: b.Requests, endings: b.endings, tasks: b.tasks,
		giving: b.giving, host: o.Host, log: o.Log, process: b.process, settling: map[string]bool{},
	}
	b.backlog = &backlog{records: b.records, audit: o.Audit, log: o.Log, mark: o.Mark, store: o.Store}
	b.Controls = &Controller{
		requests: b.Requests, backlog: b.backlog, editor: b.editor, records: b.records, audit: o.Audit,
		log: o.Log, mark: o.Mark, store: o.Store,
	}
	b.uptime = &uptime{store: o.Store}
	b.poster = &poster{
		cards: b.Cards, channels: b.Channels, requests: b.Requests, codes: b.codes, editor: b.editor,
		tasks: b.tasks, uptime: b.uptime, audit: o.Audit, destinations: o.Destinations, host: o.Host,
		keepFor: o.KeepFor, log: o.Log, process: b.process, store: o.Store,
	}
	b.Grants = &Grants{
		cards: b.Cards, controls: b.Controls, requests: b.Requests, editor: b.editor, records: b.records,
		audit: o.Audit, keepFor: o.KeepFor, log: o.Log, mark: o.Mark, store: o.Store,
	}
	b.Reports = &Reports{
		requests: b.Requests, editor: b.editor, tasks: b.tasks, uptime: b.uptime, audit: o.Audit, log: o.Log,
		process: b.process,
	}
	b.releases = &releases{
		channels: b.Channels, grants: b.Grants, reports: b.Reports, requests: b.Requests, editor: b.editor,
		poster: b.poster, records: b.records, uptime: b.uptime, audit: o.Audit, fingerprint: o.Fingerprint,
		giving: b.giving, log: o.Log, process: b.process, store: o.Store,
	}
	b.sweeper = &sweeper{
		grants: b.Grants, reports: b.Reports, requests: b.Requests, editor: b.editor, endings: b.endings,
		poster: b.poster, records: b.records, tasks: b.tasks, uptime: b.uptime, log: o.Log, store: o.Store,
	}
	b.Environments = &Environments{
		requests: b.Requests, records: b.records, tasks: b.tasks, codeKey: o.CodeKey, log: o.Log,
		store: o.Store,
	}
	b.opener = &opener{
		approvers: b.Approvers, controls: b.Controls, environments: b.Environments, requests: b.Requests,
		codes: b.codes, editor: b.editor, poster: b.poster, records: b.records, tasks: b.tasks, audit: o.Audit,
		keepFor: o.KeepFor, limit: o.Limit, store: o.Store, ttl: o.TTL,
	}
	b.lockout = &lockout{controls: b.Controls, records: b.records, store: o.Store}
	b.finder = &finder{
		requests: b.Requests, editor: b.editor, lockout: b.lockout, poster: b.poster, tasks: b.tasks,
		codeKey: o.CodeKey, log: o.Log, oldCodeKeys: o.OldCodeKeys, store: o.Store,
	}
	b.Answers = &Answers{
		approvers: b.Approvers, channels: b.Channels, controls: b.Controls, grants: b.Grants,
		requests: b.Requests, editor: b.editor, endings: b.endings, finder: b.finder, releases: b.releases,
		tasks: b.tasks, audit: o.Audit, log: o.Log, rule: o.Rule, store: o.Store,
	}
	b.Removals = &Removals{
		controls: b.Controls, grants: b.Grants, requests: b.Requests, backlog: b.backlog, editor: b.editor,
		records: b.records, audit: o.Audit, log: o.Log,
	}
	b.receivers = &receivers{
		answers: b.Answers, approvers: b.Approvers, channels: b.Channels, destinations: o.Destinations,
		log: o.Log, mark: o.Mark, runAgain: o.RunAgain, store: o.Store,
	}
}

package content

import "approver.example/reflexcore/effect"

// The table is long because it is data: one line for each place.

// A row names places. Patterns stand one a line: /… from the root, ~/… from a
// home, anything else below any folder. * and ? stay within a name; /** at the
// end is the folder with all that is below it. Where several rows match, the
// first one counts.
type row struct {
	kind   Kind
	secret bool
	// weak rows go by an ending or a general name only; they do not count in
	// folders of test data and documents.
	weak     bool
	name     string
	lang     string
	format   format
	patterns string
}

var table = []row{
	{kind: Own, secret: true, name: "approver's files", patterns: `
/etc/approver/**
/var/lib/approver/**
/run/approver/**
/var/run/approver/**
~/.approver/**
.approver/**
approver.db
approver.yaml
~/.local/bin/approver
~/.local/bin/approver-hook
/usr/local/bin/approver
/usr/local/bin/approver-hook
/usr/bin/approver
/usr/bin/approver-hook
/etc/systemd/system/approver*
~/.config/systemd/user/approver*
~/library/launchagents/*approver*`},
	// Above the plain rows, because *.md is plain.
	{kind: Agent, name: "what an agent runs by itself", patterns: `
.claude/plugins/**
.claude/skills/*/bin/**
.claude/shell-snapshots/**
.claude/session-env/**
.claude/jobs
.claude/jobs/*
.claude/jobs/*/*
.claude/daemon*
.claude/daemon/**
.claude/dev-mods/**
.claude/rm-guard/**
.claude/seed-admin/**
.claude/cowork_plugins/**
.claude/mcp-skill-archives/**
.claude/scheduled_tasks.json
~/.claude/launch.json
~/.claude/local/**
~/.claude/state/device-*
~/.local/share/claude/**`},
	// Texts in which the agent runs commands before its model reads them: Claude Code,
	// Gemini and Qwen, opencode. Those of other agents run nothing.
	{kind: Instructions, name: "a text that an agent loads", format: formatPrompt, patterns: `
.claude/agents/**
.claude/commands/**
.claude/skills/**
.claude/rules/**
.claude/routines/**
.claude/output-styles/**
.gemini/commands/**
.qwen/commands/**
.qwen/agents/**
.qwen/skills/**
.opencode/command/**
.opencode/commands/**
.opencode/agent/**
.opencode/agents/**
.config/opencode/command/*.md
.config/opencode/commands/*.md
.config/opencode/agent/*.md
.config/opencode/agents/*.md
skill.md`},
	{kind: Instructions, name: "instructions to agents", patterns: `
.cursorrules
.windsurfrules
.clinerules
.clinerules/**
.cursor/rules/**
.windsurf/rules/**
.github/copilot-instructions.md
.github/instructions/**
claude.md
claude.local.md
agents.md
gemini.md`},
	{kind: Plain, patterns: `
.env.example
.env.sample
.env.template
.env.dist
.env.defaults
.env.*.example
.env.example.*
.env.schema
*.pub
*.example
*.sample
*.md
*.crt
*.cer
*.csr
cacert.pem
ca-bundle.pem
ca-certificates.pem
cert.pem
chain.pem
fullchain.pem
/etc/ssl/certs/**
/etc/pki/tls/certs/**
/etc/pki/ca-trust/**
isrg*.pem
*-ca.pem
ca.pem`},
	{kind: Agent, secret: true, name: "an agent's settings and sessions", format: formatJSON, patterns: `
.claude.json
claude_desktop_config.json`},
	{kind: Agent, name: "an agent's settings", format: formatJSON, patterns: `
.claude/settings*.json
.claude/managed-settings.json
.claude/managed-settings.d/**
.claude/remote-settings*
.claude/policy-limits*
/etc/claude-code/**
/library/application support/claudecode/**
.cursor/hooks.json
.cursor/cli-config.json
.cursor/permissions.json
/etc/cursor/hooks.json
.gemini/settings.json
.gemini/policies/**
.qwen/settings.json
.factory/settings.json
.factory/hooks.json
.github/hooks/**
.copilot/**
/etc/github-copilot/**
.windsurf/hooks.json
/etc/windsurf/**
.codeium/windsurf/hooks.json
.kiro/hooks/**
.kiro/settings/**
.kiro/agents/**
.amp/settings.json
.config/amp/settings.json
.agents/plugins/**
.config/goose/config.yaml
.continue/config.*
.aider.conf.yml
opencode.json
opencode.jsonc
crush.json
.crush.json
.config/opencode/**
.config/crush/**`},
	{kind: Agent, name: "an agent's settings", format: formatTOML, patterns: `
.codex/config.toml
.codex/requirements.toml
/etc/codex/**`},
	{kind: Agent, name: "an agent's hooks", format: formatJSON, patterns: `
.codex/hooks.json
.claude/hooks/hooks.json`},
	{kind: Agent, name: "an agent's hooks", format: formatScript, patterns: `
.claude/hooks/**
.cursor/hooks/**
.gemini/hooks/**
.codex/hooks/**
.cline/hooks/**
.clinerules/hooks/**
.opencode/plugin/**
.opencode/plugins/**
.pi/agent/extensions/**
.openclaw/**`},
	{kind: Instructions, name: "a plugin's settings", format: formatPrompt, patterns: `
.claude-plugin/**
.lsp.json
monitors/monitors.json
hooks/hooks.json`},
	{kind: Agent, name: "a list of MCP servers", format: formatJSON, patterns: `
mcp.json
.mcp.json
mcp_config.json
mcp_settings.json
mcp-config.json
cline_mcp_settings.json
.cursor/mcp.json
.vscode/mcp.json`},

	// Who may do what.
	{kind: Keys, name: "keys that may log in", format: formatAuthKey, patterns: `
.ssh/authorized_keys
.ssh/authorized_keys2
/etc/ssh/authorized_keys/**
/etc/dropbear/authorized_keys`},
	{kind: Keys, name: "ssh's settings", format: formatSSH, patterns: `
.ssh/config
.ssh/config.d/**
/etc/ssh/ssh_config
/etc/ssh/ssh_config.d/**
/etc/ssh/sshd_config
/etc/ssh/sshd_config.d/**`},
	{kind: Startup, name: "what ssh starts", lang: effect.Shell, format: formatScript, patterns: `
.ssh/rc
/etc/ssh/sshrc`},
	{kind: Keys, name: "hosts that ssh trusts", patterns: `
.ssh/known_hosts
.ssh/known_hosts.old
.ssh/environment
/etc/ssh/ssh_known_hosts
~/.rhosts
~/.shosts
/etc/hosts.equiv`},
	{kind: Credential, secret: true, name: "a key of ssh", patterns: `
.ssh/**
/etc/ssh/ssh_host_*_key
/etc/ssl/private/**
/etc/pki/tls/private/**
/etc/letsencrypt/**
id_rsa
id_dsa
id_ecdsa
id_ed25519
id_ecdsa_sk
id_ed25519_sk`},
	{kind: System, secret: true, name: "the passwords of the machine", patterns: `
/etc/shadow
etc/shadow
etc/gshadow
/etc/shadow-
/etc/gshadow
/etc/gshadow-
/etc/security/opasswd
/etc/master.passwd
/var/db/dslocal/**
/var/db/shadow/**
/etc/krb5.keytab
/etc/ppp/chap-secrets
/etc/ppp/pap-secrets
/etc/wireguard/**
/etc/ipsec.secrets
/etc/networkmanager/system-connections/**
/etc/wpa_supplicant/**`},
	{kind: System, secret: true, name: "who may become root", patterns: `
/etc/sudoers
etc/sudoers
etc/sudoers.d/**
/etc/sudoers.d/**
/etc/doas.conf
/etc/polkit-1/**
/usr/share/polkit-1/**`},
	{kind: System, name: "how users are authenticated", patterns: `
/etc/passwd
/etc/passwd-
/etc/group
/etc/group-
/etc/subuid
/etc/subgid
/etc/pam.d/**
/etc/pam.conf
/etc/security/**
/etc/nsswitch.conf
/etc/login.defs
/etc/shells
~/.pam_environment
/etc/krb5.conf
/etc/sssd/**
/etc/securetty`},
	{kind: System, name: "what is loaded into every program", patterns: `
/etc/ld.so.preload
/etc/ld.so.conf
/etc/ld.so.conf.d/**
/etc/environment
/etc/environment.d/**
~/.config/environment.d/**
/etc/binfmt.d/**
/etc/alternatives/**`},
	{kind: System, name: "names and networks", patterns: `
/etc/hosts
/etc/hosts.allow
/etc/hosts.deny
/etc/resolv.conf
/etc/resolver/**
/etc/iptables/**
/etc/nftables.conf
/etc/ufw/**
/etc/firewalld/**
/etc/network/**
/etc/netplan/**`},
	{kind: System, name: "the kernel", patterns: `
/proc/sysrq-trigger
/proc/sys/**
/sys/**
/proc/*/mem
/proc/*/oom_score_adj
/proc/kcore
/dev/mem
/dev/kmem
/dev/port
/dev/sd*
/dev/hd*
/dev/vd*
/dev/xvd*
/dev/nvme*
/dev/mmcblk*
/dev/disk*
/dev/rdisk*
/dev/loop*
/dev/mapper/**
/boot/**
/efi/**
/etc/fstab
/etc/crypttab
/etc/default/grub
/etc/grub.d/**
/etc/modules
/etc/modules-load.d/**
/etc/modprobe.d/**
/etc/sysctl.conf
/etc/sysctl.d/**
/etc/initramfs-tools/**
/lib/modules/**`},
	{kind: System, secret: true, name: "a control socket", patterns: `
/var/run/docker.sock
/run/docker.sock
docker.sock
/run/containerd/containerd.sock
/var/run/containerd/containerd.sock
/run/podman/podman.sock
/run/crio/crio.sock
/var/run/crio/crio.sock
/run/systemd/private
/run/dbus/system_bus_socket`},
	{kind: System, secret: true, name: "a process's memory and environment", patterns: `
/proc/*/environ
/proc/*/task/*/environ
/proc/keys
/proc/key-users
/proc/kallsyms`},

	// What runs by itself.
	{kind: Startup, name: "what a shell starts", lang: effect.Shell, format: formatScript, patterns: `
.bashrc
.bash_profile
.bash_login
.bash_logout
.bash_aliases
.profile
.zshrc
.zshenv
.zprofile
.zlogin
.zlogout
.kshrc
.cshrc
.tcshrc
.login
.logout
.shrc
.mkshrc
.oh-my-zsh/**
.bashrc.d/**
.zshrc.d/**
.bash_completion
.bash_completion.d/**
/etc/profile
/etc/profile.d/**
/etc/bash.bashrc
/etc/bashrc
/etc/bash_completion.d/**
/etc/zsh/**
/etc/zshrc
/etc/zprofile
/etc/zshenv
/etc/csh.*
/etc/skel/**
/etc/update-motd.d/**
.config/bash/**
.config/zsh/**
.config/sh/**
.xprofile
.xinitrc
.xsession
.xsessionrc
/etc/x11/**
.inputrc
.config/plasma-workspace/**`},
	{kind: Startup, name: "what a shell starts", lang: effect.Fish, format: formatScript, patterns: `
.config/fish/**
/etc/fish/**`},
	{kind: Startup, name: "what a shell starts", lang: effect.PowerShell, format: formatScript, patterns: `
.config/powershell/**
profile.ps1
microsoft.powershell_profile.ps1
microsoft.vscode_profile.ps1`},
	{kind: Startup, name: "what the folder's environment runs", lang: effect.Shell, format: formatScript, patterns: `
.envrc
.config/direnv/**
.direnvrc
.autoenv`},
	{kind: Startup, name: "what an editor starts", lang: effect.Vim, format: formatScript, patterns: `
.vimrc
.gvimrc
.exrc
.nvimrc
.vim/**
.config/nvim/**
.local/share/nvim/**
/etc/vim/**
.ideavimrc`},
	{kind: Startup, name: "what an editor starts", lang: effect.Lisp, format: formatScript, patterns: `
.emacs
.emacs.el
.emacs.d/**
.config/emacs/**
.spacemacs
.doom.d/**
.dir-locals.el`},
	{kind: Startup, name: "what an editor starts", format: formatJSON, patterns: `
.vscode/tasks.json
.vscode/launch.json
.vscode/settings.json
.vscode/extensions.json
.devcontainer/**
devcontainer.json
.devcontainer.json
.zed/tasks.json
.zed/settings.json
.config/code/user/settings.json
.config/code/user/tasks.json
.config/cursor/user/settings.json
~/library/application support/code/user/settings.json
~/library/application support/cursor/user/settings.json
.idea/runconfigurations/**
.run/**
*.code-workspace
.nova/tasks/**`},
	{kind: Startup, name: "a plugin of an editor or a desktop", patterns: `
.vscode/extensions/**
.vscode-oss/extensions/**
.vscode-server/extensions/**
.vscode-insiders/extensions/**
.cursor/extensions/**
.windsurf/extensions/**
.local/share/jetbrains/**
.local/share/gnome-shell/extensions/**
.local/share/plasma/**
.config/sublime-text*/**
.ipython/profile_default/startup/**
.ipython/extensions/**
`},
	{kind: Startup, name: "what a debugger or a tool starts", patterns: `
.gdbinit
.config/gdb/**
.lldbinit
.config/lldb/**
.tmux.conf
.config/tmux/**
.screenrc
.mailcap
.config/i3/**
.config/sway/**
.config/hypr/**
.config/kitty/**
.config/wezterm/**
.config/alacritty/**
.octaverc
.rprofile
.irbrc
.pryrc
.psqlrc
.sqliterc
.mongorc.js
.mongoshrc.js
.perldb
.julia/config/startup.jl
.pdbrc
.pythonrc
.pythonrc.py
.pythonstartup
.ipython/**
.noderc
.ghci
.guile
.curlrc
.wgetrc
.nanorc
.ackrc
.rsyncd.conf
.lesskey
.lessfilter
.dircolors`},
	{kind: Startup, name: "what an interpreter starts", lang: effect.Python, format: formatScript, patterns: `
sitecustomize.py
usercustomize.py`},
	{kind: Startup, name: "what an interpreter starts", lang: effect.Python, format: formatPth, patterns: `
*.pth`},
	{kind: Startup, name: "what a desktop starts", format: formatUnit, patterns: `
.config/autostart/**
/etc/xdg/autostart/**
.local/share/applications/mimeapps.list
.kde/autostart/**
~/appdata/roaming/microsoft/windows/start menu/programs/startup/**
/programdata/microsoft/windows/start menu/programs/startup/**`},
	{kind: Service, name: "a systemd unit", format: formatUnit, patterns: `
/etc/systemd/**
/run/systemd/system/**
/run/systemd/user/**
/run/systemd/generator*/**
/lib/systemd/**
/usr/lib/systemd/**
/usr/local/lib/systemd/**
.config/systemd/**
.local/share/systemd/user/**
/etc/tmpfiles.d/**
*.service
*.timer
*.socket
/usr/share/dbus-1/**
.local/share/dbus-1/**`},
	{kind: Service, name: "a launchd job", format: formatPlist, patterns: `
/library/launchagents/**
/library/launchdaemons/**
/system/library/launch*/**
~/library/launchagents/**
library/launchagents/**
~/library/application scripts/**
/library/startupitems/**
/etc/launchd.conf`},
	{kind: Service, name: "an init script", lang: effect.Shell, format: formatScript, patterns: `
/etc/init.d/**
/etc/rc.local
/etc/rc.common
/etc/rc.d/**
/etc/rc?.d/**
/etc/inittab
/etc/init/**
/etc/inetd.conf
/etc/xinetd.d/**
/etc/supervisor/**
/etc/runit/**
/etc/sv/**
/etc/s6/**
/etc/periodic/**`},
	{kind: Cron, name: "a cron table", format: formatUserCrn, patterns: `
/etc/crontab
/etc/cron.d/**
.config/cron.d/**
/etc/anacrontab`},
	{kind: Cron, name: "a cron table", format: formatCron, patterns: `
/var/spool/cron/**
/var/cron/tabs/**
/usr/lib/cron/tabs/**
crontab
.crontab
*.crontab
/etc/crontabs/**`},
	{kind: Cron, name: "a cron job", lang: effect.Shell, format: formatScript, patterns: `
/etc/cron.hourly/**
/etc/cron.daily/**
/etc/cron.weekly/**
/etc/cron.monthly/**
/etc/cron.yearly/**
/var/spool/at/**
/var/spool/atjobs/**`},
	{kind: Hook, name: "a git hook", lang: effect.Shell, format: formatScript, patterns: `
.git/hooks/**
.git/modules/*/hooks/**
.git/modules/*/*/hooks/**
.git/modules/*/*/*/hooks/**
.git/modules/*/*/*/*/hooks/**
.git/modules/*/*/*/*/*/hooks/**
.git/modules/*/*/*/*/*/*/hooks/**
hooks/pre-receive
hooks/post-receive
hooks/update
.githooks/**
.husky/**
git/template/hooks/**
.git-templates/**
.git_template/**`},
	{kind: Hook, name: "git's settings", format: formatGit, patterns: `
.git/config
.git/config.worktree
.git/commondir
.git/worktrees/*/commondir
.git/modules/*/config
.git/modules/*/*/config
.git/modules/*/*/*/config
.git/modules/*/*/*/*/config
.git/modules/*/*/*/*/*/config
.git/modules/*/*/*/*/*/*/config
.git/worktrees/*/config.worktree
.git/modules/*/config.worktree
.git/modules/*/*/config.worktree
.git/modules/*/*/*/config.worktree
.git/modules/*/*/*/*/config.worktree
.git/modules/*/*/*/*/*/config.worktree
.git/modules/*/*/*/*/*/*/config.worktree
.gitconfig
.config/git/config
/etc/gitconfig
.gitmodules
.git/info/attributes
.config/git/attributes`},
	{kind: Hook, name: "hooks of commits", format: formatYAML, patterns: `
.pre-commit-config.yaml
.pre-commit-hooks.yaml
lefthook.yml
lefthook.yaml
.lefthook.yml`},
	{kind: Hook, name: "a udev rule", format: formatUdev, patterns: `
/etc/udev/**
/lib/udev/**
/usr/lib/udev/**
/run/udev/rules.d/**`},
	{kind: Hook, name: "a hook of the system", lang: effect.Shell, format: formatScript, patterns: `
/etc/apt/apt.conf.d/**
/etc/apt/apt.conf
/etc/dpkg/**
/etc/network/if-up.d/**
/etc/networkmanager/dispatcher.d/**
/etc/dhcp/**
/etc/acpi/**
/etc/logrotate.d/**
/etc/logrotate.conf
/etc/kernel/**
/etc/pacman.d/hooks/**
/usr/share/libalpm/hooks/**
/etc/yum/pluginconf.d/**
/var/lib/dpkg/info/**
/etc/audit/**
/etc/rsyslog.d/**
/etc/rsyslog.conf
/etc/ppp/ip-up.d/**
/etc/openvpn/**`},
	{kind: CI, name: "a CI workflow", format: formatYAML, patterns: `
.github/workflows/**
.github/actions/**
action.yml
action.yaml
.gitlab-ci.yml
.gitlab-ci.yaml
.gitlab/ci/**
.circleci/config*
.circleci/*config.yml
.circleci/src/**
azure-pipelines.yml
azure-pipelines.yaml
.azure-pipelines/**
bitbucket-pipelines.yml
.travis.yml
.drone.yml
.drone.yaml
.woodpecker.yml
.woodpecker/**
.buildkite/**
appveyor.yml
.appveyor.yml
cloudbuild.yaml
cloudbuild.yml
buildspec.yml
.semaphore/**
.cirrus.yml
codefresh.yml
wercker.yml
.tekton/**
.gitea/workflows/**
.forgejo/workflows/**
atlantis.yaml
.github/dependabot.yml`},
	{kind: CI, name: "a CI pipeline", format: formatGroovy, patterns: `
jenkinsfile
jenkinsfile.*
*.jenkinsfile
/var/lib/jenkins/**`},
	{kind: CI, name: "who reviews what", patterns: `
.github/codeowners
codeowners
.github/settings.yml`},

	// Where packages and programs come from.
	{kind: Registry, secret: true, name: "where packages come from", patterns: `
.npmrc
/etc/npmrc
.config/npm/npmrc
.yarnrc
.yarnrc.yml
.pypirc
pip.conf
.pip/**
.config/pip/**
/etc/pip.conf
.condarc
.conda/**
.cargo/config
.cargo/config.toml
.cargo/credentials
.cargo/credentials.toml
.gem/credentials
.gemrc
.bundle/config
.m2/settings.xml
.m2/settings-security.xml
.gradle/gradle.properties
.gradle/init.gradle
.gradle/init.d/**
.sbt/**
nuget.config
.nuget/**
.composer/auth.json
.config/composer/auth.json
/etc/apt/sources.list
/etc/apt/sources.list.d/**
/etc/apt/trusted.gpg
/etc/apt/trusted.gpg.d/**
/etc/apt/keyrings/**
/etc/apt/auth.conf
/etc/apt/auth.conf.d/**
/etc/apt/preferences.d/**
/etc/yum.repos.d/**
/etc/pki/rpm-gpg/**
/etc/pacman.conf
/etc/apk/**
bunfig.toml
.hex/**
.config/go/env
.helm/**
.config/helm/**
.local/share/helm/**
/etc/docker/daemon.json
/usr/local/share/ca-certificates/**
/etc/containers/registries.conf`},
	{kind: Program, name: "a program that others run", format: formatScript, patterns: `
/bin/**
/sbin/**
/usr/bin/**
/usr/sbin/**
/usr/local/bin/**
/usr/local/sbin/**
/usr/libexec/**
/opt/homebrew/bin/**
/lib/**
/lib64/**
/usr/lib/**
/usr/local/lib/**
/snap/**
~/.local/bin/**
~/bin/**
~/go/bin/**
~/.cargo/bin/**
~/.npm-global/bin/**
~/.bun/bin/**
~/.deno/bin/**
~/.pyenv/**
~/.nvm/**
~/.rbenv/**
~/.asdf/**
/windows/system32/**
/program files/**
/system/**
/applications/**`},
	{kind: Program, name: "a library that others load", patterns: `
site-packages/**
dist-packages/**
~/go/pkg/mod/**
go/pkg/mod/**
.cargo/registry/**
.local/share/gem/**
.gem/ruby/**
.m2/repository/**
.npm/_cacache/**`},

	// Secrets.
	{kind: Credential, secret: true, name: "a cloud's credentials", patterns: `
.aws/**
.azure/**
.config/gcloud/**
.gcp/**
.boto
.s3cfg
.config/s3cmd/**
.mc/**
.oci/**
.aliyun/**
.tencentcloud/**
.config/doctl/**
.config/hcloud/**
.config/linode-cli
.config/ibmcloud/**
.bluemix/**
.config/scw/**
.config/exoscale/**
.config/vultr-cli/**
.config/flyctl/**
.fly/config.yml
.travis/config.yml
.expo/state.json
.config/filezilla/**
.filezilla/**
.subversion/auth/**
.config/heroku/**
.vercel/auth.json
.config/vercel/**
.local/share/com.vercel.cli/**
.netlify/config.json
.config/netlify/**
.render/**
.config/railway/**
.railway/**
.supabase/**
.config/supabase/**
.planetscale/**
.config/planetscale/**
.config/turso/**
.config/neonctl/**
.wrangler/**
.config/.wrangler/**
.cloudflared/**
.config/wrangler/**
.config/rclone/**
.rclone.conf
.terraform.d/credentials*
.terraformrc
terraform.rc
.pulumi/credentials.json
*.tfstate
*.tfstate.backup
*.tfstate.*
.terraform/terraform.tfstate
*.tfvars
*.tfvars.json
.config/configstore/**
.config/stripe/**
.databrickscfg
.snowsql/**
.snowflake/**
.dbt/profiles.yml
.bigqueryrc
.kaggle/kaggle.json
.doppler/**
.config/infisical/**
.infisical/**
.ngrok2/**
.config/ngrok/**
.twilio-cli/**
.sentryclirc
.adyen/**
.config/firebase/**
.firebase/**
.serverless/**
.serverlessrc
.circleci/cli.yml`},
	{kind: Credential, secret: true, name: "a cluster's credentials", patterns: `
.kube/**
kubeconfig
kubeconfig.*
*.kubeconfig
admin.conf
/etc/kubernetes/**
/var/lib/kubelet/**
/var/run/secrets/**
/run/secrets/**
/etc/rancher/k3s/k3s.yaml
/var/lib/rancher/**
/etc/istio/**
/var/run/linkerd/**
/run/spire/**
.docker/config.json
.docker/.token_seed
.docker/contexts/**
.dockercfg
.config/containers/auth.json
/run/containers/*/auth.json
.argocd/**
.config/argocd/**
.atlantis/**
/etc/vault.d/**
/etc/consul.d/**
/etc/nomad.d/**
.vault-token
.consul_token
.nomad_token
.config/consul/**
.config/nomad/**
.minikube/**
.rancher/cli2.json
.talos/**
talosconfig`},
	{kind: Credential, secret: true, name: "a file of secrets", patterns: `
.env
.env.*
*.env
.flaskenv
.dev.vars
.secrets
.secrets/**
/etc/secret
/etc/secrets/**
.netrc
_netrc
.authinfo
.authinfo.gpg
.git-credentials
.config/git/credentials
.pgpass
.pg_service.conf
pgpass.conf
.my.cnf
.mylogin.cnf
.mycli/**
.myclirc
.config/pgcli/**
.config/mycli/**
.config/litecli/**
.smbcredentials
.htpasswd
.ansible/**
.ansible_vault_pass
.vault_pass
.vault_pass.txt
vault_pass
vault_pass.txt
.vault-password
.rediscli_auth
.msmtprc
.fetchmailrc
.muttrc
.mbsyncrc
.offlineimaprc
.config/gh/**
.config/hub
.config/glab-cli/**
.config/tea/**
.config/github-copilot/**
.config/github copilot/**
.config/chezmoi/**
.local/share/chezmoi/**
.jupyter/**
.config/jupyter/**
.local/share/jupyter/runtime/**
/run/user/*/jupyter/**
.cache/huggingface/token
.cache/huggingface/stored_tokens
.huggingface/**
.config/wandb/**
.comet.config
.config/dvc/**
.neptune/**
.openai
.openai/**
.config/openai/**
.anthropic/**
~/.claude
.claude/.credentials.json
.codex/auth.json
.openai-codex/**
.gemini/oauth_creds.json
.gemini/google_accounts.json
.qwen/oauth_creds.json
.q/**
.aws-sso/**
.local/share/opencode/auth.json
.local/share/amazon-q/**
.config/mcp/**
.mcp/**
.mcp-auth/**
.cache/mcp-auth/**
.config/claude-desktop/**
.config/anthropic/**
.config/windsurf/**
globalstorage/**
web.config
wp-config.php
/etc/mysql/debian.cnf
/etc/exim4/passwd.client
/etc/postfix/sasl_passwd
/root/.mysql_secret`},
	{kind: Credential, secret: true, name: "a store of passwords or keys", patterns: `
.gnupg/**
.password-store/**
.local/share/keyrings/**
.local/share/gnome-keyring/**
.gnome2/keyrings/**
.local/share/kwalletd/**
.kde/share/apps/kwallet/**
~/library/keychains/**
library/keychains/**
*.keychain
*.keychain-db
*.keyring
.config/op/**
.op/**
.config/1password/**
.local/share/1password/**
.1password/**
.config/bitwarden*/**
com.bitwarden.desktop/**
.bitwarden-ssh-agent.sock
.config/lastpass/**
.lpass/**
.local/share/lpass/**
.local/share/lastpass/**
.config/keepass*/**
.config/keepassxc/**
*.kdbx
*.kdb
.config/age/**
.config/sops/**
.age/**
.config/google-authenticator/**
.google_authenticator
.config/tableplus/**
~/library/application support/sequel pro/**
~/library/application support/sequel ace/**
datasources.local.xml
.dbeaver*/**
.local/share/dbeaverdata/**
~/appdata/local/microsoft/credentials/**
~/appdata/roaming/microsoft/credentials/**
~/appdata/roaming/microsoft/protect/**
~/appdata/local/microsoft/vault/**
/windows/system32/config/sam
/windows/system32/config/system
/windows/system32/config/security
/windows/ntds/ntds.dit
ntds.dit
*.keytab
/tmp/krb5cc*
krb5cc_*`},
	{kind: Credential, secret: true, name: "a browser's or a chat's data", patterns: `
login data
login data for account
cookies.sqlite
cookies.binarycookies
logins.json
key3.db
key4.db
places.sqlite
formhistory.sqlite
signons.sqlite
.mozilla/**
.thunderbird/**
.config/google-chrome/**
.config/chromium/**
.config/bravesoftware/**
.config/microsoft-edge/**
.config/opera/**
.config/vivaldi/**
~/library/application support/google/chrome/**
~/library/application support/firefox/**
~/library/application support/bravesoftware/**
~/library/application support/microsoft edge/**
~/library/safari/**
~/library/cookies/**
~/appdata/local/google/chrome/**
~/appdata/roaming/mozilla/**
~/library/messages/**
~/library/mail/**
.config/slack/**
~/library/application support/slack/**
.config/discord/**
~/library/application support/discord/**
.config/signal/**
.config/telegram*/**
.local/share/telegramdesktop/**
.config/microsoft/microsoft teams/**`},
	{kind: Credential, secret: true, name: "a wallet", patterns: `
.bitcoin/**
.litecoin/**
.ethereum/**
.electrum/**
.solana/**
.config/solana/**
.monero/**
.config/exodus/**
.config/atomic/**
.config/ledger live/**
.metamask/**
wallet.dat
.near-credentials/**
.sui/**
.aptos/**
.foundry/keystores/**
.brownie/accounts/**
keystore/utc--*
utc--*
nkbihfbeogaeaoehlefnkodbefgpgknn/**`},
	{kind: Credential, secret: true, name: "what was typed before", patterns: `
.bash_history
.zsh_history
.zhistory
.history
.sh_history
.ksh_history
fish_history
.python_history
.node_repl_history
.psql_history
.mysql_history
.sqlite_history
.rediscli_history
.dbshell
.mongodb/mongosh/**
.irb_history
.lesshst
.viminfo
.wget-hsts
consolehost_history.txt`},
	{kind: Credential, secret: true, weak: true, name: "a private key", patterns: `
*.pem
*.key
*.p12
*.pfx
*.p8
*.pkcs12
*.ppk
*.jks
*.keystore
*.ovpn
*_rsa
*_ed25519
*_ecdsa`},
	{kind: Credential, secret: true, weak: true, name: "a file named after a secret", patterns: `
credentials
credentials.*
credential
.credentials
.credentials.*
secrets
secrets.*
secret
secret.*
*.secret
*.secrets
*-secret.yaml
*-secret.yml
*-secrets.yaml
*-secrets.yml
token
token.*
.token
.tokens
*.token
tokens.json
access_token
access-token
refresh_token
api_key
apikey
api_key.txt
password
passwords
password.txt
passwords.*
passwd.txt
client_secret*.json
service-account*.json
service_account*.json
serviceaccount*.json
sa-key*.json
gcp-key*.json
google-credentials*.json
firebase-adminsdk*.json
application_default_credentials.json
master.key
production.key
auth/token*
auth.json
secrets/**
oauth_creds.json
session.json
cookies.txt`},

	// What builds and tests run.
	{kind: Build, name: "scripts of a package", format: formatNPM, patterns: `
package.json
composer.json`},
	{kind: Build, name: "what an installation runs", lang: effect.Python, format: formatScript, patterns: `
setup.py
conftest.py
noxfile.py
fabfile.py
wscript
sconstruct
conanfile.py
tasks.py
manage.py`},
	{kind: Build, name: "a makefile", format: formatMake, patterns: `
makefile
gnumakefile
makefile.*
*.mk
justfile
.justfile`},
	{kind: Build, name: "a Dockerfile", format: formatDocker, patterns: `
dockerfile
dockerfile.*
*.dockerfile
containerfile
containerfile.*`},
	{kind: Build, name: "what a build runs", format: formatYAML, patterns: `
taskfile.yml
taskfile.yaml
docker-compose.yml
docker-compose.yaml
docker-compose.*.yml
compose.yml
compose.yaml
skaffold.yaml
.goreleaser.yml
.goreleaser.yaml
.gitpod.yml
devfile.yaml
mise.toml
.mise.toml
procfile`},
	{kind: Build, name: "what a build runs", lang: effect.Ruby, format: formatScript, patterns: `
rakefile
gemfile
vagrantfile
podfile
fastfile
*.gemspec
extconf.rb`},
	{kind: Build, name: "what a build runs", lang: effect.JavaScript, format: formatScript, patterns: `
.pnpmfile.cjs
pnpmfile.js
gulpfile.js
gruntfile.js
.eslintrc.js
.eslintrc.cjs
eslint.config.*
webpack.config.*
vite.config.*
jest.config.js
jest.config.ts
babel.config.js
rollup.config.*
next.config.*
.prettierrc.js`},
	{kind: Build, name: "what a build runs", patterns: `
build.rs
build.gradle
build.gradle.kts
settings.gradle
settings.gradle.kts
gradlew
mvnw
pom.xml
build.zig
build.sbt
build.xml
cmakelists.txt
meson.build
configure
configure.ac
binding.gyp
tox.ini
*.bazel
*.bzl
dune-project
flake.nix
default.nix
shell.nix`},

	// Code, by its ending.
	{kind: Script, name: "a shell script", lang: effect.Shell, format: formatScript, patterns: `
*.sh
*.bash
*.zsh
*.ksh
*.command
*.bats
*.csh`},
	{kind: Script, name: "a fish script", lang: effect.Fish, format: formatScript, patterns: `*.fish`},
	{kind: Script, name: "a PowerShell script", lang: effect.PowerShell, format: formatScript, patterns: `
*.ps1
*.psm1
*.psd1`},
	{kind: Script, name: "a batch file", lang: effect.Batch, format: formatScript, patterns: `
*.bat
*.cmd`},
	{kind: Script, name: "a Python script", lang: effect.Python, format: formatScript, patterns: `
*.py
*.pyw`},
	{kind: Script, name: "a JavaScript file", lang: effect.JavaScript, format: formatScript, patterns: `
*.js
*.mjs
*.cjs
*.ts
*.mts
*.cts`},
	{kind: Script, name: "a Perl script", lang: effect.Perl, format: formatScript, patterns: `
*.pl
*.pm`},
	{kind: Script, name: "a Ruby script", lang: effect.Ruby, format: formatScript, patterns: `*.rb`},
	{kind: Script, name: "a PHP script", lang: effect.PHP, format: formatScript, patterns: `
*.php
*.phtml
*.phar`},
	{kind: Script, name: "a Lua script", lang: effect.Lua, format: formatScript, patterns: `*.lua`},
	{kind: Script, name: "an awk script", lang: effect.Awk, format: formatScript, patterns: `*.awk`},
	{kind: Script, name: "an R script", lang: effect.R, format: formatScript, patterns: `*.r`},
	{kind: Script, name: "SQL", lang: effect.SQL, format: formatScript, patterns: `*.sql`},
	{kind: Script, name: "AppleScript", lang: effect.AppleScr, format: formatScript, patterns: `
*.scpt
*.applescript`},

	// The rest of what the operating system reads.
	{kind: System, name: "the system's settings", patterns: `
/etc/**
/library/preferences/**
/private/etc/**`},

	// Git's own files under names that others have, too: only what runs of them counts.
	{kind: Plain, name: "where git finds a repository", format: formatGitLink, patterns: `.git`},
	{kind: Plain, name: "what a rebase of git does", format: formatTodo, patterns: `
git-rebase-todo
git-rebase-todo.backup`},
	{kind: Plain, weak: true, name: "git's settings", format: formatGit, patterns: `
config
config.worktree
*.gitconfig`},
	{kind: Plain, weak: true, name: "a git hook", lang: effect.Shell, format: formatScript, patterns: `
hooks/pre-commit
hooks/prepare-commit-msg
hooks/commit-msg
hooks/post-commit
hooks/post-rewrite
hooks/pre-merge-commit
hooks/post-merge
hooks/pre-rebase
hooks/post-checkout
hooks/applypatch-msg
hooks/pre-applypatch
hooks/post-applypatch
hooks/pre-push
hooks/pre-auto-gc
hooks/reference-transaction
hooks/post-index-change
hooks/fsmonitor-watchman`},
}

package configs_test

import (
	"strings"
	"testing"
)

// hostsOfCommands run the command that stands in the place of CMD.
const hostsOfCommands = `
		numactl -l CMD
		numactl --localalloc -- CMD
		numactl -N 0 -m 0 CMD
		arch -x86_64 CMD
		arch -arm64 CMD
		chpst -e ./d CMD
		chpst -u x CMD
		envuidgid x CMD
		sg disk 'CMD'
		sg disk -c 'CMD'
		newgrp -c 'CMD'
		wezterm start CMD
		wezterm start --cwd d -- CMD
		wezterm -e CMD
		wezterm cli spawn -- CMD
		wezterm cli split-pane -- CMD
		rio -e CMD
		foot CMD
		footclient CMD
		kitty -e CMD
		alacritty -e CMD
		zutty -e CMD
		kgx -- CMD
		ptyxis -- CMD
		sakura -e 'CMD'
		snap run CMD
		rg --hostname-bin='CMD' x
		rg --pre 'CMD' x
		ack --pager='CMD' x
		ag --pager 'CMD' x
		sftp -S 'CMD' host
		sftp -D 'CMD' host
		scp -S 'CMD' a h:b
		ssh -o 'Match exec CMD' host
		rustc -C linker='CMD' a.rs
		rustc -Clinker='CMD' a.rs
		gcc -fuse-ld='CMD' a.c
		CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='CMD' cargo run
		CARGO_TARGET_WASM32_WASI_RUNNER='CMD' cargo test
		CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER='CMD' cargo build
		CARGO_BUILD_RUSTC='CMD' cargo build
		CARGO_BUILD_RUSTDOC='CMD' cargo doc
		CARGO_BUILD_RUSTC_WRAPPER='CMD' cargo build
		RUSTC_WORKSPACE_WRAPPER='CMD' cargo build
		RUSTDOC='CMD' cargo doc
		RUSTFMT='CMD' cargo fmt
		AR='CMD' make
		PKG_CONFIG='CMD' ./configure
		CMAKE_CXX_COMPILER_LAUNCHER='CMD' cmake -B b
		KUBECTL_EXTERNAL_DIFF='CMD' kubectl diff -f a.yaml
		npm_config_script_shell='CMD' npm test
		hatch run CMD
		hatch run test:CMD
		hatch env run -- CMD
		nix run nixpkgs#bash -- -c 'CMD'
		nix develop -c CMD
		nix-shell --run 'CMD'
		faketime -f '-1d' CMD
		faketime '1 day ago' CMD
		consul watch -type key -key x CMD
		consul lock x CMD
		exiftool -if 'system("CMD")' a.jpg
		forever start -c 'CMD' x
		hyperfine -S 'CMD' x
		ip vrf exec x CMD
		ip -all netns exec CMD
		logrotate -m 'CMD' x
		flux run CMD
		flux submit -n 2 CMD
		r2 -c '!CMD' x
		asciinema rec -c 'CMD'
		asciinema rec --command 'CMD' x
		wl-paste --watch CMD
		wl-paste -w CMD
		yad --button='x:CMD'
		dpkg-buildpackage --hook-init='CMD'
		debuild --dpkg-buildpackage-hook='CMD'
		amp net run CMD
		amp orb service start x --command 'CMD'
		prlimit --nproc=1 CMD
		choom -n 100 -- CMD
		runcon -t x_t CMD
		cgexec -g cpu:x CMD
		dbus-run-session -- CMD
		xvfb-run -a CMD
		dtach -n /tmp/s CMD
		abduco -n x CMD
		script -qc 'CMD' /dev/null
		socat - EXEC:'CMD'
		ncat --sh-exec 'CMD' h 1
		systemd-inhibit CMD
		firejail --noprofile CMD
		bwrap --dev-bind / / -- CMD
		setpriv --reuid 1 CMD
		flatpak-spawn --host CMD
		zellij run -- CMD
		tmux -C new 'CMD'
		gdb -ex 'shell CMD'
		perf stat CMD
		systemd-cat CMD`

// A program that no table knew, or knew in part, ran a command and nobody was asked:
// numactl -l took the command for the value of its flag, hatch took test: for a part of
// its name, ssh and gcc read it from a file that the same call had written. What a program
// runs is judged now whichever of its words says so.
func TestMoreHostsAreJudgedByWhatTheyRun(t *testing.T) {
	judge := verdicts(t)
	for _, command := range []string{"git push --force", "rm -rf ~", "codex exec x"} {
		asks(t, judge, true, strings.ReplaceAll(hostsOfCommands, "CMD", command))
	}
	asks(t, judge, false, strings.ReplaceAll(strings.NewReplacer(
		"sg disk 'CMD'\n", "", "sg disk -c 'CMD'\n", "", "newgrp -c 'CMD'\n", "",
	).Replace(quietHosts), "CMD", "ls -l"))
}

// quietHosts are those of the hosts that are no question in themselves.
const quietHosts = `
		numactl -l CMD
		arch -x86_64 CMD
		wezterm start CMD
		rio -e CMD
		rg --pre 'CMD' x
		sftp -S 'CMD' host
		CARGO_TARGET_WASM32_WASI_RUNNER='CMD' cargo test
		hatch run CMD
		hatch run test:CMD
		hatch env run -- CMD
		nix develop -c CMD
		faketime -f '-1d' CMD
		consul lock x CMD
		hyperfine -S 'CMD' x
		flux run CMD
		asciinema rec -c 'CMD'
		wl-paste -w CMD
		dpkg-buildpackage --hook-init='CMD'
		xvfb-run -a CMD`

// A call wrote the settings of a program first, with a command in them, and started it then.
func TestSettingsThatACallWritesForAProgram(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		printf 'Host *\n ProxyCommand git push --force\n' > cfg; ssh -F cfg h
		printf 'Host *\n proxycommand=git push --force\n' > cfg; ssh -F cfg h
		printf 'Host *\n LocalCommand "git push --force"\n' > cfg; ssh -F ./cfg h
		printf 'Match exec "git push --force"\n' > cfg; ssh -F cfg h
		printf 'Match host h exec git push --force\n' > cfg; scp -F cfg a h:b
		printf 'KnownHostsCommand git push --force\n' > cfg; sftp -F cfg h
		echo '-wrapper git,push,--force' > args; gcc @args a.c
		echo '-wrapper git,push,--force' > args; clang @./args a.c
		printf '*asm:\ngit push --force\n' > s; gcc -specs=s a.c
		echo '*asm: git push --force' > s; gcc --specs=./s a.c
		printf '/x {\npostrotate\ngit push --force\nendscript\n}' > l.conf; logrotate l.conf
		printf 'compresscmd git push --force\n' > l.conf; logrotate -f l.conf
		echo 'exec git push --force' > s.rc; screen -c s.rc
		echo 'screen git push --force' > s.rc; screen -c s.rc -dm
		echo 'a:; git push --force' > m.mk; make -f m.mk
		printf 'a:\n\tgit push --force\n' | make -f -
		printf 'a:\n\tgit push --force\n' | just -f /dev/stdin
		sh -c "echo 'a:\n\tgit push --force' > Makefile; make"
		dash -c 'echo "a:\n\tgit push --force" > Makefile; make'
		sh -c "echo 'a:\n\tgit push --force' > m.mk; make -f m.mk"`)
	asks(t, judge, false, `
		printf 'Host *\n User bob\n' > cfg; ssh -F cfg h uptime
		echo '-O2 -Wall' > args; gcc @args a.c
		printf '/x {\nweekly\nrotate 3\n}' > l.conf; logrotate -d l.conf
		sh -c "echo 'a:\n\tls' > Makefile; make"`)
}

// The same programs as people use them all day.
func TestHostsInHonestUse(t *testing.T) {
	asks(t, verdicts(t), false, `
		claude --version
		codex --help
		gemini --version
		opencode --version
		claude mcp list
		claude agents --help
		claude remote-control --help
		codex features list
		codex doctor
		codex plugin list
		codex mcp list
		gemini extensions list
		gemini skill list
		qwen extensions list
		auggie session list
		auggie mcp list
		amp permissions list
		amp tools list
		amp notes.txt
		kiro-cli settings list
		kiro-cli agent list
		copilot plugin list
		copilot config theme
		copilot svc deploy --name web
		goose up
		goose -dir migrations postgres "user=x" up
		q example.com
		opencode debug info
		cursor-agent status
		gcc -o a a.c
		gcc -O2 -fuse-ld=lld a.c
		gcc -specs=nano.specs a.c
		gcc -B build a.c
		gcc @objects.rsp -o a
		clang -std=c17 -Wall a.c
		gcc $CFLAGS -o a a.c
		gcc $(pkg-config --cflags gtk4) -o a a.c
		as $blob
		nix run $FLAKE
		rustc -C opt-level=3 a.rs
		rustc -C linker=clang a.rs
		rg foo
		rg --pre pdftotext foo
		ack foo src
		ack --pager='less -R' foo
		nix build
		nix run nixpkgs#jq -- . a.json
		nix develop -c make test
		taskset -c 0 make test
		numactl -s
		numactl -l make test
		arch
		arch -x86_64 brew install jq
		xvfb-run npm test
		xvfb-run -a npm test
		hatch run test
		hatch run test:cov
		hatch env prune --help
		hatch build
		snap run hello
		snap list
		faketime '2020-01-01' make test
		consul members
		exiftool a.jpg
		exiftool -p '$filename' a.jpg
		hyperfine 'make test'
		asciinema play a.cast
		ip a
		ip netns list
		logrotate -d /etc/logrotate.conf
		flux get kustomizations
		AR=llvm-ar CC=clang make
		RUSTFLAGS='-C target-cpu=native' cargo build
		CARGO_TARGET_DIR=/tmp/t cargo build
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc cargo build
		wl-paste
		tox -e py312
		sftp -P 22 host
		scp a h:b
		ssh -o StrictHostKeyChecking=no h uptime
		screen -dmS x make test
		dpkg-buildpackage -us -uc -b`)
}

package configs_test

import "testing"

// A folder that was made in /etc, /var, /usr or .git was told as a write over what is there: "it
// empties a file", "it replaces a credential", "it puts a hook". These were the most false alarms.
// A new folder, and a file that touch makes, take nothing away and put nothing in force. What is
// written into them later still is a question.
func TestMadeFoldersAreNoWrites(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		mkdir -p /etc/foo /var/lib/app /usr/local/share/x .git/hooks ~/.ssh ~/.config/systemd/user
		mkdir -p -m 700 ~/.ssh ~/.aws
		mkdir -p /var/log/app /boot/efi
		install -d /etc/foo
		install -d -m 755 -o root /usr/local/share/x
		sudo mkdir -p /etc/apt/keyrings
		sudo install -m 0755 -d /etc/apt/keyrings
		sudo mkdir -p /etc/systemd/system/docker.service.d
		mkdir -p ~/Library/LaunchAgents ~/.config/autostart
		python3 -c 'import os; os.makedirs("/etc/foo", exist_ok=True)'
		python3 -c 'from pathlib import Path; Path("/etc/foo").mkdir()'
		node -e 'require("fs").mkdirSync("/etc/foo", {recursive: true})'
		ssh host mkdir -p /etc/foo
		touch /etc/app.conf ~/.bashrc ~/.ssh/config .git/hooks/pre-commit /var/log/app.log
		touch notes{1..1100}.txt
		mkdir -p ~/x && tar -xf a.tar -C ~/x
		mkdir -p /opt/app && tar -xf a.tar -C /opt/app`)
	asks(t, judge, true, `
		mkdir -p /etc/foo && cp x /etc/foo/x.conf
		mkdir -p /etc/cron.d && cp x /etc/cron.d/x
		mkdir -p ~/.ssh && cat k >> ~/.ssh/authorized_keys
		mkdir -p .git/hooks && cp x .git/hooks/pre-commit
		sudo mkdir -p /etc/apt/keyrings && curl -fsSL https://example.com/k | sudo tee /etc/apt/keyrings/k.asc
		install -D -m 644 x /etc/a/x
		install -d /etc/a && install -m 644 x /etc/a/x
		sudo mkdir -p /opt/app && sudo cp x /opt/app/x
		touch /etc/cron.d/x && echo '* * * * * root x' > /etc/cron.d/x
		touch /etc/nologin
		sudo touch /etc/cron.allow
		touch -- --checkpoint=1
		mkdir -- --checkpoint=1
		touch -- '--checkpoint-action=exec=sh x.sh'
		echo > /var/log/app.log`)
}

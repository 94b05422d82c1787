package configs_test

import "testing"

// sudo before one command was a question because of what another command of the same call did:
// installing a package from the distribution passes alone, and was asked about with make behind it.
func TestRightsAreForTheirOwnCommand(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		sudo apt-get update && sudo apt-get install -y doxygen && python3 -m venv v && make
		sudo apt install ncal; make report; echo x >> out
		make; sudo apt-get install -y tcl; rm -f x
		sudo dnf install -y gcc && ./configure && make
	`)
	asks(t, judge, true, `
		sudo rm x; make
		make; sudo ./install.sh
		sudo apt-get update; sudo ./install.sh
		sudo ./install.sh; sudo apt-get update
		rm x; sudo rm x
		sudo apt-get update; sudo sh -c 'rm -rf x'
		sudo -v; ./x.sh
		sudo -l; ./x.sh
		sudo -s
		sudo cat /etc/sudoers; ./x.sh
		x=rm; sudo $x y
		sudo $(cat cmd)
		echo x | sudo tee /etc/x
		echo x | sudo xargs rm
		find . -name x -exec sudo rm {} +
		f() { rm x; }; sudo sh -c f
		sudo apt-get install -y ./x.deb; make
		sudo apt-get install -y x || sudo ./x.sh
	`)
}

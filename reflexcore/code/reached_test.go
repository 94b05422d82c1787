package code_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/code"
	"approver.example/reflexcore/effect"
)

// An agent started a program with a function of a library that the table did not hold, or let
// Node's shell option name the program. Each of them starts it now.
func TestFurtherFunctionsThatStartPrograms(t *testing.T) {
	for _, src := range []string{
		`import os;os.system.__call__.__call__("codex exec x")`, `import os;os.system.__call__("codex exec x")`,
		`import pkgutil;pkgutil.resolve_name("os:system")("codex exec x")`,
		`import pydoc;pydoc.pipepager("x","codex exec x")`,
		`import pydoc;pydoc.tempfilepager("x","codex exec x")`, `import imaplib;imaplib.IMAP4_stream("codex exec x")`,
		`from imaplib import IMAP4_stream as i;i("codex exec x")`, `import psutil;psutil.Popen(["codex","exec"])`,
		`import ctypes;ctypes.pythonapi.PyRun_SimpleString(b"codex")`,
		`import fabric;fabric.Connection("h").local("codex exec")`,
		`import plumbum;plumbum.local["codex"]("exec")`, `from plumbum import local;local["codex"]("exec")`,
		`from plumbum.cmd import codex;codex("exec")`, `import pip;pip.main(["install","codex"])`,
		`from setuptools._distutils.spawn import spawn;spawn(["codex","exec"])`,
		`import ctypes as c;c.CFUNCTYPE(c.c_int,c.c_char_p)(("system",c.CDLL(None)))(b"codex")`,
	} {
		if !starts("python", src, "codex") {
			t.Error(src)
		}
	}
	for _, src := range []string{
		`require("child_process").execSync("ls",{shell:"./ev"})`, `require("child_process").exec("ls",{shell:"./ev"},()=>0)`,
		`require("child_process").spawnSync("ls",["a"],{shell:"./ev"})`,
		`require("child_process").spawn("ls",{shell:"./ev"})`,
	} {
		if !starts("node", src, "./ev") {
			t.Error(src)
		}
	}
	if !starts("python", `import subprocess,sys;subprocess.run([sys.executable,"-m","pytest"])`, "python3 -m pytest") {
		t.Error("sys.executable is not the interpreter")
	}
}

// starts reports whether code runs something that holds a word, or that is not known.
func starts(lang, src, word string) bool {
	return slices.ContainsFunc(everything(lang, src, code.Limits{}), func(f code.Found) bool {
		line := f.Text + " " + strings.Join(f.Args, " ")
		opaque := f.Op != code.Shell && f.Op != code.Argv && f.Op != code.Exec && f.By != ""
		return strings.Contains(line, word) || !effect.IsKnown(line) || opaque
	})
}

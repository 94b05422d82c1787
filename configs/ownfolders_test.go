package configs_test

import "testing"

// Tests delete the folder that they made, and a script deletes what lies beside it. Both were questions, because
// a type behind a variable's name hid its value (let dir: string), a member of the object was not known in another
// method, nor was the folder of the code's own file, nor mkdtemp of node's promises.
func TestCodeKnowsItsFolders(t *testing.T) {
	write := toolCalls(t, "/srv/shop", nil)
	const fs = "import fs from 'fs'; import os from 'os'; import path from 'path';\n"
	const made, removed = "fs.mkdtempSync(path.join(os.tmpdir(), 'x-'));", "fs.rmSync(dir, {recursive: true, force: true});"
	for _, c := range []struct{ file, text, want string }{
		{"a.test.ts", fs + "let dir: string;\nbeforeEach(() => { dir = " + made + " });\nafterEach(() => { " + removed + " });",
			"pass"},
		{"b.test.ts", fs + "let dir: string | undefined, n: Map<string, number> = new Map();\n" +
			"beforeEach(() => { dir = " + made + " });\nafterEach(() => { if (dir) " + removed + " });", "pass"},
		{"c.test.ts", "import * as fs from 'fs/promises';\nlet dir: string\nlet n: number\n" +
			"beforeEach(async () => { dir = await fs.mkdtemp('/tmp/x-') })\n" +
			"afterEach(async () => { await fs.rm(dir, {recursive: true}) })", "pass"},
		{"d_test.py", "import tempfile, shutil\nclass T:\n    def setUp(self):\n        self.dir = tempfile.mkdtemp()\n" +
			"    def tearDown(self):\n        shutil.rmtree(self.dir)\n", "pass"},
		{"e_test.py", "import tempfile, shutil\ndir = None\ndef a():\n    global dir\n    dir = tempfile.mkdtemp()\n" +
			"def b():\n    shutil.rmtree(dir)\n", "pass"},
		{"f.ts", fs + "export class S {\n  private dir: string;\n  constructor() { this.dir = " + made + " }\n" +
			"  close() { fs.rmSync(this.dir, {recursive: true}); }\n}", "pass"},
		{"g.js", fs + "fs.rmSync(path.join(__dirname, 'tmp-out'), {recursive: true});", "pass"},
		{"h.rb", "require 'fileutils'\nFileUtils.rm_rf(File.join(__dir__, 'tmp-out'))\n", "pass"},
		{"i.py", "import os, shutil\nHERE = os.path.dirname(os.path.abspath(__file__))\nshutil.rmtree(os.path.join(HERE, 'dist'))\n",
			"pass"},

		{"k.ts", fs + "let dir: string = process.env.HOME!;\n" + removed, "ask"},
		{"l.ts", fs + "let dir: string;\na(() => { dir = " + made + " });\nb(() => { dir = '/home/ada'; });\nc(() => { " + removed +
			" });", "ask"},
		{"m.ts", fs + "let dir: string = '/home/ada';\na(() => { dir = " + made + " });\nb(() => { " + removed + " });", "ask"},
		{"n.ts", fs + "let dir: string = " + made + "\n[dir] = ['/home/ada'];\n" + removed, "ask"},
		{"o.ts", fs + "let dir: string = " + made + "\n({dir} = {dir: '/home/ada'});\n" + removed, "ask"},
		{"p.py", "import tempfile, shutil\nclass T:\n    def a(self):\n        self.dir = tempfile.mkdtemp()\n" +
			"    def b(self, dir):\n        self.dir = dir\n    def c(self):\n        shutil.rmtree(self.dir)\n", "ask"},
		{"q.py", "import tempfile, shutil\ndir = None\ndef a():\n    global dir\n    dir = tempfile.mkdtemp()\n" +
			"def b():\n    global dir\n    dir = '/home/ada'\ndef c():\n    shutil.rmtree(dir)\n", "ask"},
		{"r.js", fs + "fs.rmSync(path.join(__dirname, '../..'), {recursive: true});", "ask"},
		{"s.js", fs + "fs.rmSync(path.join(__dirname, '../../../home/ada'), {recursive: true});", "ask"},
		{"t.ts", fs + "export const clean = (dir: string): void => { " + removed + " };", "ask"},
	} {
		v := write("Write", map[string]any{"file_path": "/srv/shop/" + c.file, "content": c.text})
		if got := v.Decision.String(); got != c.want {
			t.Errorf("%s: %s by %s (%s), want %s", c.text, got, v.Rule, v.Reason, c.want)
		}
	}
}

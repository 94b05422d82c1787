package code

import "approver.example/reflexcore/effect"

// An invocation is a call of a function that a row of the table describes.
type invocation struct {
	row
	callee value
	args   []arg
	taint  effect.Taint // of the callee and the arguments
}

// An action is what a row makes the machine do. If ok, v is the result of the call.
type action func(m *machine, c invocation) (v value, ok bool)

// actions are those that the tables name.
var actions = map[string]action{
	// Programs.
	"shell": runShell, "process": runProcess, "argv": runWords, "list": runList, "input": giveInput,
	"execv": runExec, "execl": runExec, "execfile": runFileOf, "forked": runForked, "pipeline": runPipeline,
	"program": runNamed, "startprocess": startProcess, "psexec": runPowerShell, "cmdexec": runCmd, "magic": runMagic,
	"fork": forkBomb,

	// Files and hosts.
	"open": openFile, "perlopen": perlOpen, "read": useFiles, "write": useFiles, "delete": useFiles, "chmod": useFiles,
	"content": writeContent, "fwrite": writeTo, "entries": listFolder, "globbed": globFiles, "chdir": changeFolder,
	"netin": useNetwork, "netout": useNetwork, "connect": connectTo, "send": sendData, "geturl": getURL,
	"curlopt": setCurlOption, "answers": askModel, "newobject": newObject, "object": makeObject, "unpickle": unpickle,
	"remotedelete": deleteRemote, "sql": runSQL, "kill": killProcess, "privilege": takePrivilege,

	// What code is given.
	"stdin": readStdin, "shift": shiftOperand, "pop": popOperand, "argvslice": allOperands, "environment": readEnvironment,

	// Code and functions.
	"fold": foldCall, "property": foldCall, "unknown": giveUnknown, "opaque": findOpaque, "callback": callBack,
	"code": runCode, "function": newFunctionOf, "later": runLater, "worker": runWorker, "run": runFile, "preg": replaceByCode,
	"import": importModule, "attr": getAttribute, "call": callMethod, "reflect": callReflected, "partial": callPartial,
	"methodcaller": callOnModule, "dispatch": callNamed, "method": methodValue, "callfunc": callByName,
	"reflected": reachByName, "define": defineName, "setvariable": setVariable,
}

// act does what a row of the table says.
func (m *machine) act(c invocation) (v value, ok bool) {
	if c.do == nil {
		return value{}, false
	}
	return c.do(m, c)
}

// by is the name of the function, for people.
func (c *invocation) by() string { return c.callee.s }

// target is what the function works on: an argument, or what the method is called on.
func (c *invocation) target() value {
	if c.row.arg == argReceiver {
		return c.receiver()
	}
	if a, found := argument(c.args, max(0, c.row.arg)); found {
		return a
	}
	return unknown(c.taint)
}

// receiver is what the method is called on.
func (c *invocation) receiver() value {
	if c.callee.of != nil {
		return *c.callee.of
	}
	return unknown(0)
}

func (c *invocation) first() value {
	v, _ := argument(c.args, 0)
	return v
}

func (c *invocation) second() value {
	v, _ := argument(c.args, 1)
	return v
}

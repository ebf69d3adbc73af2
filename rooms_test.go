// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package pfs_exporter_test holds what must be true of the repository as a whole. The tests parse the source and build
// nothing, so that they say which rule was broken even where the code does not compile.
package pfs_exporter_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/pfs-exporter/pfs_exporter"

// maxLines is where a file has become two ideas.
const maxLines = 400

// arrows says what of ours the code of each room may import: the arrows of the design, section 1. The package collector
// says what a collector is, and so collector/lustre imports it; the command puts the two together. It fills in the
// configuration that source, jobid and ledger define, and knows no parsing. .golangci.yml says the same to golangci-lint.
var arrows = map[string][]string{
	"exporter":                  {"collector", "collector/exposition", "collector/lustre", "collector/lustre/jobid", "collector/lustre/ledger", "collector/lustre/source"},
	"collector":                 {"collector/exposition"},
	"collector/exposition":      {},
	"collector/lustre":          {"collector", "collector/exposition", "collector/lustre/source", "collector/lustre/jobstats", "collector/lustre/jobid", "collector/lustre/ledger"},
	"collector/lustre/source":   {},
	"collector/lustre/jobstats": {},
	"collector/lustre/jobid":    {},
	"collector/lustre/ledger":   {"collector/lustre/jobstats", "collector/lustre/jobid"},
	"simulator":                 {"collector/lustre/jobstats"},
	"e2e":                       {"simulator"},
	"demo":                      {"demo/rig", "rules", "simulator"},
	"rules":                     {},
	"demo/rig":                  {"rules", "simulator"},
}

// forbidden says what of others a room and the rooms below it may not import, by prefix.
var forbidden = map[string][]string{
	"collector":                 {"flag", "github.com/alecthomas/kingpin", "github.com/go-kit/log", "github.com/tjhop/slog-gokit", "net/http"},
	"collector/lustre/jobstats": {"github.com/prometheus", "log", "regexp"},
	"collector/lustre/jobid":    {"github.com/prometheus", "log"},
	"collector/lustre/ledger":   {"github.com/prometheus", "log"},
}

// source is one parsed Go file of the root module.
type source struct {
	path  string // slash-separated, from the root
	text  string
	fset  *token.FileSet
	ast   *ast.File
	tests bool
}

func (s source) room() string { return path.Dir(s.path) }

// imports returns the import paths of the file.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(fmt.Sprintf("%s: the parser let through the import %s", s.path, spec.Path.Value))
		}
		paths = append(paths, p)
	}
	return paths
}

// parse parses text as the file at the given path.
func parse(file, text string) (source, error) {
	s := source{path: file, text: text, fset: token.NewFileSet(), tests: strings.HasSuffix(file, "_test.go")}
	var err error
	s.ast, err = parser.ParseFile(s.fset, file, text, parser.ParseComments)
	return s, err
}

// sources parses every Go file of the root module that is below root: nested modules, hidden directories and testdata
// are not part of it.
func sources(t *testing.T, root fs.FS) []source {
	t.Helper()
	var all []source
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && outside(root, name, d.Name()):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		s, err := parse(name, string(text))
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// outside tells whether a directory is no part of the module, as the go command sees it.
func outside(root fs.FS, dir, base string) bool {
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil
}

// allowed returns what of ours the room may import: what its own rule says, or, for commands and parts below a room
// without a rule of their own, what the room's says, and the room itself.
func allowed(room string) ([]string, bool) {
	for r := room; r != "."; r = path.Dir(r) {
		if rule, ok := arrows[r]; ok {
			return append(slices.Clone(rule), r), true
		}
	}
	return nil, false
}

// brokenArrows lists the imports of the file that the design does not allow. Tests are free to import other rooms.
func brokenArrows(s source) []string {
	if s.tests {
		return nil
	}
	may, ok := allowed(s.room())
	if !ok {
		return []string{"room " + s.room() + " has no rule in rooms_test.go"}
	}
	var broken []string
	for _, p := range s.imports() {
		ours, ok := strings.CutPrefix(p, module+"/")
		if ok && !slices.Contains(may, ours) && !strings.HasPrefix(ours, s.room()+"/internal") {
			broken = append(broken, "may not import "+ours)
		}
		for room, prefixes := range forbidden {
			if room != s.room() && !strings.HasPrefix(s.room(), room+"/") {
				continue
			}
			for _, f := range prefixes {
				if p == f || strings.HasPrefix(p, f+"/") {
					broken = append(broken, "may not import "+p)
				}
			}
		}
	}
	return broken
}

// inits lists the init functions of the file.
func inits(s source) []string {
	var found []string
	for _, d := range s.ast.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			found = append(found, fmt.Sprintf("init() in line %d", s.fset.Position(f.Pos()).Line))
		}
	}
	return found
}

// tooLong says so of a file of code with more than maxLines lines; tests may be as long as their tables.
func tooLong(s source) []string {
	if n := strings.Count(s.text, "\n"); n > maxLines && !s.tests {
		return []string{fmt.Sprintf("%d lines, more than %d: make it two files with one idea each", n, maxLines)}
	}
	return nil
}

// badHeader says so of a file without the licence header.
func badHeader(s source) []string {
	const header = "// Copyright 2026 The pfs_exporter Authors\n// SPDX-License-Identifier: Apache-2.0\n\n"
	if !strings.HasPrefix(s.text, header) {
		return []string{"does not begin with the two lines of the licence header and an empty one"}
	}
	return nil
}

var rules = map[string]func(source) []string{
	"arrows":  brokenArrows,
	"inits":   inits,
	"lengths": tooLong,
	"headers": badHeader,
}

// repository parses this repository.
func repository(t *testing.T) []source {
	t.Helper()
	files := sources(t, os.DirFS("."))
	if !slices.ContainsFunc(files, func(s source) bool { return s.path == "rooms_test.go" }) {
		t.Fatal("did not find itself; is this the root of the repository?")
	}
	return files
}

func TestRepository(t *testing.T) {
	files := repository(t)
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		t.Run(name, func(t *testing.T) {
			for _, s := range files {
				for _, problem := range rules[name](s) {
					t.Errorf("%s: %s", s.path, problem)
				}
			}
		})
	}
}

// The rules themselves: each must find what it is for, and leave alone what is right.
func TestRules(t *testing.T) {
	const header = "// Copyright 2026 The pfs_exporter Authors\n// SPDX-License-Identifier: Apache-2.0\n\n"
	f := func(rule, file, text string, problems int) {
		t.Helper()
		s, err := parse(file, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := rules[rule](s); len(got) != problems {
			t.Errorf("%s of %s: %q, want %d problems", rule, file, got, problems)
		}
	}
	imports := func(paths ...string) string {
		text := "package p\n"
		for _, p := range paths {
			text += "import _ " + strconv.Quote(p) + "\n"
		}
		return text
	}

	f("arrows", "exporter/main.go", imports(module+"/collector", module+"/collector/lustre/jobid"), 0)
	f("arrows", "exporter/main.go", imports("net/http", "github.com/alecthomas/kingpin/v2", "github.com/go-kit/log"), 0)
	f("arrows", "exporter/main.go", imports(module+"/collector/lustre/jobstats", module+"/simulator"), 2)
	f("arrows", "exporter/main_test.go", imports(module+"/simulator"), 0)
	f("arrows", "collector/collector.go", imports(module+"/exporter", module+"/collector/lustre"), 2)
	f("arrows", "collector/collector.go", imports("net/http", "flag", "github.com/alecthomas/kingpin/v2"), 3)
	f("arrows", "collector/gpfs/gpfs.go", imports(module+"/collector", module+"/collector/exposition"), 0)
	f("arrows", "collector/gpfs/gpfs.go", imports(module+"/collector/lustre/jobid", "net/http/pprof"), 2)
	f("arrows", "collector/exposition/text.go", imports("github.com/prometheus/common/expfmt", module+"/collector"), 1)
	f("arrows", "collector/lustre/lustre.go", imports(module+"/collector", module+"/collector/lustre/ledger"), 0)
	f("arrows", "collector/lustre/jobid/jobid.go", imports("regexp", module+"/collector/lustre/jobstats"), 1)
	f("arrows", "collector/lustre/jobstats/scan.go", imports("regexp", "log/slog", "logger"), 2)
	f("arrows", "collector/lustre/ledger/ledger.go", imports(module+"/collector/lustre/jobid"), 0)
	f("arrows", "collector/lustre/ledger/ledger.go", imports(module+"/collector/lustre/source", "github.com/prometheus/client_golang/prometheus"), 2)
	f("arrows", "simulator/cmd/lustre-simulator/main.go", imports(module+"/simulator", "flag", "log"), 0)
	f("arrows", "somewhere/else.go", imports("fmt"), 1)

	f("inits", "a.go", "package p\nfunc init() {}\ntype t int\nfunc (t) init() {}\nfunc initial() {}\n", 1)

	f("lengths", "a.go", "package p\n"+strings.Repeat("\n", maxLines-1), 0)
	f("lengths", "a.go", "package p\n"+strings.Repeat("\n", maxLines), 1)
	f("lengths", "a_test.go", "package p\n"+strings.Repeat("\n", maxLines), 0)

	f("headers", "a.go", header+"package p\n", 0)
	f("headers", "a.go", header[:len(header)-1]+"package p\n", 1)
	f("headers", "a.go", "package p\n", 1)
}

// Files that are no part of the module must not be judged, and none of the others skipped.
func TestSources(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("package p\n")}
	tree := fstest.MapFS{"a.go": file, "b/c/d.go": file, "b/c/d_test.go": file, "b/notes.txt": file, "go.mod": file}
	for _, skipped := range []string{".build/x.go", "_old/x.go", "b/testdata/x.go", "vendor/x/x.go", "tools/cmd/x.go", "tools/go.mod"} {
		tree[skipped] = file
	}
	var got []string
	for _, s := range sources(t, tree) {
		got = append(got, s.path)
	}
	if want := []string{"a.go", "b/c/d.go", "b/c/d_test.go"}; !slices.Equal(got, want) {
		t.Errorf("sources: %q, want %q", got, want)
	}
}

// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package pfs_exporter_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// Package-level tables and error values are fine as long as nobody writes to them. golangci-lint's gochecknoglobals
// cannot tell, and so lets tables pass (.golangci.yml); this test finds the writes. It goes by names and by what the
// parser resolves inside a file, without types: a write through a method, a
// pointer or a copied slice is not seen.

// globals returns the names of the package-level variables of a package's files.
func globals(files []source) map[string]bool {
	names := make(map[string]bool)
	for _, s := range files {
		for _, spec := range varSpecs(s.ast) {
			for _, n := range spec.Names {
				names[n.Name] = n.Name != "_"
			}
		}
	}
	return names
}

// varSpecs returns the package-level variable declarations of a file.
func varSpecs(f *ast.File) []*ast.ValueSpec {
	var specs []*ast.ValueSpec
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				specs = append(specs, s.(*ast.ValueSpec))
			}
		}
	}
	return specs
}

// writes lists the places of the file that write to one of the package's variables or declare one that is made to be
// written.
func writes(s source, names map[string]bool) []string {
	var found []string
	report := func(n ast.Node, format string, args ...any) {
		found = append(found, fmt.Sprintf("line %d: ", s.fset.Position(n.Pos()).Line)+fmt.Sprintf(format, args...))
	}
	target := func(e ast.Expr) {
		if id := base(e); id != nil && names[id.Name] && isGlobal(s.ast, id) {
			report(e, "writes to the package variable %s", id.Name)
		}
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if n.Tok != token.DEFINE {
					target(e)
				}
			}
		case *ast.IncDecStmt:
			target(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				target(n.Key)
				target(n.Value)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (f.Name == "delete" || f.Name == "clear" || f.Name == "copy") {
				target(n.Args[0])
			}
		}
		return true
	})
	for _, spec := range varSpecs(s.ast) {
		if p := shared(spec); p != "" {
			report(spec, "package variable %s of package %s is state", spec.Names[0].Name, p)
		}
	}
	return found
}

// base returns the variable that an operand is a part of: v of v, v[i], v.f, *v and (v).
func base(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// isGlobal tells whether the identifier is a package-level variable: the parser resolves locals, and the package-level
// names of the same file; those of other files stay unresolved.
func isGlobal(f *ast.File, id *ast.Ident) bool {
	return id.Obj == nil || f.Scope.Lookup(id.Name) == id.Obj
}

// shared returns sync or atomic where a variable's type, or the type of its value, is of there: such a variable exists
// to be written.
func shared(spec *ast.ValueSpec) string {
	types := []ast.Expr{spec.Type}
	for _, v := range spec.Values {
		if u, ok := v.(*ast.UnaryExpr); ok {
			v = u.X
		}
		if c, ok := v.(*ast.CompositeLit); ok {
			types = append(types, c.Type)
		}
	}
	for _, e := range types {
		if sel, ok := e.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && (id.Name == "sync" || id.Name == "atomic") {
				return id.Name
			}
		}
	}
	return ""
}

// packages groups the code, without tests, by room.
func packages(files []source) map[string][]source {
	rooms := make(map[string][]source)
	for _, s := range files {
		if !s.tests {
			rooms[s.room()] = append(rooms[s.room()], s)
		}
	}
	return rooms
}

func TestNoMutableGlobals(t *testing.T) {
	for _, files := range packages(repository(t)) {
		names := globals(files)
		for _, s := range files {
			for _, problem := range writes(s, names) {
				t.Errorf("%s: %s", s.path, problem)
			}
		}
	}
}

func TestWrites(t *testing.T) {
	f := func(code string, problems int) {
		t.Helper()
		declared, err := parse("p/a.go", "package p\nvar table = []int{1}\nvar byName map[string]int\nvar _ = 1\n")
		if err != nil {
			t.Fatal(err)
		}
		s, err := parse("p/b.go", "package p\nvar here int\n"+code+"\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := writes(s, globals([]source{declared, s})); len(got) != problems {
			t.Errorf("%s: %q, want %d problems", strings.TrimSpace(code), got, problems)
		}
	}

	f(`func f() int { return table[0] + here + byName["x"] }`, 0)
	f(`func f() { _ = here; local := table; for i, v := range table { _, _ = i, v }; _ = local }`, 0)
	f(`func f(here int) { here = 1; table := []int{2}; table[0]++ }`, 0)
	f(`type t struct{ table []int }; func (x *t) f() { x.table[0] = 1 }`, 0)
	f(`func f() { here = 1 }`, 1)
	f(`func f() { here, x := 1, 2; _, _ = here, x }`, 0)
	f(`func f() { here++; table[0] += 2; (table)[0]-- }`, 3)
	f(`func f() { byName["x"] = 1; delete(byName, "x"); clear(byName) }`, 3)
	f(`func f() *int { return &here }`, 0)
	f(`func f() { for here = range table { } }`, 1)
	f(`var mu sync.Mutex`, 1)
	f(`var pool = &sync.Pool{}; var n = atomic.Int64{}`, 2)
	f(`func f() { var mu sync.Mutex; mu.Lock() }`, 0)
}

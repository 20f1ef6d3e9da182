package cluster

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// importRules says what each package of the core may import of ours, and why.
var importRules = map[string]struct {
	may []string
	why string
}{
	"sim":        {nil, "a world that knows no Kafka can be trusted to treat all nodes alike"},
	"protocol":   {nil, "the vocabulary depends on nothing"},
	"trace":      {[]string{"sim", "protocol"}, "what is seen must not depend on who does it"},
	"storage":    {[]string{"protocol"}, "a disk knows no time and no network"},
	"coord":      {[]string{"sim", "protocol", "trace"}, "ZooKeeper knows nothing of brokers"},
	"replica":    {[]string{"storage", "coord", "protocol", "sim", "trace"}, "replication does not know the controller"},
	"controller": {[]string{"coord", "protocol", "sim", "trace"}, "the controller decides without looking at logs, as in Kafka"},
	"broker":     {[]string{"replica", "controller", "coord", "storage", "protocol", "sim", "trace"}, "a broker puts its parts together"},
	"client":     {[]string{"protocol", "sim", "trace"}, "clients see brokers only through requests"},
	"check":      {[]string{"trace", "protocol", "coord", "sim"}, "the checker sees what everybody sees: events"},
	"search":     {[]string{"", "check", "coord", "protocol", "sim", "trace"}, "a search drives clusters from outside and sees their events"},
	"":           {[]string{"broker", "client", "controller", "coord", "replica", "storage", "protocol", "sim", "trace", "check"}, "a cluster puts the nodes together"},
}

// standard is what the core may import of the standard library: nothing with a clock,
// a goroutine, I/O or global randomness.
var standard = []string{"cmp", "encoding/json", "errors", "fmt", "math/bits", "slices", "sort", "strconv", "strings", "unicode/utf8"}

// exceptions are imports that need a reason.
var exceptions = map[string]string{
	"protocol: time": "time.ParseDuration and the unit time.Microsecond only; TestNoClock looks for the rest",
}

func eachFile(t *testing.T, f func(pkg, path string, file *ast.File, fset *token.FileSet)) {
	for pkg := range importRules {
		paths, err := filepath.Glob(filepath.Join(".", pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			f(pkg, path, file, fset)
		}
	}
}

func TestImports(t *testing.T) {
	seen := 0
	eachFile(t, func(pkg, path string, file *ast.File, _ *token.FileSet) {
		seen++
		rule := importRules[pkg]
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			ours, ok := strings.CutPrefix(name+"/", "tidemark/cluster/")
			ours = strings.TrimSuffix(ours, "/")
			switch {
			case ok && !slices.Contains(rule.may, ours):
				t.Errorf("%s imports %s: %s", path, name, rule.why)
			case !ok && strings.HasPrefix(name, "tidemark"):
				t.Errorf("%s imports %s: the core knows nothing outside of it", path, name)
			case !ok && !slices.Contains(standard, name) && exceptions[pkg+": "+name] == "":
				t.Errorf("%s imports %s: the core has no clock, goroutine, I/O or global randomness", path, name)
			}
		}
	})
	if seen < 30 {
		t.Errorf("only %d files were looked at", seen)
	}
}

// TestNoGoroutine: no goroutine, select, channel, recover or clock, and no range over a map.
func TestNoGoroutine(t *testing.T) {
	eachFile(t, func(pkg, path string, file *ast.File, fset *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			bad := ""
			switch x := n.(type) {
			case *ast.GoStmt:
				bad = "a goroutine"
			case *ast.SelectStmt:
				bad = "select"
			case *ast.ChanType:
				bad = "a channel"
			case *ast.SelectorExpr:
				if id, ok := x.X.(*ast.Ident); ok && id.Name == "time" && slices.Contains([]string{"Now", "Since", "After", "Sleep", "NewTimer", "NewTicker", "Tick", "AfterFunc", "Until"}, x.Sel.Name) {
					bad = "the clock"
				}
			case *ast.CallExpr:
				if id, ok := x.Fun.(*ast.Ident); ok && id.Name == "recover" {
					bad = "recover"
				}
			}
			if bad != "" {
				t.Errorf("%s: %s in the core", fset.Position(n.Pos()), bad)
			}
			return true
		})
	})
}

// TestMapsAreLookedUpOnly: maps may be looked up and never ranged over. Ranges over maps
// are found by name: every map in the core is a package table, a struct field or a
// variable whose declaration says map.
func TestMapsAreLookedUpOnly(t *testing.T) {
	for pkg := range importRules {
		maps := map[string]bool{}
		var files []*ast.File
		var sets []*token.FileSet
		eachFile(t, func(p, path string, file *ast.File, fset *token.FileSet) {
			if p != pkg {
				return
			}
			files, sets = append(files, file), append(sets, fset)
			ast.Inspect(file, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.Field:
					if _, ok := x.Type.(*ast.MapType); ok {
						for _, name := range x.Names {
							maps[name.Name] = true
						}
					}
				case *ast.ValueSpec:
					_, typed := x.Type.(*ast.MapType)
					for i, name := range x.Names {
						if typed || i < len(x.Values) && isMap(x.Values[i]) {
							maps[name.Name] = true
						}
					}
				case *ast.AssignStmt:
					for i, rhs := range x.Rhs {
						if id, ok := x.Lhs[min(i, len(x.Lhs)-1)].(*ast.Ident); ok && isMap(rhs) {
							maps[id.Name] = true
						}
					}
				}
				return true
			})
		})
		for i, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				r, ok := n.(*ast.RangeStmt)
				if !ok {
					return true
				}
				name := ""
				switch x := r.X.(type) {
				case *ast.Ident:
					name = x.Name
				case *ast.SelectorExpr:
					name = x.Sel.Name
				}
				if maps[name] {
					t.Errorf("%s: a range over the map %s: its order differs from run to run", sets[i].Position(n.Pos()), name)
				}
				return true
			})
		}
	}
}

func isMap(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.CompositeLit:
		_, ok := x.Type.(*ast.MapType)
		return ok
	case *ast.CallExpr:
		if id, ok := x.Fun.(*ast.Ident); ok && id.Name == "make" && len(x.Args) > 0 {
			_, ok := x.Args[0].(*ast.MapType)
			return ok
		}
	}
	return false
}

// TestDesignListsDifferences: every place marked Differs: in the core is collected in DESIGN.md.
func TestDesignListsDifferences(t *testing.T) {
	design, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	eachFile(t, func(pkg, path string, file *ast.File, _ *token.FileSet) {
		for _, c := range file.Comments {
			text := strings.Join(strings.Fields(c.Text()), " ")
			_, rest, ok := strings.Cut(text, "Differs: ")
			if !ok {
				continue
			}
			sentence, _, _ := strings.Cut(rest, ". ")
			sentence = strings.TrimSuffix(sentence, ".")
			if !strings.Contains(strings.Join(strings.Fields(string(design)), " "), sentence) {
				t.Errorf("%s: DESIGN.md does not list %q", path, sentence)
			}
		}
	})
}

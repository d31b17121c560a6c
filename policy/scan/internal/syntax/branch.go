package syntax

import "github.com/tdewolff/parse/v2/js"

// A Branch is a part of the code that a test may skip: the body of an if, the right side of && or ||, a choice of ?:,
// or the statements after one that leaves the block.
type Branch struct {
	// Of is the node of the tree that has the branch.
	Of any
	// Else marks what runs if the test fails, and what follows Of in its block.
	Else bool
}

// A Region is a branch with the function, and the branches of that function, around it.
type Region struct {
	Branch
	// Function is the node of the function; nil stands for the top level.
	Function any
	// Outer is the branch around this one in the same function, or nil.
	Outer *Region
}

// Leaves reports whether nothing that follows a statement in its block runs.
func Leaves(s js.IStmt) bool {
	switch s := s.(type) {
	case *js.ReturnStmt, *js.ThrowStmt, *js.BranchStmt:
		return true
	case *js.BlockStmt:
		return len(s.List) > 0 && Leaves(s.List[len(s.List)-1])
	}
	return false
}

// MayLeave reports whether what follows a statement in its block is a branch of that statement.
func MayLeave(s js.IStmt) bool {
	if s, ok := s.(*js.IfStmt); ok {
		return s.Else == nil && Leaves(s.Body)
	}
	return Leaves(s)
}

package libm

import (
	"encoding/binary"
	"math"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// A formula appends code that leaves one value on the stack, or, as a statement, none.
type formula func(code []byte) []byte

// Opcodes that package wasm does not name.
const (
	f64Const     = 0x44
	i32LtS       = 0x48
	i32GtS       = 0x4a
	i32GeS       = 0x4e
	f64Eq        = 0x61
	f64Ne        = 0x62
	f64Lt        = 0x63
	f64Gt        = 0x64
	i32Xor       = 0x73
	i32ShrS      = 0x75
	i64And       = 0x83
	i64Or        = 0x84
	i64Shl       = 0x86
	f64Abs       = 0x99
	f64Neg       = 0x9a
	f64Sqrt      = 0x9f
	f64Add       = 0xa0
	f64Sub       = 0xa1
	f64Mul       = 0xa2
	f64Div       = 0xa3
	f64Max       = 0xa5
	i32TruncF64S = 0xaa
	f64Convert   = 0xb7
	bitsOfF64    = 0xbd
	f64OfBits    = 0xbf
)

func number(v float64) formula {
	return func(code []byte) []byte {
		return binary.LittleEndian.AppendUint64(append(code, f64Const), math.Float64bits(v))
	}
}

func word(v int64) formula {
	return func(code []byte) []byte { return wasm.AppendInt(append(code, wasm.I32Const), int64(int32(v))) }
}

func long(v int64) formula {
	return func(code []byte) []byte { return wasm.AppendInt(append(code, wasm.I64Const), v) }
}

// A variable is a parameter or a local.
type variable uint64

func (v variable) get(code []byte) []byte {
	return wasm.AppendUint(append(code, wasm.LocalGet), uint64(v))
}

// is sets the variable.
func (v variable) is(f formula) formula {
	return func(code []byte) []byte { return wasm.AppendUint(append(f(code), wasm.LocalSet), uint64(v)) }
}

func unary(op byte, x formula) formula {
	return func(code []byte) []byte { return append(x(code), op) }
}

// operation returns x op y op z, from the left.
func operation(op byte, x formula, rest ...formula) formula {
	return func(code []byte) []byte {
		code = x(code)
		for _, y := range rest {
			code = append(y(code), op)
		}
		return code
	}
}

// Operations with numbers.

func sum(x formula, rest ...formula) formula        { return operation(f64Add, x, rest...) }
func difference(x formula, rest ...formula) formula { return operation(f64Sub, x, rest...) }
func product(x formula, rest ...formula) formula    { return operation(f64Mul, x, rest...) }
func quotient(x, y formula) formula                 { return operation(f64Div, x, y) }
func negative(x formula) formula                    { return unary(f64Neg, x) }
func absolute(x formula) formula                    { return unary(f64Abs, x) }
func root(x formula) formula                        { return unary(f64Sqrt, x) }
func below(x, y formula) formula                    { return operation(f64Lt, x, y) }
func above(x, y formula) formula                    { return operation(f64Gt, x, y) }
func equal(x, y formula) formula                    { return operation(f64Eq, x, y) }
func isNaN(x formula) formula                       { return operation(f64Ne, x, x) }
func fromWord(x formula) formula                    { return unary(f64Convert, x) }

// Operations with words.

func plus(x, y formula) formula    { return operation(wasm.I32Add, x, y) }
func minus(x, y formula) formula   { return operation(wasm.I32Sub, x, y) }
func and(x, y formula) formula     { return operation(wasm.I32And, x, y) }
func or(x, y formula) formula      { return operation(wasm.I32Or, x, y) }
func left(x, y formula) formula    { return operation(wasm.I32Shl, x, y) }
func right(x, y formula) formula   { return operation(i32ShrS, x, y) }
func same(x, y formula) formula    { return operation(wasm.I32Eq, x, y) }
func less(x, y formula) formula    { return operation(i32LtS, x, y) }
func greater(x, y formula) formula { return operation(i32GtS, x, y) }
func atLeast(x, y formula) formula { return operation(i32GeS, x, y) }
func zero(x formula) formula       { return unary(wasm.I32Eqz, x) }
func not(x formula) formula        { return operation(i32Xor, x, word(-1)) }

// series returns c[0] + t*(c[1] + t*(c[2] + …)).
func series(t formula, c ...float64) formula {
	if len(c) == 1 {
		return number(c[0])
	}
	return sum(number(c[0]), product(t, series(t, c[1:]...)))
}

// high returns the upper word of a number, and low the lower.
func high(x formula) formula {
	return unary(wasm.I32WrapI64, operation(wasm.I64ShrU, unary(bitsOfF64, x), long(32)))
}

func low(x formula) formula { return unary(wasm.I32WrapI64, unary(bitsOfF64, x)) }

// withHigh returns a number with another upper word.
func withHigh(x, upper formula) formula {
	return unary(f64OfBits, operation(i64Or, operation(i64And, unary(bitsOfF64, x), long(1<<32-1)),
		operation(i64Shl, unary(wasm.I64ExtendU, upper), long(32))))
}

// rounded returns a number whose lower word is zero.
func rounded(x formula) formula {
	return unary(f64OfBits, operation(i64And, unary(bitsOfF64, x), long(-1<<32)))
}

// powerOfTwo returns 2 to the power of a word from -1022 to 1023.
func powerOfTwo(n formula) formula {
	return withHigh(number(0), plus(word(0x3ff<<20), left(n, word(20))))
}

// do returns statements as one.
func do(statements ...formula) formula {
	return func(code []byte) []byte {
		for _, s := range statements {
			code = s(code)
		}
		return code
	}
}

// when runs statements if a condition holds.
func when(condition formula, statements ...formula) formula {
	return func(code []byte) []byte {
		return append(do(statements...)(append(condition(code), wasm.If, wasm.BlockEmpty)), wasm.End)
	}
}

// whether runs one of two statements.
func whether(condition, yes, no formula) formula {
	return func(code []byte) []byte {
		code = append(yes(append(condition(code), wasm.If, wasm.BlockEmpty)), wasm.Else)
		return append(no(code), wasm.End)
	}
}

// choose returns one of two values, which are both computed.
func choose(condition, yes, no formula) formula {
	return func(code []byte) []byte { return append(condition(no(yes(code))), wasm.Select) }
}

// answer returns from the function.
func answer(x formula) formula { return unary(wasm.Return, x) }

// call returns the value of a function.
func call(function uint64, arguments ...formula) formula {
	return func(code []byte) []byte { return wasm.AppendUint(append(do(arguments...)(code), wasm.Call), function) }
}

// body returns the body of a function with locals: numbers and then words. The last statement leaves the result.
func body(numbers, words byte, statements ...formula) []byte {
	code := do(statements...)([]byte{2, numbers, wasm.TypeF64, words, wasm.TypeI32})
	return append(code, wasm.End)
}

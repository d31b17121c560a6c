package libm

import "math"

const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
	invLn2  = 1.44269504088896338700e+00

	overflow = 710.4758600739440 // of which the hyperbolic sine and cosine are infinite
)

// expSeries are the coefficients of x - x*(exp(x)+1)/(exp(x)-1) in the square of x.
var expSeries = []float64{
	1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05, -1.65339022054652515390e-06,
	4.13813679705723846039e-08,
}

// Functions are the types of the functions: their parameters and their result, where d is a number and i a word.
var Functions = map[string][2]string{
	"exp": {"d", "d"}, "log": {"d", "d"}, "log1p": {"d", "d"}, "log10": {"d", "d"}, "log2": {"d", "d"},
	"pow": {"dd", "d"}, "cosh": {"d", "d"}, "tanh": {"d", "d"}, "sinh": {"d", "d"}, "asinh": {"d", "d"},
	"acosh": {"d", "d"}, "hypot": {"dd", "d"}, "__cos": {"dd", "d"}, "__sin": {"ddi", "d"}, // have bodies
	"expm1": {"d", "d"}, "scalbn": {"di", "d"}, // are called
}

// Bodies returns the bodies of the functions that have one. index returns the index of a function of [Functions].
func Bodies(index func(name string) uint64) map[string][]byte {
	return map[string][]byte{
		"exp": exp(), "log": log(), "log1p": log1p(), "log10": log10(index("log")), "log2": log2(),
		"pow":  pow(index("scalbn")),
		"cosh": cosh(index("exp"), index("expm1")), "tanh": tanh(index("expm1")),
		"sinh": sinh(index("exp"), index("expm1")), "asinh": asinh(index("log"), index("log1p")),
		"acosh": acosh(index("log"), index("log1p")), "hypot": hypot(),
		"__cos": cosine(), "__sin": sine(),
	}
}

func exp() []byte {
	const (
		x, hi, lo, t, c, y variable = 0, 1, 2, 3, 4, 5
		hx, k              variable = 6, 7
	)
	negative := below(x.get, number(0))
	return body(5, 2,
		when(isNaN(x.get), answer(x.get)),
		when(above(x.get, number(7.09782712893383973096e+02)), answer(number(math.Inf(1)))),
		when(below(x.get, number(-7.45133219101941108420e+02)), answer(number(0))),
		hx.is(and(high(x.get), word(0x7fffffff))),
		whether(greater(hx.get, word(0x3fd62e42)), // |x| > ln2/2
			do(
				whether(less(hx.get, word(0x3ff0a2b2)), // |x| < 1.5*ln2
					do(
						when(equal(x.get, number(1)), answer(number(math.E))),
						k.is(choose(negative, word(-1), word(1))),
					),
					k.is(unary(i32TruncF64S, sum(product(number(invLn2), x.get), choose(negative, number(-0.5), number(0.5))))),
				),
				t.is(fromWord(k.get)),
				hi.is(difference(x.get, product(t.get, number(ln2High)))),
				lo.is(product(t.get, number(ln2Low))),
				x.is(difference(hi.get, lo.get)),
			),
			when(less(hx.get, word(0x3e300000)), answer(sum(number(1), x.get))), // |x| < 2**-28
		),
		t.is(product(x.get, x.get)),
		c.is(difference(x.get, product(t.get, series(t.get, expSeries...)))),
		when(zero(k.get), answer(difference(number(1),
			difference(quotient(product(x.get, c.get), difference(c.get, number(2))), x.get)))),
		y.is(difference(number(1), difference(
			difference(lo.get, quotient(product(x.get, c.get), difference(number(2), c.get))), hi.get))),
		when(same(k.get, word(1024)), answer(product(y.get, number(2), number(0x1p1023)))),
		when(atLeast(k.get, word(-1021)), answer(product(y.get, powerOfTwo(k.get)))),
		product(y.get, powerOfTwo(plus(k.get, word(1000))), number(0x1p-1000)),
	)
}

// normal answers what logarithms give for zero, negative numbers, infinity and NaN. It sets hx to the upper word of
// another x, after multiplying a subnormal x by 2 to the power of -k.
func normal(x, hx, k variable) formula {
	return do(
		hx.is(high(x.get)),
		when(less(hx.get, word(0x00100000)), // x < 2**-1022
			when(equal(x.get, number(0)), answer(number(math.Inf(-1)))),
			when(less(hx.get, word(0)), answer(number(math.NaN()))),
			k.is(word(-54)), x.is(product(x.get, number(0x1p54))), hx.is(high(x.get)),
		),
		when(atLeast(hx.get, word(0x7ff00000)), answer(sum(x.get, x.get))),
	)
}

func log() []byte {
	const (
		x, f, s, z, w, r, n variable = 0, 1, 2, 3, 4, 5, 6
		hx, k, i            variable = 7, 8, 9
	)
	// k*ln2 - (y - f), in two parts
	scaled := func(y formula) formula {
		return difference(product(n.get, number(ln2High)), difference(y, f.get))
	}
	small := product(n.get, number(ln2Low))
	half := product(number(0.5), f.get, f.get)
	return body(6, 3,
		normal(x, hx, k),
		reduced(x, f, n, hx, k, i),
		when(less(and(word(0x000fffff), plus(word(2), hx.get)), word(3)), // |f| < 2**-20
			when(equal(f.get, number(0)), answer(sum(product(n.get, number(ln2High)), small))),
			r.is(product(f.get, f.get, difference(number(0.5), product(number(0.33333333333333333), f.get)))),
			when(zero(k.get), answer(difference(f.get, r.get))),
			answer(scaled(difference(r.get, small))),
		),
		s.is(quotient(f.get, sum(number(2), f.get))),
		z.is(product(s.get, s.get)),
		w.is(product(z.get, z.get)),
		r.is(sum(
			product(z.get, series(w.get,
				6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01)),
			product(w.get, series(w.get, 3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)),
		)),
		when(greater(or(minus(hx.get, word(0x6147a)), minus(word(0x6b851), hx.get)), word(0)),
			z.is(half),
			r.is(product(s.get, sum(z.get, r.get))),
			when(zero(k.get), answer(difference(f.get, difference(z.get, r.get)))),
			answer(scaled(difference(z.get, sum(r.get, small)))),
		),
		r.is(product(s.get, difference(f.get, r.get))),
		when(zero(k.get), answer(difference(f.get, r.get))),
		scaled(difference(r.get, small)),
	)
}

func log1p() []byte {
	const (
		x, u, f, c, s, z, r, n variable = 0, 1, 2, 3, 4, 5, 6, 7
		hx, hu, k              variable = 8, 9, 10
	)
	scaled := func(y formula) formula {
		return difference(product(n.get, number(ln2High)), difference(y, f.get))
	}
	small := sum(product(n.get, number(ln2Low)), c.get)
	return body(7, 3,
		when(isNaN(x.get), answer(x.get)),
		when(equal(x.get, number(-1)), answer(number(math.Inf(-1)))),
		when(below(x.get, number(-1)), answer(number(math.NaN()))),
		when(equal(x.get, number(math.Inf(1))), answer(x.get)),
		when(below(absolute(x.get), number(0x1p-29)),
			when(below(absolute(x.get), number(0x1p-54)), answer(x.get)),
			answer(difference(x.get, product(x.get, x.get, number(0.5)))),
		),
		hx.is(high(x.get)),
		whether(and(less(hx.get, word(0x3fda827a)), or(greater(hx.get, word(0)), less(hx.get, word(-0x402d413c)))),
			do(f.is(x.get), hu.is(word(1))), // -0.2929 < x < 0.41422
			do(
				whether(less(hx.get, word(0x43400000)), // 2**53
					do(
						u.is(sum(number(1), x.get)),
						k.is(minus(right(high(u.get), word(20)), word(1023))),
						c.is(choose(greater(k.get, word(0)),
							difference(number(1), difference(u.get, x.get)), difference(x.get, difference(u.get, number(1))))),
						c.is(quotient(c.get, u.get)),
					),
					do(u.is(x.get), k.is(minus(right(hx.get, word(20)), word(1023)))),
				),
				hu.is(and(high(u.get), word(0x000fffff))),
				whether(less(hu.get, word(0x6a09e)), // u < sqrt(2)
					u.is(withHigh(u.get, or(hu.get, word(0x3ff00000)))),
					do(
						k.is(plus(k.get, word(1))),
						u.is(withHigh(u.get, or(hu.get, word(0x3fe00000)))),
						hu.is(right(minus(word(0x00100000), hu.get), word(2))),
					),
				),
				f.is(difference(u.get, number(1))),
			),
		),
		n.is(fromWord(k.get)),
		u.is(product(number(0.5), f.get, f.get)),
		when(zero(hu.get), // |f| < 2**-20
			when(equal(f.get, number(0)), answer(sum(product(n.get, number(ln2High)), small))),
			r.is(product(u.get, difference(number(1), product(number(0.66666666666666666), f.get)))),
			when(zero(k.get), answer(difference(f.get, r.get))),
			answer(scaled(difference(r.get, small))),
		),
		s.is(quotient(f.get, sum(number(2), f.get))),
		z.is(product(s.get, s.get)),
		r.is(product(z.get, series(z.get, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
			2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01))),
		r.is(product(s.get, sum(u.get, r.get))),
		when(zero(k.get), answer(difference(f.get, difference(u.get, r.get)))),
		scaled(difference(u.get, sum(r.get, small))),
	)
}

// reduced splits x, whose high word is in hx, into 2**n * (1+f) with sqrt(2)/2 < 1+f < sqrt(2). k holds what normal
// left there, and then n.
func reduced(x, f, n, hx, k, i variable) formula {
	return do(
		k.is(plus(k.get, minus(right(hx.get, word(20)), word(1023)))),
		hx.is(and(hx.get, word(0x000fffff))),
		i.is(and(plus(hx.get, word(0x95f64)), word(0x100000))),
		x.is(withHigh(x.get, or(hx.get, minus(word(0x3ff00000), i.get)))), // x or x/2
		k.is(plus(k.get, right(i.get, word(20)))),
		n.is(fromWord(k.get)),
		f.is(difference(x.get, number(1))),
	)
}

// log2 returns the body of log2 with the formula of FreeBSD, which V8 has in place of fdlibm's.
func log2() []byte {
	const (
		x, f, s, z, w, r, hi, lo, n variable = 0, 1, 2, 3, 4, 5, 6, 7, 8
		hx, k, i                    variable = 9, 10, 11
		invLn2High                           = 1.44269504072144627571e+00
		invLn2Low                            = 1.67517131648865118353e-10
	)
	half := product(number(0.5), f.get, f.get)
	return body(8, 3,
		normal(x, hx, k),
		when(equal(x.get, number(1)), answer(number(0))),
		reduced(x, f, n, hx, k, i),
		s.is(quotient(f.get, sum(number(2), f.get))),
		z.is(product(s.get, s.get)),
		w.is(product(z.get, z.get)),
		r.is(sum(
			product(z.get, series(w.get,
				6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01)),
			product(w.get, series(w.get, 3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)),
		)),
		r.is(product(s.get, sum(half, r.get))),
		hi.is(rounded(difference(f.get, half))),
		lo.is(sum(difference(f.get, hi.get, half), r.get)),
		z.is(product(hi.get, number(invLn2High))),
		r.is(sum(product(sum(lo.get, hi.get), number(invLn2Low)), product(lo.get, number(invLn2High)))),
		w.is(sum(n.get, z.get)),
		sum(r.get, sum(difference(n.get, w.get), z.get), w.get),
	)
}

func log10(log uint64) []byte {
	const (
		x, y     variable = 0, 1
		hx, k, i variable = 2, 3, 4
	)
	return body(1, 3,
		normal(x, hx, k),
		when(equal(x.get, number(1)), answer(number(0))),
		k.is(plus(k.get, minus(right(hx.get, word(20)), word(1023)))),
		i.is(choose(less(k.get, word(0)), word(1), word(0))),
		x.is(withHigh(x.get, or(and(hx.get, word(0x000fffff)), left(minus(word(0x3ff), i.get), word(20))))),
		y.is(fromWord(plus(k.get, i.get))),
		sum(
			sum(product(y.get, number(3.69423907715893078616e-13)),
				product(number(4.34294481903251816668e-01), call(log, x.get))),
			product(y.get, number(3.01029995663611771306e-01)),
		),
	)
}

func cosh(exp, expm1 uint64) []byte {
	const (
		x, t, w variable = 0, 1, 2
		ix      variable = 3
	)
	return body(2, 1,
		x.is(absolute(x.get)),
		ix.is(high(x.get)),
		when(below(x.get, number(22)),
			when(less(ix.get, word(0x3fd62e43)), // |x| < ln2/2
				t.is(call(expm1, x.get)),
				w.is(sum(number(1), t.get)),
				when(less(ix.get, word(0x3c800000)), answer(w.get)), // |x| < 2**-55
				answer(sum(number(1), quotient(product(t.get, t.get), sum(w.get, w.get)))),
			),
			t.is(call(exp, x.get)),
			answer(sum(product(number(0.5), t.get), quotient(number(0.5), t.get))),
		),
		when(below(x.get, number(709.7822265625)), answer(product(number(0.5), call(exp, x.get)))),
		when(below(x.get, number(overflow)),
			w.is(call(exp, product(number(0.5), x.get))),
			answer(product(product(number(0.5), w.get), w.get)),
		),
		product(x.get, number(math.Inf(1))),
	)
}

func sinh(exp, expm1 uint64) []byte {
	const x, a, h, t variable = 0, 1, 2, 3
	return body(3, 0,
		a.is(absolute(x.get)),
		h.is(choose(below(x.get, number(0)), number(-0.5), number(0.5))),
		when(below(a.get, number(22)),
			when(below(a.get, number(0x1p-28)), answer(x.get)),
			t.is(call(expm1, a.get)),
			when(below(a.get, number(1)), answer(product(h.get, difference(product(number(2), t.get),
				quotient(product(t.get, t.get), sum(t.get, number(1))))))),
			answer(product(h.get, sum(t.get, quotient(t.get, sum(t.get, number(1)))))),
		),
		when(below(a.get, number(709.7822265625)), answer(product(h.get, call(exp, a.get)))),
		when(below(a.get, number(overflow)),
			t.is(call(exp, product(number(0.5), a.get))),
			answer(product(h.get, t.get, t.get)),
		),
		product(x.get, number(math.Inf(1))),
	)
}

func asinh(log, log1p uint64) []byte {
	const x, a, t, ix variable = 0, 1, 2, 3
	return body(2, 1,
		a.is(absolute(x.get)),
		ix.is(high(a.get)),
		when(or(atLeast(ix.get, word(0x7ff00000)), less(ix.get, word(0x3e300000))), answer(x.get)), // infinite, or < 2**-28
		t.is(product(x.get, x.get)),
		whether(greater(ix.get, word(0x41b00000)), // |x| > 2**28
			t.is(sum(call(log, a.get), number(math.Ln2))),
			whether(greater(ix.get, word(0x40000000)), // |x| > 2
				t.is(call(log, sum(product(number(2), a.get),
					quotient(number(1), sum(root(sum(t.get, number(1))), a.get))))),
				t.is(call(log1p, sum(a.get, quotient(t.get, sum(number(1), root(sum(number(1), t.get))))))),
			),
		),
		choose(below(x.get, number(0)), negative(t.get), t.get),
	)
}

func acosh(log, log1p uint64) []byte {
	const x, t, hx variable = 0, 1, 2
	return body(1, 1,
		hx.is(high(x.get)),
		when(zero(atLeast(hx.get, word(0x3ff00000))), answer(number(math.NaN()))), // x < 1
		when(atLeast(hx.get, word(0x7ff00000)), answer(sum(x.get, x.get))),
		when(atLeast(hx.get, word(0x41b00000)), answer(sum(call(log, x.get), number(math.Ln2)))), // x >= 2**28
		when(greater(hx.get, word(0x40000000)), // x > 2
			t.is(product(x.get, x.get)),
			answer(call(log, difference(product(number(2), x.get),
				quotient(number(1), sum(x.get, root(difference(t.get, number(1)))))))),
		),
		t.is(difference(x.get, number(1))),
		call(log1p, sum(t.get, root(sum(product(number(2), t.get), product(t.get, t.get))))),
	)
}

func tanh(expm1 uint64) []byte {
	const x, a, t, z variable = 0, 1, 2, 3
	return body(3, 0,
		when(isNaN(x.get), answer(x.get)),
		a.is(absolute(x.get)),
		when(below(a.get, number(0x1p-28)), answer(x.get)),
		whether(below(a.get, number(22)),
			whether(below(a.get, number(1)),
				do(
					t.is(call(expm1, product(number(-2), a.get))),
					z.is(quotient(negative(t.get), sum(t.get, number(2)))),
				),
				do(
					t.is(call(expm1, product(number(2), a.get))),
					z.is(difference(number(1), quotient(number(2), sum(t.get, number(2))))),
				),
			),
			z.is(number(1)),
		),
		choose(below(x.get, number(0)), negative(z.get), z.get),
	)
}

// hypot returns the body of V8's Math.hypot for two numbers, which are scaled by the larger one.
func hypot() []byte {
	const x, y, most variable = 0, 1, 2
	return body(1, 0,
		x.is(absolute(x.get)), y.is(absolute(y.get)),
		when(or(equal(x.get, number(math.Inf(1))), equal(y.get, number(math.Inf(1)))), answer(number(math.Inf(1)))),
		most.is(operation(f64Max, x.get, y.get)),
		when(or(equal(most.get, number(0)), isNaN(most.get)), answer(most.get)),
		x.is(quotient(x.get, most.get)), y.is(quotient(y.get, most.get)),
		product(root(sum(product(x.get, x.get), product(y.get, y.get))), most.get),
	)
}

package libm

import (
	"math"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// pow returns x**y for all but the cases in which JavaScript differs from C. It computes log2(|x|) as t1+t2, and then 2
// to the power of y times that.
func pow(scalbn uint64) []byte {
	const (
		x, y, ax, s, t1, t2, t, u, v, w, r, z variable = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
		ss, sh, sl, s2, th, tl, ph, pl, bp    variable = 12, 13, 14, 15, 16, 17, 18, 19, 20
		hx, hy, ix, iy, lx, ly                variable = 21, 22, 23, 24, 25, 26
		j, k, n, yisint                       variable = 27, 28, 29, 30
	)
	infinity, none := number(math.Inf(1)), number(0)
	const oddOrEven = 2
	// parity sets yisint for y that is an integer if its bits from position at on are.
	parity := func(bits, at formula) formula {
		return do(
			j.is(operation(wasm.I32ShrU, bits, at)),
			when(same(left(j.get, at), bits), yisint.is(minus(word(oddOrEven), and(j.get, word(1))))),
		)
	}
	special := when(zero(ly.get),
		when(same(iy.get, word(0x7ff00000)), // y is infinite
			when(zero(or(minus(ix.get, word(0x3ff00000)), lx.get)), answer(number(math.NaN()))),
			when(atLeast(ix.get, word(0x3ff00000)), answer(choose(less(hy.get, word(0)), none, y.get))),
			answer(choose(less(hy.get, word(0)), negative(y.get), none)),
		),
		when(same(iy.get, word(0x3ff00000)), // y is 1 or -1
			answer(choose(less(hy.get, word(0)), quotient(number(1), x.get), x.get))),
		when(same(hy.get, word(0x40000000)), answer(product(x.get, x.get))),
		when(and(same(hy.get, word(0x3fe00000)), atLeast(hx.get, word(0))), answer(root(x.get))),
	)
	simple := or(same(ix.get, word(0x7ff00000)), or(zero(ix.get), same(ix.get, word(0x3ff00000))))
	trivial := when(and(zero(lx.get), simple),
		z.is(choose(less(hy.get, word(0)), quotient(number(1), ax.get), ax.get)), // |x| is infinite, 0 or 1
		when(less(hx.get, word(0)),
			when(zero(or(minus(ix.get, word(0x3ff00000)), yisint.get)), answer(number(math.NaN()))),
			when(same(yisint.get, word(1)), answer(negative(z.get))),
		),
		answer(z.get),
	)
	// y is so large that only x near 1 does not over- or underflow.
	huge := do(
		when(greater(iy.get, word(0x43f00000)), // |y| > 2**64
			answer(choose(same(less(ix.get, word(0x3ff00000)), less(hy.get, word(0))), infinity, none))),
		when(less(ix.get, word(0x3fefffff)), answer(product(s.get, choose(less(hy.get, word(0)), infinity, none)))),
		when(greater(ix.get, word(0x3ff00000)), answer(product(s.get, choose(less(hy.get, word(0)), none, infinity)))),
		t.is(difference(ax.get, number(1))),
		w.is(product(product(t.get, t.get), difference(number(0.5), product(t.get,
			difference(number(0.3333333333333333333333), product(t.get, number(0.25))))))),
		u.is(product(number(1.44269502162933349609e+00), t.get)),
		v.is(difference(product(t.get, number(1.92596299112661746887e-08)), product(w.get, number(invLn2)))),
		t1.is(rounded(sum(u.get, v.get))),
		t2.is(difference(v.get, difference(t1.get, u.get))),
	)
	const (
		cpHigh = 9.61796700954437255859e-01 // 2/(3*ln2)
		cpLow  = -7.02846165095275826516e-09
		dpHigh = 5.84962487220764160156e-01 // log2(1.5)
		dpLow  = 1.35003920212974897128e-08
	)
	ofInterval := func(v float64) formula { return choose(k.get, number(v), number(0)) }
	ordinary := do(
		when(less(ix.get, word(0x00100000)), // a subnormal number
			ax.is(product(ax.get, number(0x1p53))), n.is(word(-53)), ix.is(high(ax.get))),
		n.is(plus(n.get, minus(right(ix.get, word(20)), word(0x3ff)))),
		j.is(and(ix.get, word(0x000fffff))),
		ix.is(or(j.get, word(0x3ff00000))),
		k.is(word(0)),
		when(greater(j.get, word(0x3988e)), // |x| >= sqrt(3/2)
			whether(less(j.get, word(0xbb67a)), // |x| < sqrt(3)
				k.is(word(1)),
				do(n.is(plus(n.get, word(1))), ix.is(minus(ix.get, word(0x00100000)))),
			),
		),
		ax.is(withHigh(ax.get, ix.get)),
		bp.is(choose(k.get, number(1.5), number(1))),
		u.is(difference(ax.get, bp.get)), v.is(quotient(number(1), sum(ax.get, bp.get))),
		ss.is(product(u.get, v.get)), sh.is(rounded(ss.get)),
		th.is(withHigh(number(0), plus(or(right(ix.get, word(1)), word(0x20000000)),
			plus(word(0x00080000), left(k.get, word(18)))))),
		tl.is(difference(ax.get, difference(th.get, bp.get))),
		sl.is(product(v.get, difference(difference(u.get, product(sh.get, th.get)), product(sh.get, tl.get)))),
		s2.is(product(ss.get, ss.get)),
		r.is(product(s2.get, s2.get, series(s2.get, 5.99999999999994648725e-01, 4.28571428578550184252e-01,
			3.33333329818377432918e-01, 2.72728123808534006489e-01, 2.30660745775561754067e-01, 2.06975017800338417784e-01))),
		r.is(sum(r.get, product(sl.get, sum(sh.get, ss.get)))),
		s2.is(product(sh.get, sh.get)),
		th.is(rounded(sum(number(3), s2.get, r.get))),
		tl.is(difference(r.get, difference(difference(th.get, number(3)), s2.get))),
		u.is(product(sh.get, th.get)),
		v.is(sum(product(sl.get, th.get), product(tl.get, ss.get))),
		ph.is(rounded(sum(u.get, v.get))), pl.is(difference(v.get, difference(ph.get, u.get))),
		z.is(product(number(cpHigh), ph.get)),
		w.is(sum(product(number(cpLow), ph.get), product(pl.get, number(9.61796693925975554329e-01)), ofInterval(dpLow))),
		t.is(fromWord(n.get)),
		t1.is(rounded(sum(sum(sum(z.get, w.get), ofInterval(dpHigh)), t.get))),
		t2.is(difference(w.get, difference(difference(difference(t1.get, t.get), ofInterval(dpHigh)), z.get))),
	)
	overflow := when(atLeast(j.get, word(0x40900000)), // z >= 1024
		when(or(or(minus(j.get, word(0x40900000)), low(z.get)),
			above(sum(pl.get, number(8.0085662595372944372e-17)), difference(z.get, ph.get))),
			answer(product(s.get, infinity))),
	)
	underflow := when(atLeast(magnitude(j), word(0x4090cc00)), // z <= -1075, as z < 1024
		when(or(or(minus(j.get, word(-0x3f6f3400)), low(z.get)), zero(above(pl.get, difference(z.get, ph.get)))),
			answer(product(s.get, none))),
	)
	return body(19, 10,
		hx.is(high(x.get)), lx.is(low(x.get)), ix.is(magnitude(hx)),
		hy.is(high(y.get)), ly.is(low(y.get)), iy.is(magnitude(hy)),
		when(equal(y.get, number(0)), answer(number(1))),
		when(or(isNaN(x.get), isNaN(y.get)), answer(sum(x.get, y.get))),
		when(less(hx.get, word(0)),
			whether(atLeast(iy.get, word(0x43400000)),
				yisint.is(word(oddOrEven)),
				when(atLeast(iy.get, word(0x3ff00000)),
					k.is(minus(right(iy.get, word(20)), word(0x3ff))),
					whether(greater(k.get, word(20)),
						parity(ly.get, minus(word(52), k.get)),
						when(zero(ly.get), parity(iy.get, minus(word(20), k.get))),
					),
				),
			),
		),
		special,
		ax.is(absolute(x.get)),
		trivial,
		s.is(number(1)),
		when(less(hx.get, word(0)),
			when(zero(yisint.get), answer(number(math.NaN()))),
			when(same(yisint.get, word(1)), s.is(number(-1))),
		),
		n.is(word(0)),
		whether(greater(iy.get, word(0x41e00000)), huge, ordinary),

		t.is(rounded(y.get)),
		pl.is(sum(product(difference(y.get, t.get), t1.get), product(y.get, t2.get))),
		ph.is(product(t.get, t1.get)),
		z.is(sum(pl.get, ph.get)),
		j.is(high(z.get)),
		overflow,
		underflow,
		n.is(word(0)),
		when(greater(magnitude(j), word(0x3fe00000)), // |z| > 0.5: n is z, rounded
			k.is(minus(right(magnitude(j), word(20)), word(0x3ff))),
			n.is(plus(j.get, right(word(0x00100000), plus(k.get, word(1))))),
			k.is(minus(right(magnitude(n), word(20)), word(0x3ff))),
			ix.is(and(n.get, not(right(word(0x000fffff), k.get)))),
			ph.is(difference(ph.get, withHigh(number(0), ix.get))),
			n.is(right(or(and(n.get, word(0x000fffff)), word(0x00100000)), minus(word(20), k.get))),
			when(less(j.get, word(0)), n.is(minus(word(0), n.get))),
		),
		t.is(rounded(sum(pl.get, ph.get))),
		u.is(product(t.get, number(6.93147182464599609375e-01))),
		v.is(sum(product(difference(pl.get, difference(t.get, ph.get)), number(6.93147180559945286227e-01)),
			product(t.get, number(-1.90465429995776804525e-09)))),
		z.is(sum(u.get, v.get)),
		w.is(difference(v.get, difference(z.get, u.get))),
		t.is(product(z.get, z.get)),
		t1.is(difference(z.get, product(t.get, series(t.get, expSeries...)))),
		r.is(quotient(product(z.get, t1.get), difference(difference(t1.get, number(2)), sum(w.get, product(z.get, w.get))))),
		z.is(difference(number(1), difference(r.get, z.get))),
		j.is(plus(high(z.get), left(n.get, word(20)))),
		when(less(right(j.get, word(20)), word(1)), answer(product(s.get, call(scalbn, z.get, n.get)))), // subnormal
		product(s.get, withHigh(z.get, j.get)),
	)
}

// magnitude returns an upper word without the sign of its number.
func magnitude(v variable) formula { return and(v.get, word(0x7fffffff)) }

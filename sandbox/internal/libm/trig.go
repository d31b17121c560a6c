package libm

// cosine returns cos(x+y) for |x| of at most π/4, where y is what x was rounded by.
func cosine() []byte {
	const (
		x, y, z, r, q variable = 0, 1, 2, 3, 4
		ix            variable = 5
	)
	rest := difference(product(z.get, r.get), product(x.get, y.get))
	return body(3, 1,
		ix.is(and(high(x.get), word(0x7fffffff))),
		when(below(absolute(x.get), number(0x1p-27)), answer(number(1))),
		z.is(product(x.get, x.get)),
		r.is(product(z.get, series(z.get, 4.16666666666666019037e-02, -1.38888888888741095749e-03,
			2.48015872894767294178e-05, -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11))),
		when(less(ix.get, word(0x3fd33333)), // |x| < 0.3
			answer(difference(number(1), difference(product(number(0.5), z.get), rest)))),
		q.is(choose(greater(ix.get, word(0x3fe90000)), number(0.28125), // |x| > 0.78125; else about x/4
			withHigh(number(0), minus(ix.get, word(0x00200000))))),
		difference(difference(number(1), q.get),
			difference(difference(product(number(0.5), z.get), q.get), rest)),
	)
}

// sine returns sin(x+y) for |x| of at most π/4, where y is what x was rounded by, which is nothing if inexact is 0.
func sine() []byte {
	const (
		x, y    variable = 0, 1
		inexact variable = 2
		z, r, v variable = 3, 4, 5
		s1      float64  = -1.66666666666666324348e-01
	)
	return body(3, 0,
		when(below(absolute(x.get), number(0x1p-27)), answer(x.get)),
		z.is(product(x.get, x.get)),
		v.is(product(z.get, x.get)),
		r.is(series(z.get, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
			-2.50507602534068634195e-08, 1.58969099521155010221e-10)),
		when(zero(inexact.get),
			answer(sum(x.get, product(v.get, sum(number(s1), product(z.get, r.get)))))),
		difference(x.get, difference(
			difference(product(z.get, difference(product(number(0.5), y.get), product(v.get, r.get))), y.get),
			product(v.get, number(s1)))),
	)
}

// Package libm has functions of mathematics, as bodies of WebAssembly functions, that give the values of V8.
//
// The C library of the engine's build, musl, rounds a tenth of all powers, exponentials and logarithms to the other
// neighbour, so that programs print another last digit than in Node.js. V8 has fdlibm, whose formulas and constants
// these are. Where V8 differs from fdlibm, they follow V8: in the last division of pow, in hypot, and
// in log2, which is FreeBSD's.
//
//	Copyright (C) 1993-2004 by Sun Microsystems, Inc. All rights reserved.
//	Developed at SunSoft, a Sun Microsystems, Inc. business.
//	Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is
//	preserved.
//
// Only package rewrite imports it. Start with [Bodies]; formula.go has the notation in which libm.go is written.
package libm

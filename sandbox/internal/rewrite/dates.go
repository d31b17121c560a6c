package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// The engine reads dates of other forms than the standard's in its own way: it takes "1/32/2024" for a date, and does
// not take "24 January". An added function takes the place of js_Date_parse, which is also what new Date(text) calls,
// and asks the host for texts that are not in the commonest forms of the standard's format:
//
//	date(ctx, this, argc, argv):
//		text = JS_ToString(ctx, argv[0])
//		if text looks like 2024-01-05, 2024-01-05T00:00:00Z or 2024-01-05T00:00:00.000Z {
//			result = js_Date_parse(ctx, this, argc, &text)
//		}
//		if there is no result, or it is NaN { result = hostCall(ctx, text, Dated, null) }
//
// Its set_date_field, behind setHours and the like, returns NaN for a number that is not finite and leaves the date as
// it was. Another added function makes the date invalid then:
//
//	setField(ctx, this, argc, argv, field):
//		before = js_date_getTime(ctx, this, 0, argv)
//		result = set_date_field(ctx, this, argc, argv, field)
//		if result is NaN, and before is not or the field is the year { js_date_setTime(ctx, this, 1, &NaN) }

// Dated is set in the argument count of a host call that date makes. It returns the milliseconds of the date as a
// number.
const Dated = 1 << 28

// dateFacts are js_Date_parse(ctx, this, argc, argv) value, JS_ToString(ctx, value) value and, with the type of the
// first, js_date_getTime and js_date_setTime; and set_date_field(ctx, this, argc, argv, field) value.
type dateFacts struct{ function, text, getTime, setTime, setField uint64 }

const (
	typeField = "iliii"
	// In the number of a field, these bits are that of its first part. That of the year is zero.
	firstPart = 15 << 8
)

// What a text in the format of the standard looks like in a JSString, in whose length the highest bit is set if a
// character takes two bytes.
const (
	stringKind = 8
	kindBits   = 3 << 28 // none is set if the string has its own characters
	stringData = 20

	fourDigits = 0x30303030
	highHalves = -0x0f0f0f10 // 0xf0f0f0f0
	twoZeros   = 0x3030

	day         = "2024-01-05"
	second      = "2024-01-05T00:00:00Z"
	millisecond = "2024-01-05T00:00:00.000Z"

	// notANumber is the JSValue of NaN.
	notANumber = -10 << 32
)

func (f *finder) dates() dateFacts {
	x := dateFacts{setField: unknown}
	x.function, _ = f.named("js_Date_parse", typeFunction, "l")
	x.text, _ = f.named("JS_ToString", "il", "l")
	if x.function == unknown || x.text == unknown {
		x.function = unknown
	}
	x.getTime, _ = f.named("js_date_getTime", typeFunction, "l")
	x.setTime, _ = f.named("js_date_setTime", typeFunction, "l")
	if x.getTime != unknown && x.setTime != unknown {
		x.setField, _ = f.named("set_date_field", typeField, "l")
	}
	return x
}

// fieldBody returns the code that stands before set_date_field. An argument gives its place to NaN for the time of the
// call of js_date_setTime.
func (d dateFacts) fieldBody(w *rewriter) []byte {
	const ctx, this, argc, argv, field, before, result, given = 0, 1, 2, 3, 4, 5, 6, 7
	a := w.assemble().declare(3, wasm.TypeI64)
	a.get(ctx).get(this).i32(0).get(argv).original(d.getTime).set(before)
	a.hasTag(before, tagException)
	a.ifThen().get(before).op(wasm.Return, wasm.End)
	a.get(ctx).get(this).get(argc).get(argv).get(field).call(w.added(addedField)).set(result)
	a.get(result).i64(notANumber).op(wasm.I64Eq)
	a.get(argc).i32(0).op(wasm.I32Ne, wasm.I32And)
	a.get(before).i64(notANumber).op(wasm.I64Eq, wasm.I32Eqz)
	a.get(field).i32(firstPart).op(wasm.I32And, wasm.I32Eqz, wasm.I32Or, wasm.I32And)
	a.ifThen()
	a.get(argv).load64(0).set(given)
	a.get(argv).i64(notANumber).store64(0)
	a.get(ctx).get(this).i32(1).get(argv).original(d.setTime).set(result)
	a.get(argv).get(given).store64(0)
	a.op(wasm.End)
	return a.get(result).end()
}

// body returns the code that stands before js_Date_parse.
func (d dateFacts) body(w *rewriter) []byte {
	const ctx, this, argc, argv, given, text, result, at = 0, 1, 2, 3, 4, 5, 6, 7
	a := w.assemble()
	a.locals = []byte{2, 3, wasm.TypeI64, 1, wasm.TypeI32}
	a.get(argv).load64(0).set(given)
	a.get(ctx).get(given).original(d.text).set(text)
	a.hasTag(text, tagException)
	a.ifThen().get(text).op(wasm.Return, wasm.End)
	a.get(text).op(wasm.I32WrapI64).set(at)

	and := func(offset int64, c byte) {
		a.get(at).load8(stringData+offset).i32(int64(c)).op(wasm.I32Eq, wasm.I32And)
	}
	length := func(n int) { a.get(at).load(stringLength).i32(int64(n)).op(wasm.I32Eq) }
	a.i64(notANumber).set(result)
	a.get(at).load(stringLength).i32(int64(len(day)) - 1).op(wasm.I32GtS)
	a.get(at).load(stringKind).i32(kindBits).op(wasm.I32And, wasm.I32Eqz, wasm.I32And)
	a.ifResult(wasm.TypeI32)
	a.get(at).load(stringData).i32(highHalves).op(wasm.I32And).i32(fourDigits).op(wasm.I32Eq)
	and(4, '-')
	a.get(at).load16(stringData+5).i32(twoZeros).op(wasm.I32Ne, wasm.I32And)
	and(7, '-')
	a.get(at).load16(stringData+8).i32(twoZeros).op(wasm.I32Ne, wasm.I32And)
	length(len(day))
	length(len(second))
	and(int64(len(second))-1, 'Z')
	length(len(millisecond))
	and(19, '.')
	and(int64(len(millisecond))-1, 'Z')
	a.op(wasm.I32Or)
	and(10, 'T')
	and(16, ':')
	a.op(wasm.I32Or, wasm.I32And)
	a.op(wasm.Else).i32(0).op(wasm.End)
	a.ifThen()
	a.get(argv).get(text).store64(0)
	a.get(ctx).get(this).get(argc).get(argv).call(w.added(addedDate)).set(result)
	a.get(argv).get(given).store64(0)
	a.op(wasm.End)
	a.get(result).i64(notANumber).op(wasm.I64Eq).ifThen()
	a.get(ctx).get(text).i32(Dated).i32(0).call(w.hostCall()).set(result)
	a.op(wasm.End)
	a.get(ctx).get(text).original(w.api.release)
	return a.get(result).end()
}

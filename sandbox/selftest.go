package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// selfTest proves on this machine what everything else rests on: guests are stopped wherever they loop, run out of stack
// in an orderly way, and share neither state nor randomness.
func (e *Engine) selfTest(ctx context.Context) error {
	short := Grants{Limits: Limits{Wall: time.Millisecond}}
	for _, code := range []string{"for(;;){}", "Array.prototype.indexOf.call({length: 2**40}, 1)"} {
		r, err := e.Run(ctx, Script{Code: code}, short)
		if err != nil {
			return err
		}
		if r.Limit != LimitWall {
			return fmt.Errorf("endless code %q was not stopped by its deadline: %s %+v", code, r.Error, r.Exception)
		}
	}
	for _, check := range []struct{ code, want string }{
		{"(() => { const f = () => f(); try { f() } catch (e) { return e instanceof RangeError } })()", "true"},
		{"globalThis.x = (globalThis.x ?? 0) + 1", "1"},
		{"globalThis.x = (globalThis.x ?? 0) + 1", "1"},
		{"try { eval('1'); return 'allowed' } catch { return 'refused' }", `"refused"`},
	} {
		r, err := e.Run(ctx, Script{Code: check.code}, Grants{stackBytes: 64 << 10}) // a deeper stack proves no more
		if err != nil {
			return err
		}
		if got := string(r.Value); got != check.want {
			return fmt.Errorf("%q gave %s (%s), want %s", check.code, got, r.Error, check.want)
		}
	}
	a, err := e.Run(ctx, Script{Code: "Math.random()"}, Grants{})
	if err != nil {
		return err
	}
	b, err := e.Run(ctx, Script{Code: "Math.random()"}, Grants{})
	if err != nil {
		return err
	}
	if string(a.Value) == string(b.Value) {
		return errors.New("two guests drew the same random number")
	}
	return nil
}

// sampleCode does a little of what most scripts do; the pages it touches are kept at hand for all (Image.Sample).
const sampleCode = `const words = 'the quick brown fox'.split(' ').map((w, i) => ({ w, i })).filter((o) => o.i % 2);
const f = (n) => (n < 2 ? n : f(n - 1) + f(n - 2));
console.log('sum', words.length + f(8), { a: [1, 'b'] });
const text = JSON.stringify(words), back = JSON.parse(text);
class A { constructor() { this.m = new Map([[1, 2]]); } get size() { return this.m.size; } }
try { null.x } catch (e) { back.push(e.message.replace(/o/g, '0')); }
await Promise.resolve(new A().size);
return { back, date: new Date(0), n: Math.max(...[1, 2, 3]), sorted: Object.keys({ b: 1, a: 2 }).sort() };`

func (e *Engine) sample(ctx context.Context) error {
	for range 2 {
		r, err := e.Run(ctx, Script{Code: sampleCode}, Grants{})
		if err != nil {
			return err
		}
		if !r.Completed() {
			return errors.New(r.Error)
		}
	}
	return nil
}

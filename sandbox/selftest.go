package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// selfTest proves on this machine what everything else relies on: guests are stopped wherever they loop, exhaust
// their stack in an orderly way, and share neither state nor randomness.
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
		{"globalThis.x = (globalThis.x ?? 0) + 1", "1"}, // the third time it is not compiled
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
	drawn := map[string]bool{}
	for range 3 {
		r, err := e.Run(ctx, Script{Code: "Math.random()"}, Grants{})
		if err != nil {
			return err
		}
		if drawn[string(r.Value)] {
			return errors.New("two guests drew the same random number")
		}
		drawn[string(r.Value)] = true
	}
	return nil
}

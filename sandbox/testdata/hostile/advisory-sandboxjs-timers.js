// Work that timers start counts like any other, and text is never a timer's work.
// GHSA-7p5m-xrh7-769r (SandboxJS): the quota of another sandbox is used while a timer runs.
// expect: limit wall
try { setTimeout('for (;;);', 0); } catch { /* refused */ }
const go = () => { setTimeout(go, 0); setImmediate?.(go); queueMicrotask(() => { let x = 0; for (let i = 0; i < 1e4; i++) x += i; }); };
go();
go();

// JSON of deeply nested objects, quadratic inside the engine.
// expect: limit any
let o = {};
for (let n = 0; n < 1e5; n++) o = { o };
JSON.stringify(o)

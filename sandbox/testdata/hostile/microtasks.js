// Promises that always leave another one behind.
// expect: limit wall
const again = () => Promise.resolve().then(again);
await again(), await new Promise(() => {})

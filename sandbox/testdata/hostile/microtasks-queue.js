// queueMicrotask that queues itself.
// expect: limit wall
const again = () => queueMicrotask(again);
again();
await new Promise(() => {});

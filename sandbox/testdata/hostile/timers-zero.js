// A timer that sets itself again at once.
// expect: limit wall
const again = () => setTimeout(again, 0);
again();
await new Promise(() => {});

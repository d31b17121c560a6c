// Streams with back pressure and the three windows of stream processing: tumbling, sliding and session.
// tier: standard

const tumbling = (events, size) => Object.values(Object.groupBy(events, ({ at }) => Math.floor(at / size))).map(sum);
const sliding = (events, size, step) => {
  const out = [];
  for (let from = 0; from <= events.at(-1).at; from += step) out.push(sum(events.filter(({ at }) => at >= from && at < from + size)));
  return out;
};
const sessions = (events, gap) => {
  const out = [];
  for (const e of events) {
    if (out.length && e.at - out.at(-1).at(-1).at <= gap) out.at(-1).push(e);
    else out.push([e]);
  }
  return out.map(sum);
};
const sum = (events) => events.reduce((total, { value }) => total + value, 0);

const collected = [];
let most = 0;
let ahead = 0;
const source = new ReadableStream({
  start() { this.left = [...input]; },
  pull(controller) {
    most = Math.max(most, ++ahead);
    if (this.left.length) controller.enqueue(this.left.shift());
    else controller.close();
  },
}, { highWaterMark: 2 });

const reader = source.getReader();
for (let part = await reader.read(); !part.done; part = await reader.read()) {
  ahead--;
  collected.push(part.value);
  await new Promise((done) => setTimeout(done, 1));
}
console.log(`${collected.length} events, never more than ${most} ahead of the reader`);
export default { tumbling: tumbling(collected, 10), sliding: sliding(collected, 10, 5), sessions: sessions(collected, 4) };

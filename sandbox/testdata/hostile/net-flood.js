// More requests than are granted, none of which goes anywhere.
// grant: agent
// expect: limit apiCalls
const all = [];
for (let i = 0; i < 10000; i++) all.push(fetch('http://127.0.0.1/').catch(() => {}));
await Promise.all(all);

// A form of more parts than memory holds.
// expect: limit any
const form = new FormData();
for (let i = 0; ; i++) form.append(`name${i}`, new Blob(['x'.repeat(1000)]), `file${i}`);

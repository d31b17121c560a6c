// A stream without end through every transformation there is.
// expect: limit any
const endless = new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(65536)); } });
const piped = endless.pipeThrough(new CompressionStream('gzip')).pipeThrough(new DecompressionStream('gzip'))
  .pipeThrough(new TextDecoderStream()).pipeThrough(new TextEncoderStream());
const [a, b] = piped.tee();
void b;
for await (const chunk of a) void chunk;
